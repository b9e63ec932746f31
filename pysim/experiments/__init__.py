"""Experiments: from a TOML file to a complete directory of results.

`config` reads and checks the file, `plan` checks what needs the overlay, `run` runs a plan into a
directory that is complete or absent, with a `manifest`, Parquet tables and captures. `registries`
lists what a file can name.
"""
