"""Argo templates, run as Argo's executor does: create the object, then poll it until a condition is true."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

import ptcompile
from ptcompile.adapters import argo
from ptcompile.operators.targets import TARGETS
from tests.adapters.fake_api import FakeApi, Json

SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: train, namespace: team-a}
spec: {image: "registry.example.com/x:1", script: train.py, resources: {cpu: 1, memory: 1Gi}}
"""


def _holds(requirement: str, live: Json) -> bool:
    """Return whether the object meets a requirement (argo-workflows 4.1, `workflow/executor/resource.go`)."""
    path, _, wanted = requirement.partition(" ")
    value: Any = live
    for key in path.split("."):
        if isinstance(value, list):
            value = value[int(key)] if int(key) < len(value) else None
        else:
            value = (value or {}).get(key)
    return (
        value is not None if not wanted else value in re.findall(r"\w+", wanted.removeprefix("in"))
    )


def _executed(template: Json, fake: FakeApi) -> str:
    """Return the step's phase. Without a condition, the step succeeds when the object exists."""
    resource = template["resource"]
    (body,) = yaml.safe_load_all(resource["manifest"])
    plural = f"{body['kind'].lower()}s"
    status, live = fake.create(body["apiVersion"], plural, body["metadata"]["namespace"], body)
    assert status == 201, live
    if "successCondition" not in resource:
        return "Succeeded"
    group = "api" if "/" not in body["apiVersion"] else "apis"
    path = f"/{group}/{body['apiVersion']}/namespaces/team-a/{plural}/{body['metadata']['name']}"
    for _ in range(5):
        _, live = fake.answer("GET", path, None)
        if any(
            _holds(part, live) for part in re.split(r", (?![^(]*\))", resource["failureCondition"])
        ):
            return "Failed"
        if _holds(resource["successCondition"], live):
            return "Succeeded"
    return "Running"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("ends", "phase"), [(True, "Succeeded"), (False, "Failed"), (None, "Running")]
)
def test_steps_end_as_the_job_does_on_every_target(
    target: str, ends: bool | None, phase: str, fake: FakeApi
) -> None:
    nodes = SPEC if target == "pod" else SPEC.replace("script:", "nodes: 2, script:")
    made = argo.templates(ptcompile.compile(nodes, target=target))
    fake.ends = ends
    *before, last = [_executed(one, fake) for one in made]
    assert set(before) <= {"Succeeded"}
    assert last == phase


def test_the_workflow_runs_the_templates_in_order() -> None:
    made = argo.workflow(
        ptcompile.compile(SPEC.replace("script:", "nodes: 2, script:"), target="job")
    )
    first, *rest = made["spec"]["templates"]
    assert (
        [step[0]["template"] for step in first["steps"]]
        == [one["name"] for one in rest]
        == ["service-0", "job-1"]
    )
    assert made["metadata"] == {"generateName": "train-", "namespace": "team-a"}
    assert all(one["resource"]["setOwnerReference"] for one in rest)
    assert "successCondition" not in rest[0]["resource"]
    owned = argo.templates(ptcompile.compile(SPEC), owned=False)
    assert "setOwnerReference" not in owned[-1]["resource"]
    assert (
        argo.workflow(ptcompile.compile(SPEC), service_account="runner")["spec"][
            "serviceAccountName"
        ]
        == "runner"
    )


def test_argo_placeholders_are_rejected() -> None:
    result = ptcompile.compile(SPEC.replace("script:", 'args: ["{{x}}"], script:'))
    with pytest.raises(ValueError, match=r"has '\{\{', which Argo would substitute"):
        argo.templates(result)


def test_invalid_specs_have_no_templates() -> None:
    with pytest.raises(ptcompile.CompileError):
        argo.templates(ptcompile.compile(SPEC.replace("script: train.py", "script: 3")))
