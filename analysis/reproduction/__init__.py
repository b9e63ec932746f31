"""The papers' figures again: what was published, what our runs give, and whether both agree."""

from analysis.reproduction import (
    covering,
    destinations,
    popsub,
    pruning,
    reconfiguration_beyond,
)
from analysis.reproduction.figure import Family

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        reconfiguration_beyond.FAMILY,
        pruning.FAMILY,
        covering.FAMILY,
        destinations.FAMILY,
        popsub.FAMILY,
    )
}
"""All families of protocols whose figures can be reproduced, by name."""
