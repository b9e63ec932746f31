"""Which address belongs to whom, and what the names of captures say."""

import pytest

from analysis.addresses import Device, broker_of, device_of


@pytest.mark.parametrize(
    ("address", "capture", "broker"),
    [
        ("10.0.0.1", "", 0),
        ("10.0.1.0", "b3-b7", 255),
        ("10.127.255.255", "", 2**23 - 2),
        ("10.128.0.1", "b3-b7", 3),
        ("10.128.0.2", "b3-b7", 7),
        ("10.128.0.1", "b7-b3", 3),  # the lower broker has the lower address, whoever captures
        ("10.128.0.6", "b10-b9.2", 10),
        ("10.128.0.0", "b3-b7", None),
        ("10.128.0.3", "b3-b7", None),
        ("10.128.0.1", "b3-r0", None),
        ("10.128.0.1", "b3", None),
        ("10.128.0.1", "", None),
        ("10.0.0.0", "", None),
        ("11.0.0.1", "b3-b7", None),
        ("192.168.0.1", "b3-b7", None),
        ("::1", "b3-b7", None),
    ],
)
def test_addresses_belong_to_brokers(address: str, capture: str, broker: int | None) -> None:
    assert broker_of(address, capture) == broker


@pytest.mark.parametrize(
    ("capture", "device"),
    [
        ("b3-b7", Device("b3", "b7")),
        ("b3-b7.2", Device("b3", "b7")),
        ("b3-r1", Device("b3", "r1")),
        ("r1-r20", Device("r1", "r20")),
        ("b12", Device("b12", None)),
        ("eth0", None),
        ("b3-", None),
        ("xb3-b7", None),
    ],
)
def test_names_of_captures_tell_where_they_were_made(capture: str, device: Device | None) -> None:
    assert device_of(capture) == device
