"""Make docs/assets/explain.png, the picture of the README: `python -m website.picture`, where chromium is installed."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.explainer.page.browser import browser
from website.blocks import ROOT, blocks

PICTURE = ROOT / "docs" / "assets" / "explain.png"


def main() -> None:
    """The page of the README's job, with the pointer on its line `elastic`."""
    spec = next(
        one
        for one in blocks((ROOT / "README.md").read_text(encoding="utf-8"))
        if one.title == "job.yaml"
    ).text
    line = 1 + next(
        at for at, text in enumerate(spec.splitlines()) if text.startswith("  elastic:")
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "job.yaml").write_text(spec, encoding="utf-8")
        words = [sys.executable, "-m", "ptcompile", "explain", "job.yaml", "--html", "page.html"]
        subprocess.run(words, cwd=folder, check=True)
        with browser() as tab:
            light = {"prefers_color_scheme": "light", "prefers_reduced_motion": "reduce"}
            tab.open(Path(folder, "page.html"), width=1200, height=760, **light)
            tab.hover(f"#spec-{line} code")
            tab.screenshot(PICTURE)


if __name__ == "__main__":
    main()
