"""A suite of small runs whose results are expected to stay: what CI compares on every commit.

`suite` finds the runs of a folder, `processes` runs them, `figures` reads what they cost,
`expectations` keeps what is expected of them and says what differs. Protocols are not known here.
"""
