"""Both posts of the memory network, for tests that say what each of them does."""

import pytest

from pysim.network import post


@pytest.fixture(params=["native", "plain"])
def either_post(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the test run on the native post, if it has been built, and then on the plain one."""
    if request.param == "plain":
        monkeypatch.setattr(post, "NativePost", None)
        monkeypatch.setattr(post, "Books", post.PlainBooks)
    elif post.NativePost is None:
        pytest.skip("only the plain post has been built")
