"""Predictions of simulate, compared with recorded runs of torchrun (tests/recorded/torchrun, one file per version)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import ptcompile
from ptcompile.api.rehearse import only_job
from ptcompile.kubernetes.versions import Versions
from ptcompile.rehearsal import fault
from ptcompile.rehearsal.cast import cast
from ptcompile.rehearsal.verdict import predict_end
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.launchers.torchrun import EXIT_BARRIER_SECONDS, FIRST_STORE, SHARED_STORE
from tests.recorded.torchrun.cases import CASES, FAULTS, SEVERAL, SHAPES, Case, profile

FOLDER = Path(__file__).parents[1] / "recorded" / "torchrun"
RECORDED = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))["cases"]
    for path in sorted(FOLDER.glob("[0-9]*.json"))
}
ROWS = [(release, name) for release, rows in RECORDED.items() for name in rows]
MOST_CHANCES = {"2.5": 6}
"""Releases that may leave more than `CHANCES` cases to chance: predicting nothing is never wrong, so it is limited."""
CHANCES = 4


@cache
def _job(case: Case, release: str) -> SimulatedJob:
    world = ptcompile.simulate(
        case.source, target=case.target or "default", cluster=profile(release)
    )
    assert world.ok, world.diagnostics
    return only_job(world)


def _end(case: Case, release: str) -> str | None:
    words = [word.split(" ") for word in case.faults]
    return predict_end(_job(case, release), [fault(kind, text) for kind, text in words]).end  # type: ignore[arg-type]


@pytest.mark.parametrize(("release", "name"), ROWS)
def test_the_recorded_end_is_the_predicted_one(release: str, name: str) -> None:
    assert _end(CASES[name], release) in (RECORDED[release][name]["seen"], None)


@pytest.mark.parametrize("release", RECORDED)
def test_little_is_left_to_chance(release: str) -> None:
    undecided = [name for name in RECORDED[release] if _end(CASES[name], release) is None]
    assert len(undecided) <= MOST_CHANCES.get(release, CHANCES), undecided


@pytest.mark.parametrize(
    ("release", "name"), [row for row in ROWS if RECORDED[row[0]][row[1]]["seen"] != "fail"]
)
def test_worlds_and_ranks_are_the_predicted_ones(release: str, name: str) -> None:
    rows: list[dict[str, Any]] = RECORDED[release][name]["pods"]
    actors = cast(_job(CASES[name], release), max_processes=2).actors
    assert len(rows) == len(actors)
    staying = [(row, actor) for row, actor in zip(rows, actors, strict=True) if row["exit"] == 0]
    world = sum(actor.processes for _, actor in staying)
    assert {tuple(row["meetings"][-1]) for row, _ in staying} == {(world, len(staying))}
    assert sorted(row["rank"] for row, _ in staying) == list(range(len(staying)))
    assert all(actor.rank in (None, str(row["rank"])) for row, actor in staying)


def test_every_era_has_recorded_failures() -> None:
    """The eras: no shared store, the rendezvous' store, and the first round's store."""
    eras = [(2, 2), (2, 5), (2, 13)]
    assert {".".join(map(str, era)) for era in eras} <= RECORDED.keys()
    assert eras[0] < SHARED_STORE <= eras[1] < FIRST_STORE <= eras[2]
    for rows in RECORDED.values():
        assert {
            "range-killed",
            "range-drained",
            "range-late",
            "range-process-fails",
            "shared-killed",
        } <= rows.keys()


def test_all_cases_are_recorded_for_the_newest_torch() -> None:
    newest = ".".join(map(str, Versions().torch))
    assert {case.name for case in (*SHAPES, *FAULTS)} <= RECORDED[newest].keys()


@pytest.mark.parametrize("release", ["2.13", "2.15"])
def test_several_faults_are_recorded(release: str) -> None:
    """At least 40 cases, in which each end occurs."""
    names = [case.name for case in SEVERAL if case.name in RECORDED[release]]
    assert len(names) >= 40
    assert {RECORDED[release][name]["seen"] for name in names} == {"all", "fewer", "fail"}


def test_the_store_leaves_with_its_host() -> None:
    """With c10d a slower pod is ended when the host of the store has waited for it, with static it is not."""
    endings = json.loads((FOLDER / "endings.json").read_text(encoding="utf-8"))
    assert (endings["c10d"]["exits"], endings["static"]["exits"]) == ([0, 1, 0], [0, 0, 0])
    assert int(endings["c10d"]["waited"]) == EXIT_BARRIER_SECONDS
