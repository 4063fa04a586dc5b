"""Write the listing of sg4 at its defaults, so that other simulators can be timed on the same work.

Run `python benchmarks/sg4_listing.py sg4.asm`, then `gpusim run sg4.asm --machine wide`. A listing of this size cannot
list its expected values, so its values are computed but not compared; `gpusim run sg4` compares them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from isa.text import listing
from workloads.catalog import make


def main() -> None:
    """Write the file named on the command line; one that can't be written ends with a message and exit code 2."""
    parser = argparse.ArgumentParser(description="Write the listing of sg4.")
    parser.add_argument("file", type=Path, help="the listing to write, such as sg4.asm")
    file = parser.parse_args().file
    try:
        file.write_text(listing.write(make("sg4")), encoding="utf-8")
    except OSError as error:
        parser.exit(2, f"{file}: {error.strerror}; give a path that can be written\n")


if __name__ == "__main__":
    main()
