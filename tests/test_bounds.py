"""CONTRIBUTING.md#laws (7) for all verbs: inputs that expand far beyond their size need little memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

import ptcompile
from tests import growing as many
from tests.bombs import BOMBS, VERBS
from tests.conftest import ROOT
from tests.counting import steps


@pytest.mark.parametrize("verb", VERBS)
def test_no_bomb_takes_memory_or_minutes(verb: str) -> None:
    words = [sys.executable, "-m", "tests.bombs", verb]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == f"survived {len(BOMBS)}\n", done.stderr[-1500:]


GROWING: list[tuple[Callable[[str], object], Callable[[int], str], int]] = [
    (ptcompile.import_manifests, many.manifests, 3),
    (ptcompile.requires, many.specs, 4),
    (lambda text: ptcompile.convert(text, target="job"), many.manifests, 2),
]


@pytest.mark.parametrize(("work", "text", "n"), GROWING, ids=["import", "requires", "convert"])
def test_the_other_verbs_grow_as_their_input_does(
    work: Callable[[str], object], text: Callable[[int], str], n: int
) -> None:
    texts = [text(size) for size in (n, n, 2 * n, 4 * n)]
    _, once, twice, more = (steps(lambda one=one: work(one)) for one in texts)  # type: ignore[misc]
    assert (more - twice) / (twice - once) < 2.3
