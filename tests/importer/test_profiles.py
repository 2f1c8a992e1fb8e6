"""The profile of an import: the fields that all jobs share, if they compile to the same objects with it."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.importer.profiles import MINIMAL, factor_out_profile, needed_profile

Json = dict[str, Any]


def spec(name: str = "a", labels: Json | None = None, **fields: Any) -> Json:
    """Return a small spec."""
    metadata = {"name": name, **({"labels": labels} if labels else {})}
    job = {"image": "a:1", "script": "t.py", **fields}
    return {"apiVersion": "ptcompile/v1", "kind": "TrainingJob", "metadata": metadata, "spec": job}


def moved(specs: list[Json], needed: Json | None = None) -> tuple[list[Json], Json]:
    """Return what is left of each spec besides image and script, and the defaults of the profile.

    Every spec still compiles to the same objects.
    """
    remaining, profile, _ = factor_out_profile(specs, needed)
    for old, new in zip(specs, remaining, strict=True):
        assert ptcompile.compile(old, cluster=needed or MINIMAL, lint=False).manifests == (
            ptcompile.compile(new, cluster=profile or MINIMAL, lint=False).manifests
        )
    left = [
        {key: value for key, value in one["spec"].items() if key not in ("image", "script")}
        for one in remaining
    ]
    return left, (profile or {"spec": {}})["spec"].get("defaults", {})


@pytest.mark.parametrize(
    "fields",
    [
        {"env": {"A": "1"}},
        {"env": {"A": "1", "B": "2"}},
        {"nodeSelector": {"pool": "a"}},
        {"serviceAccountName": "trainer"},
        {"schedulerName": "own"},
        {"imagePullSecrets": [{"name": "registry"}]},
        {"tolerations": [{"key": "a", "operator": "Exists"}]},
    ],
)
def test_three_jobs_share_a_field(fields: Json) -> None:
    assert moved([spec(name, **fields) for name in "abc"]) == ([{}, {}, {}], fields)
    assert moved([spec(name, **fields) for name in "ab"]) == ([fields, fields], {}), (
        "two jobs are too few"
    )
    assert moved([spec("a"), *(spec(name, **fields) for name in "bc")])[1] == {}


def test_what_jobs_do_not_share_stays() -> None:
    specs = [spec(name, env={"A": "1", "NAME": name}) for name in "abc"]
    assert moved(specs) == ([{"env": {"NAME": name}} for name in "abc"], {"env": {"A": "1"}})


def test_variables_that_jobs_remove_stay() -> None:
    fields = {"env": {"A": None}}
    assert moved([spec(name, **fields) for name in "abc"]) == ([fields] * 3, {})


def test_labels_of_both_job_and_pods_move_to_the_profile() -> None:
    team = {"team": "a"}
    specs = [spec(name, team, podLabels=team) for name in "abc"]
    remaining, profile, _ = factor_out_profile(specs, None)
    assert [one["metadata"] for one in remaining] == [{"name": name} for name in "abc"]
    assert all("podLabels" not in one["spec"] for one in remaining)
    assert profile is not None
    assert profile["spec"]["defaults"] == {"labels": team}
    assert factor_out_profile([spec(name, team) for name in "abc"], None)[1] is None, (
        "the pods would get it too"
    )


def test_values_that_refer_to_others_stay() -> None:
    """A reference sees the variables that come before it, so moving one of them changes its value."""
    fields = {"env": {"A": "1", "B": "$(A)"}}
    assert moved([spec(name, **fields) for name in "abc"]) == ([fields] * 3, {})


def test_specs_that_do_not_compile_stay() -> None:
    specs = [spec(name, env={"A": "1"}, nodes=0) for name in "abc"]
    assert factor_out_profile(specs, None) == (specs, None, [])
    specs, unreadable = (
        [spec(name, env={"A": "1"}) for name in "abc"],
        {**MINIMAL, "spec": {"gpu": 3}},
    )
    assert factor_out_profile(specs, unreadable) == (specs, unreadable, [])


def test_the_profile_of_the_proofs_is_kept() -> None:
    plain, shared = [spec(name) for name in "abc"], [spec(name, env={"A": "1"}) for name in "abc"]
    assert factor_out_profile(plain, None)[1] is None
    assert factor_out_profile(plain, MINIMAL)[1] == MINIMAL
    profile = factor_out_profile(shared, MINIMAL)[1]
    assert profile is not None
    assert profile["spec"] == {**MINIMAL["spec"], "defaults": {"env": {"A": "1"}}}


@pytest.mark.parametrize(
    ("values", "notes"),
    [
        ("112", ["not moved to the profile, because some jobs differ: env A"]),
        ("1122", ["not moved to the profile, because some jobs differ: env A, A"]),
        ("1123", ["not moved to the profile, because some jobs differ: env A"]),
        ("123", []),
        ("111", []),
        ("12", []),
    ],
)
def test_values_that_most_jobs_share_are_noted(values: str, notes: list[str]) -> None:
    specs = [spec(f"a{index}", env={"A": value}) for index, value in enumerate(values)]
    assert factor_out_profile(specs, None)[2] == notes


def test_a_profile_is_needed_if_the_built_in_one_adds_fields() -> None:
    assert needed_profile([spec(), spec(resources={"gpu": 1})]) == MINIMAL
    assert needed_profile([spec(), spec(resources={"cpu": 1})]) is None
