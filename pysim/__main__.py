"""Lets ``python -m pysim`` do what ``pysim`` does."""

import sys

from pysim.cli import main

if __name__ == "__main__":
    sys.exit(main())
