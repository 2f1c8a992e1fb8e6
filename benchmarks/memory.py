"""Memory of linting a stream: of the order of the stream, and not growing faster than it."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.jobs import documents
from benchmarks.timing import line

ROOT = Path(__file__).parents[1]
COUNTS = (1, 250, 500, 1000)
SCRIPT = """
import resource, sys, ptcompile
text = open(sys.argv[1], encoding="utf-8").read()
assert ptcompile.lint(text).ok
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def run() -> None:
    """Print the peak above that of one document, for streams of several lengths."""
    texts = documents(max(COUNTS))
    base = 0
    with TemporaryDirectory() as folder:
        for count in COUNTS:
            path = Path(folder) / "stream.yaml"
            path.write_text("---\n".join(texts[:count]), encoding="utf-8")
            peak = _peak(path)
            base = base or peak
            size = path.stat().st_size
            line(
                f"{count} documents, {size / 1e6:.2f} MB: peak {peak / 1e6:.1f} MB, above one",
                f"{(peak - base) / size:.1f} x text",
            )


def _peak(path: Path) -> int:
    words = [sys.executable, "-c", SCRIPT, str(path)]
    kilobytes = int(subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)
    return kilobytes * (1 if sys.platform == "darwin" else 1024) or resource.getpagesize()
