"""A plugin and the configurations that use it, for laws about what every verb and every door does with them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ptcompile.cli import config
from ptcompile.extending import Extensions
from ptcompile.extending.plugins import PASSES, RULES
from tests.extending.installing import install

_MODULE = """\
from ptcompile.extending import Found, Rule

RUNS = []

def labels(job, context):
    RUNS.append(job.name)
    return job._replace(labels={**job.labels, "acme.example/team": "a"})

def fails(job, context):
    raise ValueError("broken")

def no_owner(manifest, others):
    yield Found(("metadata",), "metadata: nobody owns it", help="name the owner")

RULES = (Rule("ACME001", "no-owner", no_owner, severity="error"),)
"""
LABELLING = 'plugins = ["acme-labels"]\n'
"""The configuration of a pass that labels every job."""
FAILING = 'plugins = ["acme-fails"]\n'
"""The configuration of a pass that raises an exception."""
JUDGING = 'plugins = ["acme-rules"]\n'
"""The configuration of a rule that finds every object."""
DECLARING = """\
[[rule]]
code = "ACME101"
name = "cost-center"
kind = ["Job", "TrainingJob"]
path = "metadata.labels"
expression = "'cost-center' in self"
message = "every job has the label cost-center"
severity = "error"
"""
"""A configuration with a rule of its own."""


def installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the plugins below a folder for this test."""
    points = {
        "acme-labels": {PASSES: {"labels": "acme_law:labels"}},
        "acme-fails": {PASSES: {"fails": "acme_law:fails"}},
        "acme-rules": {RULES: {"ACME": "acme_law:RULES"}},
    }
    for name, of in points.items():
        install(folder, name, of, {"acme_law.py": _MODULE}, "1.0")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "acme_law", raising=False)


def configured(text: str) -> Extensions | None:
    """Write a configuration to the current folder, and return what it adds."""
    Path("ptcompile.toml").write_text(text, encoding="utf-8")
    return config.load(None).extensions


def runs() -> list[str]:
    """Return the jobs that the pass of `LABELLING` has labelled."""
    found: list[str] = sys.modules["acme_law"].RUNS
    return found
