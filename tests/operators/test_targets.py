"""Properties of every target: names, defaults, messages, plain data."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from ptcompile.diagnostics import field_path
from ptcompile.operators.targets import TARGETS, default_target, target_named
from tests import making
from tests.making import DEFAULT_CLUSTER, compiled, smallest, text

REFUSED = {
    "pod": ["nodes: 2", "runPolicy: {suspend: true}", "restartPolicy: ExitCode"],
    "job": [
        "restartPolicy: Always",
        "runPolicy: {cleanPodPolicy: All}",
        "master: {image: x}\nworker: {}",
    ],
    "volcano": [
        "restartPolicy: Always",
        "runPolicy: {suspend: true}",
        "podTemplate: {spec: {hostname: h}}",
    ],
}
ROWS = [(target, body) for target, bodies in REFUSED.items() for body in bodies]


def test_names_match_keys_and_files() -> None:
    for name in TARGETS:
        target = target_named(name)
        assert target.name == name
        assert re.fullmatch(r"ptcompile\.operators\.[a-z]+\.emit", target.unsupported.__module__)
        assert target.title


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("", ["Pod"]),
        ("nodes: 1", ["Pod"]),
        ("elastic: {nnodes: 1}", ["Pod"]),
        ("elastic: {nnodes: '1'}", ["Pod"]),  # docs/facts/flyte.md#defects 2
        ("elastic: {nnodes: '1:1'}", ["Pod"]),
        ("worker: {replicas: 0}", ["Pod"]),
        ("nodes: 2", ["Service", "Job"]),
        ("elastic: {nnodes: '1:2'}", ["Service", "Job"]),
        ("runPolicy: {ttlSecondsAfterFinished: 0}", ["Job"]),
        ("runPolicy: {backoffLimit: 2}", ["Job"]),
        ("runPolicy: {activeDeadlineSeconds: 60}", ["Pod"]),
    ],
)
def test_default_target_fits_the_spec(body: str, kind: list[str]) -> None:
    assert [manifest["kind"] for manifest in compiled(smallest(body)).manifests] == kind


def test_the_caller_overrides_the_target_of_the_spec() -> None:
    assert (
        compiled(smallest("target: volcano")).manifests[0]["apiVersion"]
        == "batch.volcano.sh/v1alpha1"
    )
    assert compiled(smallest("target: volcano"), "pod").manifests[0]["kind"] == "Pod"


def test_the_default_needs_no_operator() -> None:
    assert default_target(making.job(replicas=2), DEFAULT_CLUSTER) is target_named("job")
    assert default_target(making.job(), DEFAULT_CLUSTER) is target_named("pod")


def test_job_with_a_runtime_is_a_trainjob() -> None:
    for words in ("runtimeRef: {name: ours}", "runtimeRef: {name: ours}\nqueue: research"):
        made = compiled(text(words)).manifests
        assert [one["kind"] for one in made] == ["TrainJob"]


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ("nodes: 2", "job"),
        ("master: {}\nworker: {replicas: 2, env: {A: b}}", "jobset"),
        ("nodes: 2\nrunPolicy: {onPodFailure: RestartJob}", "jobset"),
        (
            "nodes: 2\nrunPolicy: {cleanPodPolicy: All}",
            "job",
        ),  # a JobSet does not support it either
        ("roles: {loader: {resources: {cpu: 1}}}\nqueue: q", "jobset"),
    ],
)
def test_default_is_a_jobset_only_if_no_other_target_fits(body: str, target: str) -> None:
    chosen = compiled(smallest(body)).target
    assert chosen is target_named(target)


def test_spot_job_is_a_job_with_a_warning() -> None:
    assert compiled(
        smallest("nodes: 2\nspot: true"), None, making.profile({"cloud": "gke"})
    ).target is target_named("job")


@pytest.mark.parametrize(("target", "body"), ROWS)
def test_rejection_starts_with_the_field_and_has_help(target: str, body: str) -> None:
    for problem in compiled(smallest(body), target).problems:
        assert problem.message.startswith(field_path(problem.path) + ": ")
        assert problem.severity == "error"


@pytest.mark.parametrize("target", TARGETS)
def test_name_that_is_too_long_is_explained(target: str) -> None:
    body = "nodes: 2" if target != "pod" else ""
    (problem,) = compiled(smallest(body, "a" * 64), target).problems
    assert problem.path == ("metadata", "name")
    assert problem.message.startswith("metadata.name: ")
    assert problem.help


@pytest.mark.parametrize("target", [name for name in TARGETS if name != "pod"])
def test_help_for_a_long_name_proposes_one_that_fits(target: str) -> None:
    (problem,) = compiled(smallest("nodes: 2", "a" * 63), target).problems
    assert problem.name == "name-too-long"
    room = int("".join(c for c in (problem.help or "").partition("characters")[0] if c.isdigit()))
    assert compiled(smallest("nodes: 2", "a" * room), target).manifests


@pytest.mark.parametrize("target", TARGETS)
def test_manifests_are_plain_json_and_share_nothing(target: str) -> None:
    body = "nodes: 2\nresources: {gpu: 1}\n" if target != "pod" else "resources: {gpu: 1}\n"
    body += "envFrom: [{secretRef: {name: s}}]\nimagePullSecrets: [{name: r}]"
    manifests = compiled(smallest(body), target).manifests
    assert json.loads(json.dumps(manifests)) == list(manifests)
    plain: list[Any] = [*manifests]
    seen: set[int] = set()
    for one in plain:
        assert type(one) in (dict, list, str, int, float, bool, type(None))
        if isinstance(one, dict | list) and one:
            assert id(one) not in seen, f"one object stands twice: {one}"
            seen.add(id(one))
            plain += one.values() if isinstance(one, dict) else one


def test_operator_variables_override_user_variables() -> None:
    """The operator appends its variables after the user's, so the operator's values win.

    Source: docs/facts/training-operator.md#environment and docs/facts/volcano.md#the-pytorch-plugin.
    """
    basics = {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"}
    assert basics <= target_named("pytorchjob").overwrites.keys()
    assert basics <= target_named("volcano").overwrites.keys()
    assert target_named("pytorchjob").overwrites["PYTHONUNBUFFERED"] == "1"
