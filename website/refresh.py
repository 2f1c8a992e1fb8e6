"""Write into README.md and docs/ what their commands print now: `python -m website.refresh [PAGE...]`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from website.blocks import PAGES, update


def main() -> int:
    """Exit status 1 where a command ended with another status than the page says."""
    pages = [Path(name).resolve() for name in sys.argv[1:]] or PAGES
    wrong = 0
    for page in pages:
        with tempfile.TemporaryDirectory() as folder:
            for one in update(page, Path(folder)):
                wrong = 1
                sys.stderr.write(f"{page}: {one.command.strip()}: {one.shown}, but {one.happened}\n")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
