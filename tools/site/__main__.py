"""`python -m tools.site`: write what is generated, then build the site."""

import argparse
import sys
from pathlib import Path

from analysis.reproduction import FAMILIES
from analysis.reproduction import page as reproduction
from tools.site import diagrams, pictures, reference
from tools.site.build import SiteError, build
from tools.site.pages import ROOT


def main() -> int:
    """Carry it out; the result is the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.site", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site", metavar="DIR")
    options = parser.parse_args()
    (ROOT / reference.NAME).write_text(reference.page(), encoding="utf-8")
    pictures.write(ROOT / pictures.FOLDER)
    diagrams.write(ROOT / diagrams.PICTURES)
    for family in FAMILIES.values():
        reproduction.write(family, ROOT / "docs" / "reproduction")
    try:
        build(options.out)
    except SiteError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"site         {options.out / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
