"""The model of Kueue's scheduler against Kueue's own answers, and what it says beyond them."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from tests.operators.kueue.scheduler.answers import objects_of, scenarios

Json = dict[str, Any]
FAMILIES = sorted({row["family"] for row in scenarios()})


def answer(job: Json) -> Json:
    """Return a job's answer in the form of the recorded ones."""
    sets = [
        {key: pod_set[key] for key in ("name", "count", "flavors", "topology") if key in pod_set}
        for pod_set in job["podSets"]
    ]
    return {"admitted": job["admitted"], "preempted": job["preempted"], "podSets": sets}


@pytest.mark.parametrize("family", FAMILIES)
def test_jobs_are_admitted_as_by_kueue(family: str) -> None:
    """Outcome, counts, flavors and the domain of every pod of all jobs."""
    for row in (row for row in scenarios() if row["family"] == family):
        jobs = ptcompile.admit(row["jobs"], state=objects_of(row)).to_dict()["jobs"]
        for name, told in row["answers"].items():
            if told["outcome"] == "no workload":
                assert not jobs.get(name, {}).get("admitted"), (row["id"], name)
                continue
            expected = {
                "admitted": told["outcome"] == "admitted",
                "preempted": told["outcome"] == "preempted",
                "podSets": told.get("podSets", []),
            }
            assert answer(jobs[name]) == expected, (row["id"], name)


def test_what_never_fits_is_what_kueue_does_not_admit_alone() -> None:
    for row in scenarios():
        jobs = ptcompile.admit(row["jobs"], state=objects_of(row)).to_dict()["jobs"]
        for name, expected in row["answers"].items():
            if jobs.get(name, {"admitted": True})["admitted"] or "alone" not in expected:
                continue
            assert (jobs[name]["outcome"] == "waits") == expected["alone"], (row["id"], name)


def test_the_reason_is_kueue_s_message() -> None:
    """Of waiting jobs that Kueue looked at; the rest of a message may name more flavors and resources."""
    same = different = 0
    for row in scenarios():
        jobs = ptcompile.admit(row["jobs"], state=objects_of(row)).to_dict()["jobs"]
        for name, expected in row["answers"].items():
            if (
                expected["outcome"] == "pending"
                and "message" in expected
                and expected.get("alone") is False
            ):
                is_same = jobs[name]["reason"].startswith(expected["message"])
                same, different = same + is_same, different + (not is_same)
    assert same > 100
    assert different <= 12
