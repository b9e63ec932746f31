"""The workload of the paper on destination-based routing (merc.txt, Sec. V): quotes and who wants
them.

It says where and when; `stock_model` says what.
"""

import heapq
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from random import Random
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta

from pysim.filters import And, Filter, Operator, Predicate, Value
from pysim.network.streams import Streams
from pysim.units import Duration, Frequency, Share, Size
from pysim.workloads.base import (
    Estimate,
    Setting,
    Volume,
    Workload,
    WorkloadError,
    event_size,
    kind,
    subscription_size,
)
from pysim.workloads.operations import Operation
from pysim.workloads.periodic import publishing_end
from pysim.workloads.quotes import MAX_SYMBOLS
from pysim.workloads.schedule import nanoseconds, require_time
from pysim.workloads.stock_model import UNNAMED_SHARE, DrawnQuotes, RecordedQuotes, StockModel
from pysim.workloads.tables import InputFile, TableError

_SYMBOLS = 100
_MOST_TRIES = 1000
_WIDEST = 2**62  # no number of a quote takes more bytes


class Wish(NamedTuple):
    """A subscription of a client at a broker."""

    broker: int
    client: int
    filter: Filter


@kind("stock")
class Stock(Workload, frozen=True, kw_only=True, dict=True):
    """Stock quotes, wanted by subscriptions of the PADRES project's mix with Zipf popularity.

    Publishers advertise at equal distances over `advertise_ramp`, subscriptions come in random
    order over `ramp`, and each publisher publishes at a constant rate and a random phase.
    """

    quotes: Annotated[
        InputFile | None,
        Meta(
            description="table of quotes: columns symbol, date, open, high, low, close, volume;"
            " drawn from fitted distributions if not given"
        ),
    ] = None
    symbols: Annotated[
        Annotated[int, Meta(ge=1, le=MAX_SYMBOLS)] | None,
        Meta(description="symbols that are quoted; 100, or all of the table, if not given"),
    ] = None
    skew: Annotated[
        float, Meta(ge=0, le=3, description="exponent of the symbols' popularity in subscriptions")
    ] = 1.0
    subscriptions: Annotated[
        int, Meta(ge=0, le=1_000_000, description="subscriptions at each broker with subscribers")
    ] = 30
    clients: Annotated[
        int, Meta(ge=1, le=1_000_000, description="clients that share a broker's subscriptions")
    ] = 1
    unnamed: Annotated[
        Share | None,
        Meta(
            description="share of subscriptions that name no symbol; 21 % as PADRES has it, or none"
            " with `matching` or `destinations`, if not given"
        ),
    ] = None
    subscribers: Annotated[
        Literal["all", "last"], Meta(description="brokers with subscribers: all, or the last one")
    ] = "all"
    publishers: Annotated[
        Literal["all", "first"], Meta(description="brokers that publish: all, or the first one")
    ] = "all"
    advertisements: Annotated[
        int, Meta(ge=1, le=1000, description="advertisements that share a publisher's symbols")
    ] = 1
    matching: Annotated[
        Share | None,
        Meta(description="share of publishers that advertise each symbol; all if not given"),
    ] = None
    destinations: Annotated[
        Share | None,
        Meta(
            description="share of brokers that want each symbol: one subscription for each of a"
            " broker's symbols, and others to the same symbols up to `subscriptions`"
        ),
    ] = None
    uneven: Annotated[
        int,
        Meta(
            ge=1,
            le=1_000_000,
            description="each publisher's rate of each symbol is drawn from 1 to this, relatively;"
            " if above 1, none publishes what its own broker wants",
        ),
    ] = 1
    payload: Annotated[Size, Meta(description="bytes of an event beside its quote")] = Size(0)
    advertise: Annotated[Duration, Meta(description="when the first advertisement is made")] = (
        Duration(0.5)
    )
    advertise_ramp: Annotated[
        Duration, Meta(description="time over which advertisements spread")
    ] = Duration(0.0)
    start: Annotated[Duration, Meta(description="when the first subscription is made")] = Duration(
        1.0
    )
    ramp: Annotated[Duration, Meta(description="time over which subscriptions spread")] = Duration(
        1.0
    )
    publish_start: Annotated[Duration, Meta(description="when publishing begins")] = Duration(3.0)
    rate: Annotated[Frequency, Meta(description="events of all publishers together")] = Frequency(
        50.0
    )
    publish_stop: Annotated[
        Duration | None,
        Meta(description="when publishing ends; 1 s before the run's end if not given"),
    ] = None

    def check(self, setting: Setting) -> None:
        self._check_shares()
        try:
            model = self.model(setting.streams)
        except TableError as error:
            raise WorkloadError("quotes", str(error)) from None
        self._check_times(setting)
        self._wishes(setting, model)

    def earliest(self) -> float:
        return min(self.advertise, self.start, self.publish_start)

    def operations(self, setting: Setting) -> Iterable[Operation]:
        model = self.model(setting.streams)
        return heapq.merge(
            self._advertisements(setting, model),
            self._subscriptions(setting, model),
            self._publications(setting, model),
            key=attrgetter("time"),
        )

    def estimate(self, setting: Setting) -> Estimate:
        model = self.model(setting.streams)
        publishers, subscribers = self._publishers(setting), self._subscribers(setting)
        window = max(0.0, publishing_end(self.publish_stop, setting) - self.publish_start)
        published = math.ceil(window * self.rate) + 2 * len(publishers) if self.rate else 0
        event = event_size(_largest_event(model), bytes(int(self.payload)))
        subscription = subscription_size(_largest_subscription(model))
        advertisement = subscription_size(model.offer(range(max(1, model.symbols - 1))))
        advertised = len(publishers) * self.advertisements
        wanted = len(subscribers) * max(self.subscriptions, model.symbols)
        size = wanted * subscription + advertised * advertisement
        return Estimate(
            Volume(published, published * event),
            Volume(wanted + advertised, size),
            Volume(wanted + advertised, size),
            max(event, subscription, advertisement),
        )

    def facts(self, setting: Setting) -> Mapping[str, float]:
        model = self.model(setting.streams)
        sizes = [
            event_size(model.event(symbol, 0), bytes(int(self.payload)))
            for symbol in range(model.symbols)
        ]
        offered, wanted = self._offered(setting, model), self._wanted(setting, model)
        found = {"event_bytes": sum(sizes) / len(sizes)}
        for name, parts, whole in (
            ("matching", offered, len(self._publishers(setting))),
            ("destinations", wanted, setting.brokers),
        ):
            if getattr(self, name) is not None:
                found[name] = sum(map(len, parts)) / len(parts) / whole
        return found

    def model(self, streams: Streams) -> StockModel:
        """Events and subscriptions, by number."""
        if self._recorded is not None:
            return StockModel(streams, self._recorded, self.skew)
        return StockModel(streams, DrawnQuotes(streams, self.symbols or _SYMBOLS), self.skew)

    @cached_property
    def _recorded(self) -> RecordedQuotes | None:
        return None if self.quotes is None else RecordedQuotes(Path(self.quotes), self.symbols)

    # What cannot be

    def _check_shares(self) -> None:
        for name in ("matching", "destinations"):
            if getattr(self, name) is not None and self.unnamed:
                problem = f"with `{name}` every subscription names a symbol"
                raise WorkloadError("unnamed", problem)
        if self.destinations is not None and self.subscribers != "all":
            raise WorkloadError("destinations", "needs subscribers at all brokers")
        if self.uneven > 1 and self.publishers != "all":
            raise WorkloadError("uneven", "needs publishers at all brokers")

    def _check_times(self, setting: Setting) -> None:
        require_time("advertise_ramp", self.advertise + self.advertise_ramp, setting)
        require_time("ramp", self.start + self.ramp, setting)
        stop = publishing_end(self.publish_stop, setting)
        require_time("publish_stop", stop, setting)
        if self.rate and stop < self.publish_start:
            problem = f"publishing ends at {Duration(stop)}, before it begins"
            raise WorkloadError("publish_start", problem)
        if self.rate and self.advertise + self.advertise_ramp > self.publish_start:
            problem = f"publishing begins before all is advertised, at {self.publish_start}"
            raise WorkloadError("advertise_ramp", problem)

    # Where

    def _publishers(self, setting: Setting) -> range:
        return range(setting.brokers if self.publishers == "all" else 1)

    def _subscribers(self, setting: Setting) -> range:
        return range(0 if self.subscribers == "all" else setting.brokers - 1, setting.brokers)

    def _offered(self, setting: Setting, model: StockModel) -> list[list[int]]:
        """The publishers of each symbol."""
        stream = setting.streams.stream("workload", "stock", "publishers")
        return _dealt(stream, self._publishers(setting), self.matching, model.symbols)

    def _wanted(self, setting: Setting, model: StockModel) -> list[list[int]]:
        """The brokers that want each symbol, if it is settled how many."""
        stream = setting.streams.stream("workload", "stock", "destinations")
        return _dealt(stream, self._subscribers(setting), self.destinations, model.symbols)

    # What clients do

    def _advertisements(self, setting: Setting, model: StockModel) -> Iterator[Operation]:
        offered = _turned(self._offered(setting, model))
        gap = self.advertise_ramp / max(1, len(offered))
        for turn, broker in enumerate(sorted(offered)):
            time = nanoseconds(self.advertise + turn * gap)
            for part in _parts(offered[broker], self.advertisements):
                yield Operation(time, broker, "advertise", self.clients, model.offer(part))

    def _subscriptions(self, setting: Setting, model: StockModel) -> Iterator[Operation]:
        wishes = self._wishes(setting, model)
        setting.streams.stream("workload", "stock", "order").shuffle(wishes)
        for turn, wish in enumerate(wishes):
            time = nanoseconds(self.start + self.ramp * turn / len(wishes))
            yield Operation(time, wish.broker, "subscribe", wish.client, wish.filter)

    def _wishes(self, setting: Setting, model: StockModel) -> list[Wish]:
        """All subscriptions; no client has one twice."""
        settled = self.destinations is not None
        symbols = _turned(self._wanted(setting, model)) if settled else {}
        every = range(model.symbols)
        found: list[Wish] = []
        for broker in self._subscribers(setting):
            stream = setting.streams.stream("workload", "stock", "subscriptions", broker)
            choice: Sequence[int] = symbols.get(broker, ()) if settled else every
            plain = [model.plain(symbol) for symbol in choice] if settled else []
            found += self._wishes_at(broker, stream, model, choice, plain)
        return found

    def _wishes_at(
        self,
        broker: int,
        stream: Random,
        model: StockModel,
        choice: Sequence[int],
        plain: Sequence[Filter],
    ) -> Iterator[Wish]:
        held: set[tuple[int, Filter]] = set()
        count = max(len(plain), self.subscriptions if choice else 0)
        for number in range(count):
            client = number % self.clients
            for _ in range(_MOST_TRIES):
                if number < len(plain):
                    filter = plain[number]
                else:
                    filter = model.drawn(stream, choice, self._unnamed())
                if (client, filter) not in held:
                    break
            else:
                problem = f"there are not so many different ones of {len(choice):,} symbols"
                raise WorkloadError("subscriptions", problem)
            held.add((client, filter))
            yield Wish(broker, client, filter)

    def _unnamed(self) -> float:
        if self.unnamed is not None:
            return self.unnamed
        settled = self.matching is not None or self.destinations is not None
        return 0.0 if settled else UNNAMED_SHARE

    def _publications(self, setting: Setting, model: StockModel) -> Iterator[Operation]:
        """Quotes of each symbol follow one another, whoever publishes them."""
        weights = self._weights(setting, model)
        payload = bytes(int(self.payload))
        counts: Counter[int] = Counter()
        streams = {
            broker: setting.streams.stream("workload", "stock", "symbols", broker)
            for broker in weights
        }
        chances = {  # summed up once: a run may draw from them a million times
            broker: (list(offered), list(itertools.accumulate(offered.values())))
            for broker, offered in weights.items()
        }
        for time, broker in self._times(setting, weights):
            symbols, sums = chances[broker]
            (symbol,) = streams[broker].choices(symbols, cum_weights=sums)
            attributes = model.event(symbol, counts[symbol])
            counts[symbol] += 1
            yield Operation(
                time, broker, "publish", self.clients, attributes=attributes, payload=payload
            )

    def _weights(self, setting: Setting, model: StockModel) -> dict[int, dict[int, int]]:
        """How often each publisher publishes each of its symbols, relatively; none is zero."""
        offered = _turned(self._offered(setting, model))
        if self.uneven == 1:
            return {broker: dict.fromkeys(offered[broker], 1) for broker in sorted(offered)}
        stream = setting.streams.stream("workload", "stock", "rates")
        settled = self.destinations is not None
        own = _turned(self._wanted(setting, model)) if settled else {}
        drawn = {
            broker: {symbol: stream.randint(1, self.uneven) for symbol in offered[broker]}
            for broker in sorted(offered)
        }
        found = {
            broker: {
                symbol: weight
                for symbol, weight in weights.items()
                if symbol not in own.get(broker, ())
            }
            for broker, weights in drawn.items()
        }
        return {broker: weights for broker, weights in found.items() if weights}

    def _times(
        self, setting: Setting, weights: Mapping[int, Mapping[int, int]]
    ) -> Iterator[tuple[int, int]]:
        """When (ns) which broker publishes."""
        if not self.rate or not weights:
            return iter(())
        whole = sum(sum(each.values()) for each in weights.values())
        if self.uneven == 1:  # publishers publish equally often, however many symbols they have
            shares = {broker: 1 / len(weights) for broker in weights}
        else:
            shares = {broker: sum(each.values()) / whole for broker, each in weights.items()}
        phase = setting.streams.stream("workload", "stock", "phases")
        phases = {broker: phase.random() for broker in range(setting.brokers)}
        end = publishing_end(self.publish_stop, setting)
        return heapq.merge(
            *(
                self._own_times(broker, phases[broker], share * self.rate, end)
                for broker, share in shares.items()
            )
        )

    def _own_times(
        self, broker: int, phase: float, rate: float, end: float
    ) -> Iterator[tuple[int, int]]:
        for number in itertools.count():
            time = self.publish_start + (number + phase) / rate
            if time >= end:
                return
            yield nanoseconds(time), broker


