"""Quantities with units: read exactly, printed so that they read back."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pysim.units import Duration, Frequency, Quantity, Rate, Share, Size


@pytest.mark.parametrize(
    ("kind", "written", "value"),
    [
        (Duration, "50 ms", 0.05),
        (Duration, "50ms", 0.05),
        (Duration, " 1.5e2 us ", 150e-6),
        (Duration, "3 ns", 3e-9),
        (Duration, "2 min", 120.0),
        (Duration, "1 h", 3600.0),
        (Duration, "8", 8.0),
        (Duration, 8, 8.0),
        (Duration, 0, 0.0),
        (Rate, "10 Mbit/s", 10e6),
        (Rate, "64 kbit/s", 64e3),
        (Rate, "1 Gbit/s", 1e9),
        (Rate, 9600, 9600.0),
        (Size, "200 B", 200.0),
        (Size, "1 MiB", 1048576.0),
        (Size, "1.5 kB", 1500.0),
        (Share, "1 %", 0.01),
        (Share, 1, 1.0),
        (Share, "0.25", 0.25),
        (Frequency, "3 /s", 3.0),
        (Frequency, "3000 /min", 50.0),
        (Frequency, "1 /h", 1 / 3600),
    ],
)
def test_units_are_read_exactly(kind: type[Quantity], written: object, value: float) -> None:
    quantity = kind.parse(written)
    assert quantity == value
    assert type(quantity) is kind


@pytest.mark.parametrize(
    ("kind", "written", "message"),
    [
        (
            Duration,
            "50 mss",
            'expected a duration such as "50 ms" (units: ns, us, ms, s, min, h)',
        ),
        (Duration, "fast", 'expected a duration such as "50 ms" (units: ns, us, ms, s, min, h)'),
        (Duration, True, 'expected a duration such as "50 ms" (units: ns, us, ms, s, min, h)'),
        (Duration, [], 'expected a duration such as "50 ms" (units: ns, us, ms, s, min, h)'),
        (
            Duration,
            float("inf"),
            'expected a duration such as "50 ms" (units: ns, us, ms, s, min, h)',
        ),
        (Duration, "1e999 s", "a duration must be finite"),
        (Duration, "-1 s", "a duration must be at least 0"),
        (Duration, 1e300, "a duration must be at most 1000000000 s"),
        (Rate, "0 bit/s", "a rate must be more than 0"),
        (Rate, -3, "a rate must be more than 0"),
        (
            Rate,
            "5 ms",
            'expected a rate such as "10 Mbit/s" (units: bit/s, kbit/s, Mbit/s, Gbit/s)',
        ),
        (Share, "101 %", "a share must be at most 100 %"),
        (Share, -0.1, "a share must be at least 0"),
        (Size, "0.5 B", "a size must be a whole number of bytes"),
    ],
)
def test_what_is_no_quantity_is_refused(
    kind: type[Quantity], written: object, message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        kind.parse(written)


@pytest.mark.parametrize(
    ("quantity", "text"),
    [
        (Duration(0.05), "50 ms"),
        (Duration(0), "0 s"),
        (Duration(8), "8 s"),
        (Duration(3600), "1 h"),
        (Rate(10e6), "10 Mbit/s"),
        (Size(1 << 20), "1 MiB"),
        (Size(200), "200 B"),
        (Share(0.2), "20 %"),
        (Frequency(50 / 60), "50 /min"),
    ],
)
def test_quantities_print_in_the_unit_a_person_would_choose(quantity: Quantity, text: str) -> None:
    assert str(quantity) == f"{quantity}" == text


@given(
    st.sampled_from([Duration, Rate, Frequency]),
    st.floats(min_value=1e-100, max_value=1e8, allow_nan=False),
)
def test_printed_quantities_read_back(kind: type[Quantity], value: float) -> None:
    assert kind.parse(str(kind(value))) == value
