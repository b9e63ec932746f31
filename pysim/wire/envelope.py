"""Envelopes: the native ones where they have been built, else those in plain Python.

Every message of a run passes through one, and in the midst of a simulation, where caches are cold,
each line of Python costs several times what it costs in a loop.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING or not find_spec("pysim.wire._envelope"):
    from pysim.wire.plain_envelope import Envelope, receive_by_type
else:
    from pysim.wire import refusals
    from pysim.wire._envelope import Envelope, bind, receive_by_type
    from pysim.wire.frame import MAX_FRAME_SIZE, MessageId
    from pysim.wire.message import DECODERS, encode_body

    bind(
        encode=encode_body,
        decoders=DECODERS,
        message_id=MessageId,
        max_frame=MAX_FRAME_SIZE,
        describe=refusals.describe,
        refuse_frame=refusals.refuse_frame,
        refuse_length=refusals.refuse_length,
        refuse_type=refusals.refuse_type,
        refuse_body=refusals.refuse_body,
    )

__all__ = ["Envelope", "receive_by_type"]
