"""Words and forms that new users of other tools wrote first, and the help that they get."""

from __future__ import annotations

import pytest

import ptcompile
from tests.making import smallest

HELPS = [
    ("target: kubeflow-trainer-v2", "did you mean trainjob?"),
    ("target: training_operator", "did you mean pytorchjob?"),
    ("activeDeadlineSeconds: 24h", "write spec.runPolicy.activeDeadlineSeconds: 86400, in seconds"),
    ("timeout: 12h", "write spec.runPolicy.activeDeadlineSeconds: 43200, in seconds"),
    ("runPolicy: {activeDeadlineSeconds: 24h}", "write 86400, in seconds"),
    ("runPolicy: {ttlSecondsAfterFinished: 10m}", "write 600, in seconds"),
    (
        "volumeMounts: [/scratch]",
        "write {name: ..., mountPath: /scratch}, and a volume of this name in volumes",
    ),
    ("imagePullSecrets: [gar]", "write {name: gar}"),
    ("tolerations: [nvidia.com/gpu]", "write {key: nvidia.com/gpu, operator: Exists}"),
    ("env: {HF_TOKEN: {secret: hf}}", "write HF_TOKEN: {secretKeyRef: {name: ..., key: ...}}"),
    ("volumes: [{name: a, pvc: a}]", "write persistentVolumeClaim: {claimName: ...}"),
    ("env: {A: {configMap: hf}}", "write A: {configMapKeyRef: {name: ..., key: ...}}"),
    (
        "runPolicy: null",
        "leave it out: null stands only for values that something else would fill in",
    ),
]


@pytest.mark.parametrize(("body", "help"), HELPS, ids=[body for body, _ in HELPS])
def test_a_first_word_has_its_help(body: str, help: str) -> None:
    assert [finding.help for finding in ptcompile.compile(smallest(body)).diagnostics] == [help]


@pytest.mark.parametrize(
    ("name", "own"), [("gcp", "gke"), ("AWS", "eks"), ("azure", "aks"), ("oci", "oke")]
)
def test_a_vendor_s_name_suggests_its_cloud(name: str, own: str) -> None:
    profile = {
        "apiVersion": "ptcompile/v1",
        "kind": "ClusterProfile",
        "metadata": {"name": "p"},
        "spec": {"cloud": name},
    }
    (finding,) = ptcompile.compile(smallest(), cluster=profile).diagnostics
    assert finding.help == f"did you mean {own}?"


def test_seconds_and_secrets_are_fixed() -> None:
    body = "runPolicy: {activeDeadlineSeconds: 2h}\nimagePullSecrets: [gar]"
    fixes = [finding.fix for finding in ptcompile.lint(smallest(body)).diagnostics]
    assert [edit.value for fix in fixes if fix for edit in fix.edits] == [{"name": "gar"}, 7200]
