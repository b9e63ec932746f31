"""The columns of a packet as Arrow and Spark see them; what fills them is not known here."""

import pyarrow as pa


def _always(name: str, kind: pa.DataType) -> pa.Field:
    """A column that no packet leaves empty, which also spares Spark to ask for every value."""
    return pa.field(name, kind, nullable=False)


SCHEMA = pa.schema(
    [
        _always("capture", pa.string()),
        _always("packet", pa.int64()),
        _always("time", pa.int64()),
        _always("captured", pa.int32()),
        _always("length", pa.int32()),
        pa.field("ip", pa.int8()),
        pa.field("protocol", pa.int16()),
        pa.field("source_address", pa.string()),
        pa.field("source_port", pa.int32()),
        pa.field("target_address", pa.string()),
        pa.field("target_port", pa.int32()),
        pa.field("sequence", pa.int64()),
        pa.field("acknowledgment", pa.int64()),
        pa.field("flags", pa.int16()),
        pa.field("window", pa.int32()),
        _always("link_header", pa.int16()),
        _always("ip_header", pa.int16()),
        _always("transport_header", pa.int16()),
        _always("payload_length", pa.int32()),
        _always("fragment", pa.bool_()),
    ]
)
"""What every packet has; docs/captures.md says what the columns mean."""

PAYLOAD = _always("payload", pa.binary())
"""The captured bytes of the payload, for those who ask for them."""

WITH_PAYLOAD = SCHEMA.append(PAYLOAD)
