"""`pysim new-protocol`: a broker that works and its test, to begin with; it overwrites nothing."""

import argparse
import re
import string
from importlib.resources import files
from pathlib import Path

from pysim import brokers
from pysim.cli import UsageError

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def execute(options: argparse.Namespace) -> int:
    """Carry the command out."""
    name: str = options.name
    if not _NAME.fullmatch(name):
        raise UsageError(f'"{name}" should be words of small letters and digits, as my-flooding')
    if name in brokers.protocols():
        raise UsageError(f'"{name}" is the name of a protocol already')
    module = name.replace("-", "_")
    words = {"name": name, "module": module, "broker": _camel(name)}
    folder: Path = options.out
    texts = {
        folder / f"{module}.py": _text("broker.py.txt", words),
        folder / f"test_{module}.py": _text("test.py.txt", words),
    }
    for path in texts:
        if path.exists():
            raise UsageError(f"{path} is there already, and nothing is overwritten")
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote        {path}")
    broker, test = texts
    print(f"test it      pytest {test}")
    print(f"check it     pysim conformance {broker}")
    print(f"run it       pysim run EXPERIMENT.toml --protocol-file {broker}")
    return 0


def _text(template: str, words: dict[str, str]) -> str:
    text = files("pysim.cli").joinpath("skeleton", template).read_text("utf-8")
    return string.Template(text).substitute(words)


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))
