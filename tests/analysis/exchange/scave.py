"""A reader of OMNeT++ result files, written after the grammar in its manual, and strict.

The appendix *Result File Formats* of the OMNeT++ Simulation Manual: lines of tokens, separated by
white space, in double quotes with backslashes where needed; `version`, `run`, `attr`, `itervar`,
`config`, `scalar`, `vector`, `statistic`, `field` and `bin` lines, and data lines that begin with a
vector's number. An attribute belongs to what stands before it. Times in a vector do not decrease.
"""

import re
from dataclasses import dataclass, field

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s"]+')
_ESCAPE = re.compile(r"\\(.)")
_MEANT = {"n": "\n", "t": "\t"}


@dataclass
class Item:
    """A scalar, a vector or a statistic."""

    module: str
    name: str
    attributes: dict[str, str] = field(default_factory=dict)


@dataclass
class Scalar(Item):
    value: float = 0.0


@dataclass
class Vector(Item):
    columns: str = "TV"
    points: list[tuple[float, float]] = field(default_factory=list)


@dataclass
class Statistic(Item):
    fields: dict[str, float] = field(default_factory=dict)
    bins: list[tuple[float, float]] = field(default_factory=list)


@dataclass
class Results:
    """What a file holds of its one run."""

    run: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    itervars: dict[str, str] = field(default_factory=dict)
    config: list[tuple[str, str]] = field(default_factory=list)
    scalars: list[Scalar] = field(default_factory=list)
    vectors: dict[int, Vector] = field(default_factory=dict)
    statistics: list[Statistic] = field(default_factory=list)

    def scalar(self, module: str, name: str) -> float:
        (found,) = (s for s in self.scalars if (s.module, s.name) == (module, name))
        return found.value


def tokens(line: str) -> list[str]:
    """The tokens of a line; ValueError if something is no token."""
    if re.sub(_TOKEN, "", line).strip():
        raise ValueError(f"no tokens: {line!r}")
    return [_unquoted(token) for token in _TOKEN.findall(line)]


def read(text: str) -> Results:
    """A whole file; ValueError names the line that is not of the format."""
    lines = text.splitlines()
    if not text.endswith("\n") or tokens(lines[0]) != ["version", "3"]:
        raise ValueError("a file begins with its version and ends with a line")
    results = Results()
    current: Item | None = None
    for line in lines[1:]:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        kind, *rest = tokens(line)
        try:
            current = _take(results, current, kind, rest)
        except (ValueError, KeyError, AssertionError) as error:
            raise ValueError(f"{line!r}: {error}") from error
    return results


def _take(results: Results, current: Item | None, kind: str, rest: list[str]) -> Item | None:
    if kind == "run":
        assert not results.run, "one run in a file"
        (results.run,) = rest
        return None
    assert results.run, "everything is of a run"
    match kind:
        case "attr":
            name, value = rest
            (current.attributes if current else results.attributes)[name] = value
        case "itervar":
            assert current is None
            results.itervars[rest[0]] = rest[1]
            assert len(rest) == 2
        case "config":
            assert current is None
            key, value = rest
            results.config.append((key, value))
        case "scalar":
            module, name, value = rest
            current = Scalar(module, name, value=float(value))
            results.scalars.append(current)
        case "statistic":
            module, name = rest
            current = Statistic(module, name)
            results.statistics.append(current)
        case "field":
            assert isinstance(current, Statistic)
            assert not current.bins
            name, value = rest
            current.fields[name] = float(value)
        case "bin":
            assert isinstance(current, Statistic)
            edge, count = map(float, rest)
            assert not current.bins or edge > current.bins[-1][0], "bins ascend"
            current.bins.append((edge, count))
        case "vector":
            number, module, name, columns = rest
            assert set(columns) <= set("ETV")
            assert int(number) not in results.vectors
            current = results.vectors[int(number)] = Vector(module, name, columns=columns)
        case _:
            vector = results.vectors[int(kind)]
            values = dict(zip(vector.columns, map(float, rest), strict=True))
            assert not vector.points or values["T"] >= vector.points[-1][0], "times ascend"
            vector.points.append((values["T"], values["V"]))
    return current


def _unquoted(token: str) -> str:
    if not token.startswith('"'):
        return token
    return _ESCAPE.sub(lambda found: _MEANT.get(found[1], found[1]), token[1:-1])
