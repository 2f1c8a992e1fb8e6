"""Words that change nothing are told in a note; those that count are not."""

from __future__ import annotations

import pytest

import ptcompile
from tests.making import smallest

TWO = "nodes: 2"
STATIC = "nodes: 2\nelastic: {nprocPerNode: 2, rdzvId: a}"


@pytest.mark.parametrize(
    ("body", "target", "told"),
    [
        ("masterPort: 1234", "job", ["masterPort"]),
        ("masterPort: 1234", "volcano", []),  # its plugin writes the port anyway
        (f"masterPort: 1234\n{TWO}", "job", []),
        (STATIC, "job", ["elastic", "rdzvId"]),
        (STATIC.replace("rdzvId: a", "rdzvId: a, maxRestarts: 1"), "job", []),
        (STATIC.replace("rdzvId: a", "rdzvId: null"), "job", []),
        ("elastic: {rdzvBackend: c10d}", "job", ["elastic", "rdzvBackend"]),
        (f"{TWO}\nelastic: {{rdzvBackend: c10d}}", "job", []),
        (f"names: {{worker: a}}\n{TWO}", "job", ["names", "worker"]),
        (f"names: {{worker: a}}\n{TWO}", "volcano", []),
        (f"names: {{node: a}}\n{TWO}", "jobset", []),
        ("names: {node: a}\nmaster: {}\nworker: {}", "jobset", ["names", "node"]),
    ],
)
def test_what_has_no_effect_is_told(body: str, target: str, told: list[str]) -> None:
    result = ptcompile.compile(smallest(body), target=target)
    found = [one for one in result.diagnostics if one.name == "word-without-effect"]
    assert result.ok
    assert [one.severity for one in found] == ["note"] * len(found)
    assert [list(one.path) for one in found][:1] == ([["spec", *told]] if told else [])
    assert all(one.span is not None for one in found)


@pytest.mark.parametrize("target", ["job", "volcano", "trainjob", "jobset"])
def test_pods_that_a_spec_wants_to_keep(target: str) -> None:
    keep = smallest(f"{TWO}\nrunPolicy: {{cleanPodPolicy: 'None'}}")
    (found,) = (one for one in ptcompile.compile(keep, target=target).diagnostics if one.path[-1] == "cleanPodPolicy")
    assert (found.name, found.severity) == ("done-differently", "note")
    assert "pytorchjob" in (found.help or "")
    assert not ptcompile.compile(keep, target="pytorchjob").diagnostics
    alone = keep.replace(TWO, "nodes: 1")
    assert not ptcompile.compile(alone, target=target).diagnostics, "it does not run when the job is over"


def test_a_pod_restarts_without_limit_or_not_at_all() -> None:
    unlimited = smallest("runPolicy: {backoffLimit: Unlimited}")
    (found,) = ptcompile.compile(unlimited, target="pod").diagnostics
    assert (found.name, found.path) == ("unsupported-by-target", ("spec", "runPolicy", "backoffLimit"))
    assert ptcompile.compile(unlimited + "  restartPolicy: OnFailure\n", target="pod").ok
