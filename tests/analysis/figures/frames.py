"""Tables of metrics as small or as large as a test of figures needs them."""

import numpy as np
import pandas as pd

SECOND = 1_000_000_000
CATEGORIES = {
    "body": 19, "frame header": 16, "transport header": 32, "ip header": 20, "link header": 2,
    "ack": 27, "handshake": 3, "teardown": 2, "reset": 1, "retransmission": 4, "other": 1,
}  # fmt: skip
TYPES = ("event", "subscribe", "unsubscribe")


def breakdown(scale: int = 1000) -> pd.DataFrame:
    rows = [(name, scale, size * scale) for name, size in CATEGORIES.items()]
    frame = pd.DataFrame(rows, columns=["category", "packets", "bytes"])
    return frame.assign(share=frame.bytes / frame.bytes.sum())


def breakdown_by_type(types: tuple[str, ...] = TYPES, messages: int = 100) -> pd.DataFrame:
    rows = [
        (kind, name, (size + 7 * place) * messages)
        for place, kind in enumerate(types)
        for name, size in list(CATEGORIES.items())[:5]
    ]
    return pd.DataFrame(rows, columns=["type", "category", "bytes"])


def totals(types: tuple[str, ...] = TYPES, messages: int = 100) -> pd.DataFrame:
    rows = [("traffic", kind, messages, 35 * messages) for kind in types]
    return pd.DataFrame(rows, columns=["phase", "type", "messages", "bytes"]).assign(share=0.5)


def traffic(types: tuple[str, ...] = TYPES, bins: int = 40, seed: int = 1) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    rows = [
        (start * SECOND // 10, kind, 5, int(random.integers(0, 10 ** (2 + place % 4))))
        for place, kind in enumerate(types)
        for start in range(bins)
    ]
    return pd.DataFrame(rows, columns=["bin", "type", "messages", "bytes"])


def changes(count: int = 8) -> pd.DataFrame:
    rows = [
        (SECOND + number * SECOND // 4 + later, change)
        for number in range(count)
        for later, change in ((0, "break"), (SECOND // 10, "create"))
    ]
    return pd.DataFrame(rows, columns=["time", "change"])


def delivery(lost: int = 0, bins: int = 30, seed: int = 1) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    missing = random.integers(0, lost + 1, bins)
    frame = pd.DataFrame({"bin": np.arange(bins) * SECOND // 10, "published": 20, "due": 100})
    return frame.assign(made=100 - missing, missing=missing, ratio=1 - missing / 100)


def latency(slowest: float = 0.03, seed: int = 1) -> pd.DataFrame:
    levels = np.arange(101) / 100
    seconds = 0.002 + (slowest - 0.002) * levels ** (2 + seed)
    return pd.DataFrame({"quantile": levels, "seconds": seconds, "deliveries": 500})


def latency_by_hops(hops: int = 12, tail: float = 2.0) -> pd.DataFrame:
    numbers = np.arange(1, hops + 1)
    frame = pd.DataFrame({"hops": numbers, "deliveries": 40, "p50": 0.002 * numbers})
    return frame.assign(p95=frame.p50 * tail, p99=frame.p50 * 2 * tail, mean=frame.p50)


def link_load(links: list[tuple[int, int]], seed: int = 1) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    both = [way for a, b in links for way in ((a, b), (b, a))]
    frame = pd.DataFrame(both, columns=["source", "target"])
    size = (random.pareto(1.5, len(both)) * 10_000).astype("int64")
    share = size / 10e6
    return frame.assign(
        a="b" + frame.source.astype(str), b="b" + frame.target.astype(str), packets=9, bytes=size,
        busy_share=share, peak_share=3 * share,
    )  # fmt: skip


def load(brokers: int = 20, seed: int = 1) -> pd.DataFrame:
    size = np.random.default_rng(seed).integers(1, 10_000, brokers)
    return pd.DataFrame({"broker": range(brokers), "messages": size, "bytes": size * 40})


def fairness() -> pd.DataFrame:
    return pd.DataFrame([{"gini": 0.5123456, "jain_index_bytes": 0.4456789}])


def cost(types: tuple[str, ...] = TYPES) -> pd.DataFrame:
    rows = [
        (kind, 1000 * (3 + place), [1.0, None, 0.1][place % 3], 0.4 + 0.2 * place)
        for place, kind in enumerate(types)
    ]
    frame = pd.DataFrame(rows, columns=["type", "messages", "published_weight", "implied_weight"])
    frame["published_weight"] = frame.published_weight.astype(float)
    return frame.assign(
        published_cost=frame.messages * frame.published_weight,
        implied_cost=frame.messages * frame.implied_weight,
        mean_bytes=35.0,
    )


def reconfigurations(count: int = 8, types: tuple[str, ...] = TYPES, seed: int = 1) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    rows = [
        (number, "1-2", "3-4", SECOND * number, SECOND * number + 9, kind, amount, 26 * amount)
        for number in range(count)
        for kind in types
        for amount in [int(random.integers(0, 2000))]
    ]
    columns = "reconfiguration broken created from_time to_time type messages bytes"
    return pd.DataFrame(rows, columns=columns.split())


def involved(events: int = 300, seed: int = 1) -> pd.DataFrame:
    return pd.DataFrame({"brokers": np.random.default_rng(seed).binomial(30, 0.4, events)})


def destinations(longest: int = 40) -> pd.DataFrame:
    return pd.DataFrame({"length": range(1, longest + 1), "messages": range(longest, 0, -1)})


def sweep(
    rates: tuple[object, ...] = ("64 kbit/s", "1 Mbit/s", "10 Mbit/s"),
    protocols: tuple[str, ...] = ("subscription-forwarding", "event-forwarding"),
    seeds: int = 3,
) -> pd.DataFrame:
    rows = [
        (rate, protocol, 100.0 * (place + 1) + 10 * number + seed)
        for place, rate in enumerate(rates)
        for number, protocol in enumerate(protocols)
        for seed in range(seeds)
    ]
    return pd.DataFrame(rows, columns=["network.rate", "protocol.name", "cost"])
