"""The three classes of subscriptions to book auctions, as trees: the shapes without the draws.

Bittner and Hinze (Sec. 5.2) tell the numbers of predicates and operators of each class and how many
of these are disjunctions. A limit of money or time is shared by many subscriptions, so what
consists of limits alone is made once.
"""

from functools import lru_cache

from pysim.filters import And, Filter, Operator, Or, Predicate

_KEPT = 1 << 14  # most limits are among so many

_NEW = Predicate("condition", Operator.EQ, "new")
_USED = Predicate("condition", Operator.EQ, "used")
_BUY_NOW = Predicate("buynow", Operator.EQ, 1)
_NO_BUY_NOW = Predicate("buynow", Operator.EQ, 0)
_NOT_SPECIAL = Predicate("special", Operator.EQ, "none")
_FINE = Or(
    (Predicate("format", Operator.EQ, "hardback"), Predicate("special", Operator.NE, "none"))
)


def bargain(title: str, ending: int, new: int, used: int) -> Filter:
    """Class 1: a title that is soon to be had, for a price that depends on its condition."""
    return And((_titled(title), _ending_below(ending), _cheap(new, used)))


def purchase(
    title: str, category: str, least: int, new: int, used: int, ending: int, bids: int
) -> Filter:
    """Class 2: a title in its category, neither special nor too cheap, with few bids if any."""
    return And(
        (
            _titled(title),
            _category(category),
            _NOT_SPECIAL,
            _price_above(least),
            _cheap(new, used),
            Or((_bought_before(ending), _bids_below(bids))),
        )
    )


def collection(one: str, other: str, ending: int, price: int) -> Filter:
    """Class 3: one of two titles that is a hardback or special, and soon to be had."""
    either = Or((_titled(one), _titled(other)))
    return And((either, _FINE, _soon(ending), _price_below(price)))


def _titled(title: str) -> Filter:
    return Predicate("title", Operator.EQ, title)


def _cheap(new: int, used: int) -> Filter:
    return Or((_new_below(new), _used_below(used)))


@lru_cache(_KEPT)
def _category(name: str) -> Filter:
    return Predicate("category", Operator.EQ, name)


@lru_cache(_KEPT)
def _price_above(cents: int) -> Filter:
    return Predicate("price", Operator.GT, cents)


@lru_cache(_KEPT)
def _price_below(cents: int) -> Filter:
    return Predicate("price", Operator.LT, cents)


@lru_cache(_KEPT)
def _new_below(cents: int) -> Filter:
    return And((_NEW, _price_below(cents)))


@lru_cache(_KEPT)
def _used_below(cents: int) -> Filter:
    return And((_USED, _price_below(cents)))


@lru_cache(_KEPT)
def _ending_below(minutes: int) -> Filter:
    return Predicate("ending", Operator.LT, minutes)


@lru_cache(_KEPT)
def _bought_before(minutes: int) -> Filter:
    return And((_BUY_NOW, _ending_below(minutes)))


@lru_cache(_KEPT)
def _soon(minutes: int) -> Filter:
    return Or((_BUY_NOW, _ending_below(minutes)))


@lru_cache(_KEPT)
def _bids_below(bids: int) -> Filter:
    return And((_NO_BUY_NOW, Predicate("bids", Operator.LT, bids)))
