"""Definitions of names: volumes, objects and entries of the profile."""

from __future__ import annotations

import pytest

from ptcompile.server.definition import definition
from tests.recordings import AGAIN, RECORDINGS, recorded
from tests.server.making import POD, SPEC, at_cursor, elsewhere, with_profile

OTHER = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: team-a}
"""
PROFILE = """\
apiVersion: ptcompile/v1
kind: ClusterProfile
metadata: {name: prod}
spec:
  accelerators:
    big: {nodeLabels: {pool: big}}
  defaults: {queue: research}
"""


def definitions_of(text: str, **given: object) -> list[tuple[str, int, int]]:
    document, position = at_cursor(text, **given)
    return [
        (at.uri, at.range.start.line, at.range.start.character)
        for at in definition(document, position)
    ]


def test_a_mount_leads_to_its_volume() -> None:
    assert definitions_of(POD.replace("{name: data, mount", "{name: da|ta, mount")) == [
        ("file:///w/a.yaml", 12, 4)
    ]


def test_a_mount_of_a_role_leads_to_the_volume_of_the_job() -> None:
    text = (
        SPEC
        + "  volumes:\n  - {name: data, emptyDir: {}}\n  worker: {volumeMounts: [{name: da|ta, mountPath: /d}]}\n"
    )
    assert definitions_of(text) == [("file:///w/a.yaml", 13, 4)]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (SPEC.replace("NCCL_DEBUG: INFO", "A: {configMapKeyRef: {name: set|tings, key: a}}"), 3),
        (SPEC + "  envFrom: [{configMapRef: {name: se|ttings}}]\n", 3),
        (POD.replace("emptyDir: {}", "configMap: {name: setting|s}"), 3),
        (SPEC + "  runtimeRef: {name: to|rch}\n", 7),
        (SPEC + "  queue: team|-a\n", 11),
        (
            POD.replace("{name: train}", "{name: a, labels: {kueue.x-k8s.io/queue-name: team|-a}}"),
            11,
        ),
    ],
)
def test_a_name_leads_to_the_object_in_another_file(text: str, line: int) -> None:
    ((uri, at, _),) = definitions_of(text, elsewhere=elsewhere(OTHER))
    assert (uri, at) == ("file:///w/other.yaml", line)


def test_a_name_leads_to_the_object_in_the_same_file() -> None:
    text = POD.replace("emptyDir: {}", "configMap: {name: setting|s}") + "---\n" + OTHER
    assert definitions_of(text) == [
        ("file:///w/a.yaml", text.count("\n", 0, text.index("name: settings\n")), 8)
    ]


def test_names_lead_to_the_profile() -> None:
    settings = with_profile(PROFILE)
    assert definitions_of(SPEC + "  accelerator: bi|g\n", settings=settings) == [
        ("file:///w/cluster.yaml", 5, 4)
    ]
    assert [
        line for _, line, _ in definitions_of(SPEC + "  queue: rese|arch\n", settings=settings)
    ] == [6]
    assert definitions_of(SPEC + "  queue: oth|er\n", settings=settings) == []


def test_other_texts_have_no_definition() -> None:
    assert definitions_of(SPEC.replace("train.py", "tra|in.py")) == []
    assert definitions_of("a: [|") == []


def test_definitions_are_as_recorded() -> None:
    assert RECORDINGS["server/definitions.txt"]() == recorded("server/definitions.txt"), AGAIN
