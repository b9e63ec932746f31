"""What a table of changes means."""

import pandas as pd

from analysis.changes import link_lives, reconfigurations

Change = tuple[int, str, int, int | None, int | None]


def table(*rows: Change) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["time", "change", "a", "b", "reconfiguration"])


LINKS = pd.DataFrame({"a": [0, 1, 2], "b": [1, 2, 3]})


def test_links_live_from_creation_to_break() -> None:
    changes = table((10, "break", 1, 0, 0), (20, "create", 3, 0, 0), (60, "create", 0, 1, None))
    assert link_lives(LINKS, changes, 100) == {(0, 1): 50, (1, 2): 100, (2, 3): 100, (0, 3): 80}


def test_a_restart_brings_back_the_links_to_brokers_that_are_up() -> None:
    changes = table(
        (10, "crash", 1, None, None),
        (20, "crash", 2, None, None),
        (30, "restart", 1, None, None),  # its link to 2 waits for 2
        (50, "restart", 2, None, None),
    )
    assert link_lives(LINKS, changes, 100) == {
        (0, 1): 10 + 70,
        (1, 2): 10 + 50,
        (2, 3): 20 + 50,
    }


def test_what_comes_after_the_end_does_not_happen() -> None:
    changes = table((100, "break", 0, 1, None))
    assert link_lives(LINKS, changes, 100)[0, 1] == 100
    assert reconfigurations(changes, 100).empty


def test_changes_of_one_number_belong_together() -> None:
    changes = table(
        (10, "break", 7, 3, 0),
        (15, "break", 1, 2, 1),
        (20, "create", 3, 4, 0),
        (25, "create", 2, 0, 1),
        (30, "break", 5, 6, 0),  # the numbers of another fault begin again
        (40, "crash", 9, None, None),
        (40, "loss", 0, 1, None),
    )
    rows = reconfigurations(changes, 35 + 6)
    assert rows.to_dict("list") == {
        "reconfiguration": [0, 1, 2, 3],
        "broken": ["3-7", "1-2", "5-6", "9"],
        "created": ["3-4", "0-2", None, None],
        "from_time": [10, 15, 30, 40],
        "last_change": [15, 25, 30, 40],  # the first one's new link comes when the next has begun
        "until": [15, 30, 40, 41],
    }
