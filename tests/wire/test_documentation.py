"""docs/wire-format.md says what the code does."""

import re
from pathlib import Path

from pysim.filters import parse
from pysim.wire import Envelope, message_types
from pysim.wire.messages import Subscribe

PAGE = (Path(__file__).parents[2] / "docs" / "wire-format.md").read_text()


def test_the_table_lists_every_type_with_its_fields() -> None:
    rows = re.findall(r"^\| (\d+) \| `([a-z-]+)` \| (.*?) \| ", PAGE, re.MULTILINE)
    documented = {(int(code), name, tuple(re.findall(r"`(\w+)`", f))) for code, name, f in rows}
    assert documented == {
        (kind.code, kind.name, kind.message.__struct_fields__)
        for kind in message_types().values()
        if kind.code < 224
    }


def test_the_example_is_what_goes_over_the_wire() -> None:
    block = PAGE.split("the seventh message of broker 3")[1].split("```")[1]
    documented = "".join(re.findall(r"^ *((?:[0-9a-f]{2}\s+)+)", block, re.MULTILINE))
    frame = Envelope.seal(Subscribe(parse('body contains "x"')), 3, 7).frame
    assert bytes.fromhex(documented) == frame
