"""Write into README.md and docs/ what their commands print now: `python -m website.refresh [PAGE...]`.

The lists of accelerators and fabrics in docs/guide/clusters.md too.
"""

from __future__ import annotations

import sys
import tempfile
import textwrap
from pathlib import Path

from ptcompile.hardware.accelerators import ROWS
from ptcompile.hardware.fabrics import FABRICS
from website.blocks import PAGES, ROOT, update


def lists() -> None:
    """The names between the comments of docs/guide/clusters.md."""
    path = ROOT / "docs" / "guide" / "clusters.md"
    text = path.read_text(encoding="utf-8")
    for marker, names in (("accelerators", ROWS), ("fabrics", FABRICS)):
        words = ", ".join(f"`{name}`" for name in sorted(names))
        wrapped = "\n".join(textwrap.wrap(words, 128, break_on_hyphens=False))
        head, _, rest = text.partition(f"<!-- {marker} -->\n")
        text = f"{head}<!-- {marker} -->\n{wrapped}\n<!-- /{marker} -->{rest.partition(f'<!-- /{marker} -->')[2]}"
    path.write_text(text, encoding="utf-8")


def main() -> int:
    """Exit status 1 where a command ended with another status than the page says."""
    lists()
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
