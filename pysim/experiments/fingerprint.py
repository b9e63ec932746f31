"""A run's fingerprint as one text, and what differs between two of them.

The text is the beginnings of its parts, joined by dashes, in their order: so a comparison of two
texts says which part differs, the contents of messages, their times, or the deliveries.
"""

from collections.abc import Iterator, Mapping

_DIGITS = 16


def combined(parts: Mapping[str, str]) -> str:
    """The fingerprint as one text."""
    return "-".join(part[:_DIGITS] for part in parts.values())


def differences(parts: Mapping[str, str], expected: str) -> Iterator[tuple[str, str, str]]:
    """The parts that differ from an expected text: name, what was expected, what was found.

    ValueError if the text is no fingerprint of as many parts.
    """
    wanted = expected.strip().lower().split("-")
    hexadecimal = all(part and set(part) <= set("0123456789abcdef") for part in wanted)
    if len(wanted) != len(parts) or not hexadecimal:
        raise ValueError(f"expected a fingerprint such as {combined(parts)}, not {expected}")
    for (name, part), want in zip(parts.items(), wanted, strict=True):
        found = part[:_DIGITS]
        if found != want:
            yield name, want, found
