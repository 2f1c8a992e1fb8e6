"""The README's example of an import is what import makes of it."""

from __future__ import annotations

import re
from pathlib import Path

import ptcompile

README = (Path(__file__).parent.parent.parent / "README.md").read_text(encoding="utf-8")


def test_the_example_is_what_import_writes() -> None:
    section = README[README.index("## I already have manifests") :]
    before, after = re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)[:2]
    imported = ptcompile.import_manifests(before)
    assert imported.ok
    assert imported.found[0].same_world
    assert imported.yaml() == after
