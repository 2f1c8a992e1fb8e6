"""Devices, ends, rights, schedules: each kind of fault in several spellings, and right ones beside them.

In `ends.txt` each text follows a line with the code that it must have, or after `!`, must not have.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ptcompile

CASES = [
    case.partition("\n")[::2]
    for case in re.split(
        r"(?m)^=== ", (Path(__file__).parent / "ends.txt").read_text(encoding="utf-8")
    )[1:]
]


@pytest.mark.parametrize(("head", "text"), CASES, ids=[head for head, _ in CASES])
def test_each_end_has_its_codes(head: str, text: str) -> None:
    wanted = head.partition(" ")[0]
    codes = {diagnostic.code for diagnostic in ptcompile.lint(text).diagnostics}
    if wanted.startswith("!"):
        assert wanted[1:] not in codes
    else:
        assert codes.issuperset(wanted.split(","))


PROFILE = (
    "apiVersion: ptcompile/v1\nkind: ClusterProfile\nmetadata: {name: c}\nspec: {versions: {%s}}\n"
)
QUEUED = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: train, labels: {kueue.x-k8s.io/queue-name: research}}
spec:
  suspend: true
  runtimeRef: {name: torch-distributed}
  trainer: {numNodes: 2, image: "ghcr.io/acme/train:1.0", command: [torchrun, train.py]}
"""


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ('kueue: "0.17", trainer: "2.1"', True),
        ('kueue: "0.19", trainer: "2.0"', True),
        ('kueue: "0.16", trainer: "2.2"', True),
        ('kueue: "0.14", trainer: "2.0"', True),
        ('trainer: "2.2", jobset: "0.10"', True),
        ('kueue: "0.16", trainer: "2.1"', False),
        ('kueue: "0.19", trainer: "2.3"', False),
        ('kueue: "0.16"', False),  # nothing says which Trainer
        ('trainer: "2.1", jobset: "0.10"', False),
    ],
)
def test_releases_that_do_not_work_together_are_reported(versions: str, expected: bool) -> None:
    diagnostics = ptcompile.lint(QUEUED, cluster=PROFILE % versions).diagnostics
    assert ("PTC296" in {diagnostic.code for diagnostic in diagnostics}) is expected


def test_a_job_without_a_queue_does_not_need_kueue() -> None:
    text = QUEUED.replace(", labels: {kueue.x-k8s.io/queue-name: research}", "")
    diagnostics = ptcompile.lint(
        text, cluster=PROFILE % 'kueue: "0.17", trainer: "2.1"'
    ).diagnostics
    assert "PTC296" not in {diagnostic.code for diagnostic in diagnostics}
