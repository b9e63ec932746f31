"""Where the dissector's file goes: Wireshark's folder for a user's plugins, or a user's cache."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pysim.wireshark.dissector import MARK, dissector

FILE = "pysim.lua"
_SECONDS = 30  # tshark's answer takes less than one


class PluginError(OSError):
    """The plugin's place is taken; the text says by what."""


def plugin_folder() -> Path:
    """The folder from which this user's Wireshark loads Lua plugins.

    A Wireshark that is installed is asked, since environment variables, versions and systems
    decide; else it is where Wireshark would have it by default.
    """
    for program in ("tshark", "wireshark"):
        found = shutil.which(program)
        if found and (folder := _asked(found)):
            return folder
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", Path.home()), "Wireshark", "plugins")
    return Path.home() / ".local" / "lib" / "wireshark" / "plugins"


def install(folder: Path) -> bool:
    """Put the dissector into a folder; the result is whether anything changed."""
    target = folder / FILE
    if target.exists() and not _is_ours(target):
        raise PluginError(f"{target} is not pysim's dissector; move it away first")
    return _write(target)


def uninstall(folder: Path) -> bool:
    """Take the dissector out of a folder; the result is whether it was there."""
    target = folder / FILE
    if not target.exists():
        return False
    if not _is_ours(target):
        raise PluginError(f"{target} is not pysim's dissector, so it stays")
    target.unlink()
    return True


def cached() -> Path:
    """The path of an up-to-date dissector in this user's cache."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    folder = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
    target = folder / "pysim" / FILE
    _write(target)
    return target


def _asked(program: str) -> Path | None:
    try:
        answer = subprocess.run(
            [program, "-G", "folders"], capture_output=True, text=True, timeout=_SECONDS, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r"^Personal Lua Plugins:\s*(\S.*)$", answer, re.MULTILINE)
    return Path(found[1].strip()) if found else None


def _is_ours(path: Path) -> bool:
    return path.read_bytes().startswith(MARK.encode())


def _write(target: Path) -> bool:
    """Write the dissector unless it is there as it should be; others see all of it or none."""
    content = dissector().encode()
    if target.exists() and target.read_bytes() == content:
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".pysim-") as folder:
        temporary = Path(folder, FILE)
        temporary.write_bytes(content)
        temporary.replace(target)
    return True
