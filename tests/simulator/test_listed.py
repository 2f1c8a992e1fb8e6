"""The number of pods in a world's JSON, and the warning if the budget is exceeded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ptcompile
from ptcompile.simulator import as_json
from tests import growing as many
from tests.cli.running import here


def test_the_list_ends_at_the_budget_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(as_json, "MAX_LISTED_CHARACTERS", 20_000)
    found = ptcompile.simulate(many.spec(nodes=100_000), target="job").to_dict(all_pods=True)
    assert 2 <= len(found["pods"]) < 20
    assert (found["podsTotal"], found["folded"]) == (100_000, True)
    [told] = found["diagnostics"]
    assert (told["name"], told["severity"]) == ("too-large", "warning")
    assert told["message"].startswith(f"the list ends after {len(found['pods'])} of 100000 pods")


def test_within_the_budget_all_are_listed() -> None:
    found = ptcompile.simulate(many.spec(nodes=70), target="job").to_dict(all_pods=True)
    assert (len(found["pods"]), found["folded"], found["diagnostics"]) == (70, False, [])


def test_the_command_says_it_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(as_json, "MAX_LISTED_CHARACTERS", 20_000)
    path = tmp_path / "a.yaml"
    path.write_text(many.spec(nodes=100), encoding="utf-8")
    done = here(capsys, "simulate", "--target", "job", "--format", "json", "--all", str(path))
    assert len(json.loads(done.out)["pods"]) < 100
    assert "of 100 pods" in done.err
    assert "--pod NAME" in done.err
