"""Write into README.md and docs/ what their commands print now: `python -m website.refresh [PAGE...]`.

The lists of accelerators and fabrics in docs/guide/clusters.md too, and the tables of kinds in docs/guide/lint.md.
"""

from __future__ import annotations

import json
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

from ptcompile.apiserver.kinds import BUILT_IN, is_built_in, known_kinds
from ptcompile.apiserver.validation import has_field_rules
from ptcompile.hardware.accelerators import ROWS
from ptcompile.hardware.fabrics import FABRICS
from website.blocks import PAGES, ROOT, update


def lists() -> None:
    """The names between the comments of docs/guide/clusters.md."""
    path = ROOT / "docs" / "guide" / "clusters.md"
    text = path.read_text(encoding="utf-8")
    for marker, names in (("accelerators", ROWS), ("fabrics", FABRICS)):
        words = ", ".join(f"`{name}`" for name in sorted(names))
        text = with_block(
            text, marker, "\n".join(textwrap.wrap(words, 128, break_on_hyphens=False))
        )
    path.write_text(text, encoding="utf-8")


def with_block(text: str, marker: str, content: str) -> str:
    """The text with this content between the comments of a marker."""
    head, _, rest = text.partition(f"<!-- {marker} -->\n")
    return f"{head}<!-- {marker} -->\n{content}\n<!-- /{marker} -->{rest.partition(f'<!-- /{marker} -->')[2]}"


def built_in_kinds() -> Iterator[tuple[str, str]]:
    """Yield the apiVersion and kind of each object that Kubernetes itself stores or answers."""
    yield from BUILT_IN
    index = json.loads((ROOT / "schemas" / "kubernetes" / "kinds.json").read_text(encoding="utf-8"))
    for version, names in index.items():
        yield from ((version, name) for name in names if (version, name) not in BUILT_IN)


def kind_tables() -> dict[str, str]:
    """The tables of docs/guide/lint.md, by marker: a row for each API group with its kinds."""
    tables = {}
    for marker, checked in (("kinds with field rules", True), ("other kinds", False)):
        groups: dict[str, set[str]] = {}
        for version, name in filter(is_built_in, known_kinds()):
            if has_field_rules((version, name)) == checked:
                groups.setdefault(version.rpartition("/")[0], set()).add(name)
        if not checked:  # an older model of a kind that has rules
            groups = {
                g: names - _with_rules(g) for g, names in groups.items() if names - _with_rules(g)
            }
        rows = [
            f"| {group or 'core'} | {', '.join(sorted(names))} |"
            for group, names in sorted(groups.items())
        ]
        tables[marker] = "\n".join(("| API group | Kinds |", "|---|---|", *rows))
    return tables


def _with_rules(group: str) -> set[str]:
    kinds = [kind for kind in known_kinds() if is_built_in(kind) and has_field_rules(kind)]
    return {name for version, name in kinds if version.rpartition("/")[0] == group}


def kinds() -> None:
    """The tables of kinds in docs/guide/lint.md."""
    path = ROOT / "docs" / "guide" / "lint.md"
    text = path.read_text(encoding="utf-8")
    for marker, table in kind_tables().items():
        text = with_block(text, marker, table)
    path.write_text(text, encoding="utf-8")


def main() -> int:
    """Exit status 1 where a command ended with another status than the page says."""
    lists()
    kinds()
    pages = [Path(name).resolve() for name in sys.argv[1:]] or PAGES
    wrong = 0
    for page in pages:
        with tempfile.TemporaryDirectory() as folder:
            for one in update(page, Path(folder)):
                wrong = 1
                sys.stderr.write(
                    f"{page}: {one.command.strip()}: {one.shown}, but {one.happened}\n"
                )
    return wrong


if __name__ == "__main__":
    sys.exit(main())
