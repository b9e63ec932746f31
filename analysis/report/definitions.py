"""What was done to get the numbers, and what the words of a report mean."""

import re
from collections.abc import Iterator, Sequence

from analysis.metrics import METRICS
from analysis.report.headlines import Measure
from analysis.report.markup import Markup, joined, tag
from analysis.report.page import Page, paragraph

_METHOD = (
    "Brokers are Python agents that send each other messages as real bytes over a simulated "
    "network. Times are simulated, in whole nanoseconds. What a client should have got is known "
    "from the subscriptions that stood when an event was published."
)
_CAPTURES = (
    "ns-3 carries the bytes over links, TCP and IP, and devices write what they send and receive "
    "into captures. The analysis puts TCP streams together again, cuts them into frames, and "
    "assigns every byte of every packet to exactly one category."
)


def method(page: Page, numbers: Sequence[Measure]) -> Iterator[Markup]:
    """The method, the definitions of what the report used, and what is not in it.

    `numbers` are the key numbers that the report shows.
    """
    yield paragraph(_METHOD, f" {_CAPTURES}" if "byte_breakdown" in page.metrics else "")
    if page.absent:
        yield tag("h3", "Not in this report")
        yield _list({title: [reason + "."] for title, reason in page.absent.items()})
    yield tag("h3", "Key numbers")
    yield _list({each.label: [each.meaning] for each in numbers})
    yield tag("h3", "Metrics")
    terms = []
    for name in page.metrics:
        terms.append(tag("dt", tag("code", name), id=f"metric-{name}"))
        terms.append(tag("dd", *_definition(METRICS[name].definition)))
    yield tag("dl", *terms, class_="words small")


def _list(terms: dict[str, list[str]]) -> Markup:
    return tag(
        "dl",
        *(joined((tag("dt", name), tag("dd", *text))) for name, text in terms.items()),
        class_="words small",
    )


def _definition(text: str) -> Iterator[Markup]:
    """A docstring as paragraphs, with its code marked."""
    for block in re.split(r"\n\s*\n", text):
        pieces = re.split(r"(`+[^`]+`+)", " ".join(block.split()))
        yield tag(
            "p",
            *(
                tag("code", piece.strip("`")) if piece.startswith("`") else piece
                for piece in pieces
            ),
        )
