"""pysim's messages in Wireshark: a dissector that is written from the registry of message types.

`dissector` makes its text, `places` puts it where Wireshark finds it. Neither knows protocols.
"""

from pysim.wireshark.dissector import dissector
from pysim.wireshark.places import FILE, PluginError, cached, install, plugin_folder, uninstall

__all__ = [
    "FILE",
    "PluginError",
    "cached",
    "dissector",
    "install",
    "plugin_folder",
    "uninstall",
]
