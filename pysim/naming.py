"""What to say when a name is unknown; it must not know what the names are of."""

import difflib
from collections.abc import Iterable


def nearest(given: object, known: Iterable[str]) -> str:
    """Ends an error: the name that was probably meant, or all that there are."""
    known = list(known)
    if not known:
        return "it has none"
    similar = difflib.get_close_matches(str(given), known, n=1)
    return f'did you mean "{similar[0]}"?' if similar else f"known are {listed(known)}"


def listed(names: Iterable[str]) -> str:
    """Names in quotes, separated by commas."""
    return ", ".join(f'"{name}"' for name in names)
