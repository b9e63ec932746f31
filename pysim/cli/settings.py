"""KEY=VALUE arguments: values are TOML, and what is not TOML is a text."""

import argparse
import tomllib
from collections.abc import Iterable
from typing import Any

from pysim.cli import UsageError


def given_settings(options: argparse.Namespace) -> dict[str, Any]:
    """What `--protocol-file`, `--set` and `--seed` say, by key."""
    settings = pairs(options.set)
    if options.protocol_file is not None:
        settings = {"protocol": {"file": str(options.protocol_file.absolute())}, **settings}
    return settings if options.seed is None else settings | {"seed": options.seed}


def pairs(arguments: Iterable[str]) -> dict[str, Any]:
    """KEY=VALUE arguments as a mapping."""
    found = {}
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not key or not equals:
            raise UsageError(f"expected KEY=VALUE, not {argument}")
        found[key.strip()] = toml_value(value.strip())
    return found


def toml_value(text: str) -> Any:
    """A value as a file would have it."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
