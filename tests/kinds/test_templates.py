"""What the kubelet does when a container exits: restart policies and rules.

Source: docs/facts/gangs.md#restarts-in-place.
"""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.kinds.model import KindContext
from ptcompile.kinds.templates import restart_sentences
from ptcompile.operators.table import kind_named

RULE = {"action": "Restart", "exitCodes": {"operator": "In", "values": [42, 137]}}
ALL = {"action": "RestartAllContainers", "exitCodes": {"operator": "NotIn", "values": [1]}}
NEVER = (
    "container pytorch, any other exit status: restartPolicy Never: a container that fails is not "
    "restarted in its pod"
)
UNCOUNTED = ", and no limit counts that"


def template(policy: str | None = None, **container: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "pytorch", **container}]}
    return spec if policy is None else {"restartPolicy": policy, **spec}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (template(), []),
        (
            template("Never", restartPolicy="Never", restartPolicyRules=[RULE]),
            [
                "container pytorch, exit status 42, 137: the kubelet restarts it in its "
                f"pod{UNCOUNTED}",
                NEVER,
            ],
        ),
        (
            template("OnFailure", restartPolicy="Never", restartPolicyRules=[ALL]),
            [
                "container pytorch, any exit status except 1: the kubelet restarts all containers "
                "of the pod in place, "
                "init containers too",
                NEVER,
            ],
        ),
        (
            template("Never", restartPolicy="OnFailure"),
            [
                "container pytorch, restartPolicy OnFailure: a container that fails is restarted "
                "in its pod by the "
                "kubelet"
            ],
        ),
    ],
)
def test_rules_of_containers_add_restart_sentences(
    spec: dict[str, Any], expected: list[str]
) -> None:
    first, *others = restart_sentences(spec, "Never")
    assert first.startswith(f"restartPolicy {spec.get('restartPolicy', 'Never')}: ")
    assert others == expected


@pytest.mark.parametrize("kind", ["Pod", "Job", "JobSet", "Volcano"])
def test_every_kind_says_it(kind: str) -> None:
    spec = template("Never", image="i:1", restartPolicy="Never", restartPolicyRules=[RULE])
    job = {"template": {"spec": spec}}
    objects: dict[str, tuple[str, Any]] = {
        "Pod": ("v1", spec),
        "Job": ("batch/v1", job),
        "JobSet": (
            "jobset.x-k8s.io/v1alpha2",
            {"replicatedJobs": [{"name": "a", "template": {"spec": job}}]},
        ),
        "Volcano": ("batch.volcano.sh/v1alpha1", {"tasks": [{"name": "a", "replicas": 1, **job}]}),
    }
    version, body = objects[kind]
    name = "Job" if kind == "Volcano" else kind
    manifest = {"apiVersion": version, "kind": name, "metadata": {"name": "a"}, "spec": body}
    (simulated,) = ptcompile.simulate(manifest).jobs
    assert any(
        "exit status 42, 137: the kubelet restarts it in its pod" in text
        for text in simulated.failure
    )


@pytest.mark.parametrize(
    ("spec", "exit_code", "expected"),
    [
        (template("Never", restartPolicy="Never", restartPolicyRules=[RULE]), 137, True),
        (template("Never", restartPolicy="Never", restartPolicyRules=[RULE]), 1, False),
        (
            template("Never", restartPolicy="Never", restartPolicyRules=[RULE]),
            None,
            False,
        ),  # the node is lost
        (template("Never", restartPolicy="Never", restartPolicyRules=[ALL]), 2, True),
        (template("Never", restartPolicy="Never", restartPolicyRules=[ALL]), 1, False),
        (template("Never", restartPolicy="OnFailure"), 1, True),
        (template("Never"), 1, False),
    ],
)
def test_rules_of_a_container_answer_its_failure(
    spec: dict[str, Any], exit_code: int | None, *, expected: bool
) -> None:
    """`rehearse` plays it: the container starts again in its pod, and no limit counts that."""
    job = {"backoffLimit": 0, "template": {"spec": spec}}
    replicated = [{"name": "node", "template": {"spec": job}}]
    objects = [
        ("v1", "Pod", spec),
        ("batch/v1", "Job", job),
        ("jobset.x-k8s.io/v1alpha2", "JobSet", None),
    ]
    for version, name, body in objects:
        manifest = {
            "spec": body or {"failurePolicy": {"maxRestarts": 1}, "replicatedJobs": replicated}
        }
        answers = kind_named((version, name)).restarts(manifest, "node", (), exit_code) or ()
        assert (
            [(answer.scope, answer.limit) for answer in answers[:1]] == [("container", None)]
        ) is expected


def test_in_place_restarts_of_a_jobset_are_told() -> None:
    spec = {
        "failurePolicy": {"maxRestarts": 2, "restartStrategy": "InPlaceRestart"},
        "replicatedJobs": [],
    }
    manifest = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "a"},
        "spec": spec,
    }
    texts = list(
        kind_named(("jobset.x-k8s.io/v1alpha2", "JobSet")).on_failure(manifest, KindContext())
    )
    assert any(text.startswith("restartStrategy InPlaceRestart: the pods stay") for text in texts)
