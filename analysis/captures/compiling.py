"""Compiles the loops that look at every packet; knows nothing of captures."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit, types

_Function = TypeVar("_Function", bound=Callable[..., Any])

BYTES = types.Array(types.uint8, 1, "C", readonly=True)
"""Type of a memory-mapped file in a signature."""


def compiled(signature: object) -> Callable[[_Function], _Function]:
    """Compile a function for this signature now, or load it from the cache of an earlier run.

    The cache lies beside the source, else in the user's cache directory; where neither can be
    written (a read-only installation, a full disk), the function is compiled for this process.
    The cache is renewed when that source changes, and only then: a compiled function calls others
    of its own module only, and what may ever change elsewhere it gets as an argument.
    """

    def decorate(function: _Function) -> _Function:
        try:
            return cast(_Function, njit(signature, cache=True)(function))
        except (RuntimeError, OSError):
            return cast(_Function, njit(signature)(function))

    return decorate


def inlined(function: _Function) -> _Function:
    """Make a function part of the compiled ones that call it; nothing is cached of it alone."""
    return cast(_Function, njit(function, forceinline=True))
