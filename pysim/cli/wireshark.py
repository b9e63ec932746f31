"""`pysim wireshark`: the dissector, into Wireshark's plugins or as a file for tshark."""

import argparse
from pathlib import Path

from pysim import wireshark
from pysim.brokers.loading import load_entry_points, load_file
from pysim.cli import UsageError
from pysim.wire import message_types


def execute(options: argparse.Namespace) -> int:
    """Carry the command out."""
    load_entry_points()
    if options.protocol_file is not None:
        load_file(options.protocol_file)
    if options.action == "path":
        if options.directory:
            raise UsageError("--directory is for install and uninstall")
        print(wireshark.cached())
        return 0
    folder = options.directory or wireshark.plugin_folder()
    try:
        print(_install(folder) if options.action == "install" else _uninstall(folder))
    except wireshark.PluginError as error:
        raise UsageError(str(error)) from None
    return 0


def _install(folder: Path) -> str:
    changed = wireshark.install(folder)
    what = f"the dissector for {len(message_types())} message types"
    file = folder / wireshark.FILE
    return f"installed {what} as {file}" if changed else f"{file} has {what} already"


def _uninstall(folder: Path) -> str:
    file = folder / wireshark.FILE
    return f"removed {file}" if wireshark.uninstall(folder) else f"there is no {file}"
