"""Columns of numbers and a little text, packed so that a page can carry and unpack them quickly.

The pack is gzip of: the length of a JSON text (4 bytes, little-endian), the text, padding, and the
columns, each at a multiple of eight bytes from the first. The text has under `columns` each one's
type, place and length. It knows neither runs nor pages.
"""

import base64
import gzip
import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

_TYPES = {"f8": "Float64", "f4": "Float32", "u4": "Uint32", "u2": "Uint16", "u1": "Uint8"}


def pack(texts: Mapping[str, Any], columns: Mapping[str, npt.NDArray[Any]]) -> str:
    """All of it as text of base64; the same input gives the same text."""
    body = bytearray()
    places: dict[str, tuple[str, int, int]] = {}
    for name, column in columns.items():
        kind = column.dtype.str[1:]
        places[name] = (_TYPES[kind], len(body), column.size)
        body += np.ascontiguousarray(column, f"<{kind}").tobytes()
        body += bytes(-len(body) % 8)
    head = json.dumps({**texts, "columns": places}, ensure_ascii=False, separators=(",", ":"))
    encoded = head.encode()
    whole = struct.pack("<I", len(encoded)) + encoded
    whole += bytes(-len(whole) % 8)
    return base64.b64encode(gzip.compress(whole + bytes(body), 6, mtime=0)).decode("ascii")