def _dealt(
    stream: Random, brokers: Sequence[int], share: float | None, symbols: int
) -> list[list[int]]:
    """For each symbol a share of the brokers, at least one, dealt so that all get as many symbols.

    Brokers are taken from a shuffled deck, which is shuffled anew when it is empty.
    """
    if share is None:
        return [list(brokers)] * symbols
    count = max(1, round(share * len(brokers)))
    deck: list[int] = []
    hands = []
    for _ in range(symbols):
        hand: set[int] = set()
        passed: list[int] = []
        while len(hand) < count:
            if not deck:
                deck = stream.sample(brokers, len(brokers))
            broker = deck.pop()
            if broker in hand:
                passed.append(broker)
            else:
                hand.add(broker)
        deck += reversed(passed)
        hands.append(sorted(hand))
    return hands


def _turned(brokers: Sequence[Sequence[int]]) -> dict[int, list[int]]:
    """The symbols of each broker, ascending, from the brokers of each symbol."""
    found: dict[int, list[int]] = {}
    for symbol, members in enumerate(brokers):
        for broker in members:
            found.setdefault(broker, []).append(symbol)
    return found


def _parts(symbols: Sequence[int], count: int) -> list[Sequence[int]]:
    """The symbols in so many parts of nearly equal size, or in as many as there are symbols."""
    count = min(count, len(symbols))
    borders = [len(symbols) * place // count for place in range(count + 1)]
    return [symbols[low:high] for low, high in itertools.pairwise(borders)]


def _largest_event(model: StockModel) -> dict[str, Value]:
    """An event of which no part takes more bytes in any other."""
    event = model.event(0, 0)
    texts = {"symbol": _longest_name(model), "date": model.longest_date()}
    return {**dict.fromkeys(event, _WIDEST), "class": event["class"], **texts}


def _largest_subscription(model: StockModel) -> Filter:
    parts = (("class", model.event(0, 0)["class"]), ("symbol", _longest_name(model)))
    named = [Predicate(attribute, Operator.EQ, value) for attribute, value in parts]
    return And((*named, Predicate("volume", Operator.GT, _WIDEST)))


def _longest_name(model: StockModel) -> str:
    return max(map(model.name, range(model.symbols)), key=len)
