"""Marks lab sheets that were handed in: runs each with its answers, and says what the checks say.

    .venv/bin/python labs/mark.py handed-in/*.ipynb

It executes the code of whoever wrote the answers: do it where that code may run.
"""

import sys

from labkit.marking import main

sys.exit(main(sys.argv[1:]))
