"""What reasons say was computed without brokers: how far unsubscriptions go in Fig. 13 and 16.

300 roots have 30 children each, squares of 68 % of what the root wants, and twenty publications in
the window before they go. An unsubscription goes so many hops that nine tenths of a window's
publications meet another one who wants them by then; the furthest of several windows counts.
"""

import math
import random
from collections.abc import Iterator, Sequence

import pytest

ROOTS, CHILDREN, PUBLICATIONS = 300, 30, 20
ROUNDS = 5
SIDE = math.sqrt(0.68)
INNER = ((3, 2), (3, 2), (3, 2), (3, 2), (3, 3, 3))  # subscribers' edges, by core and inner broker
EDGES = [
    (core, inner, edge)
    for core, inners in enumerate(INNER)
    for inner, edges in enumerate(inners)
    for edge in range(edges)
]
Place = tuple[int, int, int]


def distance(root: Place, meet: Sequence[Place]) -> int:
    """Hops from the root's broker towards E to the first broker with another one who wants it."""
    if root in meet:
        return 0
    if any(place[:2] == root[:2] for place in meet):
        return 1
    below = min((max(place[0], root[0]) for place in meet), default=len(INNER))
    return 2 + below - root[0]


def reaching_last_core(windows: int, *, clustered: bool) -> float:
    """How many of 300 unsubscriptions E receives."""
    rng = random.Random(4)
    return sum(_reaches(rng, windows, clustered) for _ in range(ROOTS * ROUNDS)) / ROUNDS


def _reaches(rng: random.Random, windows: int, clustered: bool) -> bool:
    root = rng.choice(EDGES)
    region = [edge for edge in EDGES if edge[:2] == root[:2]] if clustered else EDGES
    children = [(rng.choice(region), *_corner(rng)) for _ in range(CHILDREN)]
    distances = list(_distances(rng, root, children))
    parts = [sorted(distances[number::windows]) for number in range(windows)]
    furthest = max(part[math.ceil(0.9 * len(part)) - 1] for part in parts)
    return furthest >= 2 + len(INNER) - 1 - root[0]


def _corner(rng: random.Random) -> tuple[float, float]:
    return rng.uniform(0, 1 - SIDE), rng.uniform(0, 1 - SIDE)


def _distances(
    rng: random.Random, root: Place, children: Sequence[tuple[Place, float, float]]
) -> Iterator[int]:
    for _ in range(PUBLICATIONS):
        x, y = rng.random(), rng.random()
        meet = [
            place
            for place, left, low in children
            if left <= x < left + SIDE and low <= y < low + SIDE
        ]
        yield distance(root, meet)


@pytest.mark.parametrize(("windows", "told"), [(3, 205), (1, 76)])
def test_scattered_children_let_unsubscriptions_go_far(windows: int, told: int) -> None:
    assert reaching_last_core(windows, clustered=False) == pytest.approx(told, abs=20)


@pytest.mark.parametrize(("windows", "told"), [(3, 139), (1, 9)])
def test_clustered_children_do_so_only_if_windows_are_short(windows: int, told: int) -> None:
    assert reaching_last_core(windows, clustered=True) == pytest.approx(told, abs=12)
