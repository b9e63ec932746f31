"""A configuration in words says what the file says."""

from analysis.report.asked import Part, Setting, network_in_words, parts

CONFIGURATION = """
duration = "4 s"  # simulated time
[network]
backend = "ns3"
[topology]
kind = "line"  # which topology
brokers = 3    # number of "brokers" # in all
[protocol]
name = "flooding"
[workload]
kind = "script"
steps = [
    { time = "1 s", broker = 0, subscribe = "price = 3 # or so" },
]
[service]
model = "none"
[[faults]]
kind = "link-break"
link = "0-1"  # the `link` by its ends
[[faults]]
kind = "link-break"
link = "1-2"  # the other one
"""
NETWORK = {
    "backend": "ns3", "mode": "links", "rate": "10 Mbit/s", "delay": "2 ms", "queue": 1000,
    "loss": "0 %", "tcp": "linux", "capture": "both",
}  # fmt: skip


def test_every_part_has_its_settings_with_the_meanings_behind_them() -> None:
    assert list(parts(CONFIGURATION)) == [
        Part("Overlay", "line", [Setting("brokers", "3", 'number of "brokers" # in all')]),
        Part("Protocol", "flooding", []),
        Part("Workload", "script", [Setting("steps", "one entry, listed below", "steps")]),
        Part("Fault", "link-break", [Setting("link", "0-1", "the link by its ends")]),
        Part("Fault", "link-break", [Setting("link", "1-2", "the other one")]),
    ]


def test_links_are_wires_with_their_rate_delay_queue_and_loss() -> None:
    assert network_in_words(NETWORK) == (
        "Each overlay link is a wire of its own: 10 Mbit/s, 2 ms from end to end, a queue of "
        "1000 packets and no loss. ns-3 carries the bytes with the TCP profile linux. Both ends of "
        "every link are captured."
    )
    lossy = network_in_words({**NETWORK, "loss": "1 %", "capture": "none"})
    assert "1 % of packets lost" in lossy
    assert "Nothing is captured." in lossy


def test_an_underlay_is_named() -> None:
    under = {
        "underlay": {"kind": "king-like", "hosts": 30},
        "access_rate": "1 Mbit/s",
        "access_delay": "1 ms",
    }
    words = network_in_words({**NETWORK, "mode": "underlay", **under})
    assert "across an IP network (kind king-like, hosts 30)" in words
    assert "a line of 1 Mbit/s and 1 ms" in words


def test_the_network_in_memory_says_what_it_lacks() -> None:
    assert "no packets, no bandwidth and no headers" in network_in_words({"backend": "memory"})
