"""The pictures of the page on concepts, one function each."""

from collections.abc import Callable
from pathlib import Path

from tools.site.drawing import BLUE, GREEN, GRID, MUTED, PURPLE, RED, Drawing

FOLDER = Path("docs/pictures")


def write(folder: Path) -> list[Path]:
    """Draw all of them into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.svg" for name in PICTURES]
    for path, draw in zip(paths, PICTURES.values(), strict=True):
        path.write_text(draw().svg(), encoding="utf-8")
    return paths


def way() -> Drawing:
    """From a file to an answer."""
    to = Drawing(800, 176)
    places = (16, 172, 356, 512, 668)
    to.box(places[0], 56, 116, 62, "experiment", "one TOML file")
    to.box(
        places[1],
        30,
        144,
        114,
        "run",
        "brokers in Python",
        "on ns-3, which",
        "carries the bytes",
        ink=BLUE,
    )
    to.box(places[2], 56, 116, 62, "captures", "pcaps and tables")
    to.box(places[3], 56, 116, 62, "analysis", "Spark", ink=PURPLE)
    to.box(places[4], 56, 116, 62, "answers", "report, figures")
    for left, right in ((132, 172), (316, 356), (472, 512), (628, 668)):
        to.arrow(left, 87, right, 87)
    for x, command in (
        (244, "pysim run"),
        (414, "pysim replay"),
        (570, "pysim analyze"),
        (726, "pysim report"),
    ):
        to.text(x, 166, command, "middle", BLUE)
    return to


def world() -> Drawing:
    """What a broker is told, and what it can do."""
    to = Drawing(800, 304)
    to.box(290, 50, 220, 214, "", ink=BLUE)
    to.text(400, 150, "your broker", "middle", strong=True)
    to.text(400, 168, "a Python class", "middle")
    to.text(400, 185, "that never blocks", "middle")
    to.text(140, 28, "what it is told", "middle", strong=True)
    to.text(660, 28, "what it can do", "middle", strong=True)
    told = (
        ("a client subscribes, unsubscribes", GREEN),
        ("a client advertises, publishes", GREEN),
        ("a message has come, whole", BLUE),
        ("a link is up; a link is down", RED),
        ("the run begins", MUTED),
    )
    for place, (words, ink) in enumerate(told):
        y = 72 + 43 * place
        to.text(264, y + 4, words, "end", ink)
        to.arrow(270, y, 290, y, ink)
    can = (
        ("send to a neighbor, over a link", BLUE),
        ("send to any broker, off the overlay", BLUE),
        ("deliver to its clients", GREEN),
        ("set a timer, and cancel it", MUTED),
        ("draw from a random stream of its own", MUTED),
        ("note a number for the results", MUTED),
    )
    for place, (words, ink) in enumerate(can):
        y = 68 + 36 * place
        to.arrow(510, y, 530, y, ink)
        to.text(537, y + 4, words, "start", ink)
    to.text(
        400,
        288,
        "It knows its id, the time and its neighbors; never the network, never other brokers.",
        "middle",
    )
    return to


def networks() -> Drawing:
    """One message on both networks."""
    to = Drawing(800, 286)
    to.text(16, 28, "ns3: packets", strong=True)
    to.dot(40, 92, "3", BLUE)
    to.dot(760, 92, "0", BLUE)
    for x, words in (
        (74, ("frame", "header and body")),
        (206, ("TCP", "segments")),
        (338, ("queue", "at the device")),
    ):
        to.box(x, 64, 112, 56, *words)
    to.box(614, 64, 112, 56, "TCP", "whole again")
    for left, right in ((55, 74), (186, 206), (318, 338), (726, 745)):
        to.arrow(left, 92, right, 92)
    to.arrow(450, 84, 614, 84, BLUE)
    to.arrow(614, 102, 450, 102, MUTED, dashed=True)
    to.text(532, 76, "rate, delay, losses", "middle", BLUE)
    to.text(532, 120, "acknowledgments", "middle")
    to.line(456, 130, 456, 146, PURPLE)
    to.line(608, 130, 608, 146, PURPLE)
    to.text(456, 162, "b3-b0.pcap", "middle", PURPLE)
    to.text(608, 162, "b0-b3.pcap", "middle", PURPLE)
    to.line(16, 190, 784, 190, GRID)
    to.text(16, 216, "memory: messages", strong=True)
    to.dot(40, 250, "3", BLUE)
    to.dot(760, 250, "0", BLUE)
    to.box(74, 224, 112, 52, "frame", "header and body")
    to.arrow(55, 250, 74, 250)
    to.arrow(186, 250, 745, 250, BLUE)
    to.text(465, 240, "the link's delay, in the order of sending", "middle", BLUE)
    return to


def service() -> Drawing:
    """A broker that needs time."""
    to = Drawing(800, 178)
    to.arrow(20, 82, 150, 82, BLUE)
    to.text(84, 70, "messages come", "middle", BLUE)
    for place in range(4):
        to.box(156 + 42 * place, 60, 38, 44, "")
    to.text(240, 44, "input queue, first in first out", "middle", strong=True)
    to.text(240, 126, "waiting time, length", "middle", PURPLE)
    to.arrow(326, 82, 376, 82)
    to.box(380, 50, 170, 64, "one server", "the handler has run")
    to.text(465, 138, "service time: by type, by table", "middle", PURPLE)
    to.text(465, 155, "size, by the work that was done", "middle", PURPLE)
    to.arrow(550, 82, 780, 82, BLUE)
    to.text(668, 70, "what it caused leaves", "middle", BLUE)
    to.text(668, 100, "when the service ends", "middle", BLUE)
    return to


def books() -> Drawing:
    """Three counts of one run."""
    to = Drawing(800, 196)
    for x, words, ink in (
        (16, ("agents", "what each broker", "handed over and got"), GREEN),
        (302, ("network", "what the C++ application", "sent, got and lost"), BLUE),
        (588, ("captures", "what Spark reads", "out of the pcaps"), PURPLE),
    ):
        to.box(x, 24, 196, 84, *words, ink=ink)
    for x in (257, 543):
        to.text(x, 74, "=", "middle", strong=True)
    to.text(257, 94, "to the byte", "middle")
    to.text(543, 94, "to the byte", "middle")
    to.line(400, 108, 400, 132, RED)
    to.text(400, 150, "sent = received + lost, by cause + still under way", "middle", RED)
    to.text(400, 180, "pysim books RUN says so, or which line does not balance", "middle", MUTED)
    return to


def truth() -> Drawing:
    """What was due, and what came."""
    to = Drawing(800, 216)
    to.text(16, 30, "due", strong=True)
    to.text(52, 30, "to every client with a matching subscription when the event was published")
    for x, width, words, ink in (
        (16, 380, ("made", "it came"), GREEN),
        (400, 190, ("missing", "it never came"), RED),
        (594, 190, ("withdrawn", "the client gave up first"), MUTED),
    ):
        to.box(x, 42, width, 52, *words, ink=ink)
    to.text(16, 132, "delivered", strong=True)
    to.text(96, 132, "whatever clients were given")
    for x, width, words, ink in (
        (16, 380, ("made", "once, and due"), GREEN),
        (400, 126, ("early", "subscribed after"), MUTED),
        (530, 125, ("duplicate", "it came again"), RED),
        (659, 125, ("spurious", "nobody asked"), RED),
    ):
        to.box(x, 144, width, 52, *words, ink=ink)
    return to


PICTURES: dict[str, Callable[[], Drawing]] = {
    draw.__name__: draw for draw in (way, world, networks, service, books, truth)
}
"""All of them, by name."""
