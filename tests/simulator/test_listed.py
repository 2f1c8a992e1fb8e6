"""The number of pods in a world's JSON, and the warning if the budget is exceeded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ptcompile
from ptcompile.simulator import as_json
from tests import growing as many
from tests.cli.running import here


def test_the_list_ends_at_the_budget_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(as_json, "MAX_LISTED_CHARACTERS", 20_000)
    world = ptcompile.simulate(many.spec(nodes=100_000), target="job").to_dict(all_pods=True)
    assert 2 <= len(world["pods"]) < 20
    assert world["podsTotal"] == 100_000
    assert world["folded"] is True
    [diagnostic] = world["diagnostics"]
    assert (diagnostic["name"], diagnostic["severity"]) == ("too-large", "warning")
    assert diagnostic["message"].startswith(
        f"the list ends after {len(world['pods'])} of 100000 pods"
    )


def test_all_pods_within_the_budget_are_listed() -> None:
    world = ptcompile.simulate(many.spec(nodes=70), target="job").to_dict(all_pods=True)
    assert len(world["pods"]) == 70
    assert world["folded"] is False
    assert world["diagnostics"] == []


def test_the_command_prints_the_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(as_json, "MAX_LISTED_CHARACTERS", 20_000)
    path = tmp_path / "a.yaml"
    path.write_text(many.spec(nodes=100), encoding="utf-8")
    result = here(capsys, "simulate", "--target", "job", "--format", "json", "--all", str(path))
    assert len(json.loads(result.out)["pods"]) < 100
    assert "of 100 pods" in result.err
    assert "--pod NAME" in result.err
