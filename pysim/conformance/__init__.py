"""The conformance kit: does a broker keep what its class promises?

`check` is for tests, `examine` for who wants to know more; `pysim conformance` is the command. What
a class promises is its attribute `promises` (`pysim.brokers.Promises`).
"""

from pysim.conformance.kit import (
    CASES,
    CHECKS,
    ConformanceError,
    Finding,
    Report,
    check,
    examine,
    told,
)

__all__ = [
    "CASES",
    "CHECKS",
    "ConformanceError",
    "Finding",
    "Report",
    "check",
    "examine",
    "told",
]
