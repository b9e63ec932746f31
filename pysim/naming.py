"""What to say when a name is unknown; it must not know what the names are of."""

import difflib
from collections.abc import Iterable


def suggestion(name: str, choices: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the nearest choice, or else all of them."""
    names = sorted(choices)
    nearest = difflib.get_close_matches(name, names, n=1)
    if nearest:
        return f"; did you mean {nearest[0]!r}?"
    return f"; choose from {', '.join(names)}" if names else "; it has none"
