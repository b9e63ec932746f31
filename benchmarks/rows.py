"""The lines of the benchmark table; what is measured is not known here."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of the table; `holds` is None where nothing was promised."""

    name: str
    value: float
    unit: str
    bar: str = ""
    holds: bool | None = None


def at_most(name: str, value: float, unit: str, limit: float) -> Row:
    return Row(name, value, unit, f"at most {limit:g} {unit}", value <= limit)


def at_least(name: str, value: float, unit: str, limit: float) -> Row:
    return Row(name, value, unit, f"at least {limit:g} {unit}", value >= limit)
