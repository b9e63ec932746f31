"""An experiment's configuration in words, from the file that repeats it."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from analysis.figures.numbers import counted, joined
from analysis.report.markup import Markup
from analysis.report.page import Column, Page, paragraph
from analysis.report.source import Sample

_KIND = {
    "topology": "kind",
    "protocol": "name",
    "workload": "kind",
    "service": "model",
    "faults": "kind",
}
_TITLES = {
    "topology": "Overlay",
    "protocol": "Protocol",
    "workload": "Workload",
    "service": "Service",
    "faults": "Fault",
}


class Setting(NamedTuple):
    """A key that was set, its value as it is written, and what it means."""

    key: str
    value: str
    meaning: str


class Part(NamedTuple):
    """A part of an experiment: "Workload", "patterns", and its settings."""

    title: str
    kind: str
    settings: list[Setting]


def parts(configuration: str) -> Iterator[Part]:
    """The overlay, the protocol, the workload, the service and the faults of an experiment."""
    values = tomllib.loads(configuration)
    helps = _helps(configuration)
    for name, title in _TITLES.items():
        given = values.get(name, [])
        for number, table in enumerate(given if isinstance(given, list) else [given]):
            kind = str(table.get(_KIND[name], table.get("file", "")))
            if name == "service" and kind == "none":
                continue
            settings = [
                Setting(key, _shown(value), helps.get((f"{name}.{number}", key), key))
                for key, value in table.items()
                if key != _KIND[name]
            ]
            yield Part(title, kind, settings)


def network_in_words(network: Mapping[str, Any]) -> str:
    """What carries the messages."""
    if network["backend"] == "memory":
        return (
            "The network is the one in memory: links have delays and keep order, and there are no "
            "packets, no bandwidth and no headers."
        )
    lossless = str(network["loss"]) in ("0 %", "0", "0.0")
    loss = "no loss" if lossless else f"{network['loss']} of packets lost"
    if network["mode"] == "links":
        wire = "link"
        carried = (
            f"Each overlay link is a wire of its own: {network['rate']}, {network['delay']} from "
            f"end to end, a queue of {network['queue']} packets and {loss}."
        )
    else:
        wire = "line"
        carried = (
            f"Overlay links are TCP connections across an IP network "
            f"({_shown(network['underlay'])}), to which each broker has a line of "
            f"{network['access_rate']} and {network['access_delay']}, with {loss}."
        )
    captured = {
        "both": f"Both ends of every {wire} are captured.",
        "one": f"One end of every {wire} is captured.",
        "none": "Nothing is captured.",
    }.get(str(network["capture"]), "Some links are captured.")
    return f"{carried} ns-3 carries the bytes with the TCP profile {network['tcp']}. {captured}"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        if any(isinstance(item, dict) for item in value):
            return f"{counted(len(value), 'entry', 'entries')}, listed below"
        return ", ".join(map(_shown, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {_shown(item)}" for key, item in value.items())
    return str(value)


def _helps(configuration: str) -> dict[tuple[str, str], str]:
    """The comments behind keys, by section and number (``faults.1``) and key."""
    section, seen, found = "", dict[str, int](), {}
    for line in configuration.splitlines():
        if header := re.fullmatch(r"\[\[?([\w.-]+)\]\]?", line.strip()):
            number = seen.get(header[1], 0)
            seen[header[1]] = number + 1
            section = f"{header[1]}.{number}"
        elif key := re.match(r"([\w-]+) = ", line):
            found[section, key[1]] = _comment(line) or key[1]
    return found


def _comment(line: str) -> str:
    """What stands behind the first # that is outside the value."""
    for place in (match.start() for match in re.finditer("#", line)):
        try:
            tomllib.loads(line[:place])
        except tomllib.TOMLDecodeError:
            continue
        return line[place + 1 :].strip().replace("`", "")
    return ""


def words(page: Page, sample: Sample) -> Iterator[Markup]:
    """The question: the overlay, the protocol, the workload, the network and the faults."""
    run = sample.first
    found = list(parts(run.configuration))
    kinds = {part.title: part.kind for part in found}
    seeds = [str(seed) for seed in sample.seeds]
    summary = (
        f"{run.brokers} brokers run {kinds['Protocol']} on an overlay of kind {kinds['Overlay']} "
        f"for {run.settings['duration']} of simulated time, with "
        f"seed{'s' if len(seeds) > 1 else ''} {joined(seeds)}."
    )
    rows: list[tuple[str, str, str]] = []
    for part in found:
        names = [f"{part.title}: {part.kind}"] + [""] * len(part.settings)
        settings = [(setting.meaning, setting.value) for setting in part.settings]
        rows.extend(
            (name, *setting) for name, setting in zip(names, settings or [("", "")], strict=False)
        )
    columns = (Column("part", "name"), Column("setting", "words"), Column("value", "words"))
    table = page.table(
        "settings",
        "What was set, in the words of the configuration below.",
        columns,
        rows,
        compact=True,
    )
    yield paragraph(summary)
    yield paragraph(network_in_words(run.settings["network"]))
    yield table
