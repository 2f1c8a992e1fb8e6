"""`unknown-volcano-annotation`: misspelled keys on objects and templates of any kind."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile

TIER = "volcano.sh/network-topology-highest-tier"


def job(*keys: str, part: str = "annotations", in_template: bool = True) -> dict[str, Any]:
    """Return a Job with these annotations or labels."""
    entries = dict.fromkeys(keys, "1")
    container = {"name": "a", "image": "img:1", "command": ["python", "train.py"]}
    pod = {"schedulerName": "volcano", "restartPolicy": "Never", "containers": [container]}
    template = {"metadata": {part: entries} if in_template else {}, "spec": pod}
    metadata = {"name": "train", **({} if in_template else {part: entries})}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {"template": template},
    }


def helps(manifest: dict[str, Any]) -> list[str | None]:
    return [
        d.help
        for d in ptcompile.lint(manifest).diagnostics
        if d.name == "unknown-volcano-annotation"
    ]


@pytest.mark.parametrize("in_template", [True, False])
@pytest.mark.parametrize("part", ["annotations", "labels"])
def test_misspelled_keys_have_a_suggestion(part: str, in_template: bool) -> None:
    manifest = job(TIER + "s", part=part, in_template=in_template)
    assert helps(manifest) == [f"did you mean {TIER}?"]


@pytest.mark.parametrize(
    "key",
    [
        "volcano.sh/network-topology-mode",
        "scheduling.volcano.sh/group-min-member",
        "volcano.sh/something-else",
    ],
)
def test_known_keys_and_keys_that_resemble_none_have_no_help(key: str) -> None:
    assert helps(job(key)) == []


def test_keys_of_the_other_prefix_have_a_suggestion() -> None:
    manifest = job("scheduling.volcano.sh/group-min-members")
    assert helps(manifest) == ["did you mean scheduling.volcano.sh/group-min-member?"]


def test_no_fix_where_the_right_key_is_there_too() -> None:
    both = job("volcano.sh/preemptible", "volcano.sh/preemptable")
    (finding,) = [
        d for d in ptcompile.lint(both).diagnostics if d.name == "unknown-volcano-annotation"
    ]
    assert finding.fix is None
