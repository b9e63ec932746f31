"""What is not markup is escaped, wherever it stands."""

from hypothesis import given
from hypothesis import strategies as st

from analysis.report.markup import Markup, joined, tag


def test_text_is_escaped_and_elements_are_kept() -> None:
    assert tag("p", "a < b & ", tag("b", "c")) == "<p>a &lt; b &amp; <b>c</b></p>"


def test_attributes_are_quoted() -> None:
    assert tag("a", "x", href='"><script>') == "<a href='\"&gt;&lt;script&gt;'>x</a>"
    assert tag("p", class_="note", aria_label="x") == '<p class="note" aria-label="x"></p>'


def test_elements_without_contents_are_not_closed() -> None:
    assert tag("meta", charset="utf-8") == '<meta charset="utf-8">'


@given(st.text(), st.text())
def test_no_text_opens_an_element(one: str, other: str) -> None:
    made = joined([one, tag("i", other)], " ")
    assert isinstance(made, Markup)
    assert made.count("<") == 2
