"""A file over the object that lies in the cluster: what other managers wrote stays, and the outcome is the server's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

import ptcompile
from ptcompile.cli import main
from ptcompile.differ import Difference
from ptcompile.differ.applying import three_way_merge
from tests import making, recorded

UNCHANGED = list(recorded.rows("apiserver/live/unchanged"))
CHANGED = list(recorded.rows("apiserver/live/changed"))
PARTS = 4
"""Parts of the changed files, so that several processes share them."""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def rejections(difference: Difference) -> list[str]:
    return [
        d.message
        for d in difference.diagnostics
        if d.severity == "error" and d.stage == "apply" and d.authority == "kube-apiserver"
    ]


@pytest.mark.parametrize("row", UNCHANGED, ids=lambda row: str(row["id"]))
def test_an_unchanged_file_is_not_rejected_and_changes_nothing(row: Mapping[str, Any]) -> None:
    difference = ptcompile.diff(
        row["live"], row["manifest"], server_side=row["how"] == "server-side"
    )
    assert rejections(difference) == []
    assert not difference.differs


@pytest.mark.parametrize("annotated", [True, False])
def test_managed_fields_are_not_needed(annotated: bool) -> None:
    """`kubectl get -o yaml` does not print them, and what `kubectl create` made has no annotation."""
    for row in UNCHANGED:
        live = json.loads(json.dumps(row["live"]))
        live["metadata"].pop("managedFields", None)
        if not annotated:
            live["metadata"].get("annotations", {}).pop(LAST_APPLIED, None)
        difference = ptcompile.diff(live, row["manifest"], server_side=row["how"] == "server-side")
        assert rejections(difference) == [], row["id"]


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("force", [True, False])
def test_the_verdict_on_a_changed_file_is_the_servers(force: bool, part: int) -> None:
    wrong = set()
    for row in CHANGED[part::PARTS]:
        difference = ptcompile.diff(
            row["live"], row["manifest"], server_side=True, force_conflicts=force
        )
        if bool(rejections(difference)) == row["accepted" if force else "unforced"]:
            wrong.add((row["id"], row["accepted"]))
    assert wrong == set()


def live_job(**changes: Any) -> dict[str, Any]:
    """Return a Job as the cluster has it, made by `kubectl apply` of `job_file()`."""
    container = {"name": "c", "image": "i:1", "terminationMessagePath": "/dev/termination-log"}
    spec = {
        "parallelism": 1,
        "suspend": False,
        "template": {"spec": {"containers": [container]}},
        **changes,
    }
    annotations = {LAST_APPLIED: json.dumps(job_file())}
    metadata = {"name": "j", "namespace": "research", "uid": "u", "annotations": annotations}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def job_file(**spec: Any) -> dict[str, Any]:
    template = {"spec": {"containers": [{"name": "c", "image": "i:1"}]}}
    metadata = {"name": "j", "annotations": {}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {"template": template, **spec},
    }


def test_what_the_last_file_had_is_removed_and_the_rest_stays() -> None:
    live = live_job(parallelism=4)
    live["metadata"]["labels"] = {"controller": "wrote-it", "mine": "x"}
    last = job_file(completions=4)
    last["metadata"]["labels"] = {"mine": "x"}
    live["metadata"]["annotations"][LAST_APPLIED] = json.dumps(last)
    live["spec"]["completions"] = 4
    file = job_file()
    file["metadata"]["labels"] = {}
    stored = three_way_merge(live, file)
    assert stored["metadata"]["labels"] == {"controller": "wrote-it"}
    assert "labels" not in three_way_merge(live, job_file())["metadata"], (
        "kubectl removes the mapping that is gone"
    )
    assert "completions" not in stored["spec"]
    assert stored["spec"]["parallelism"] == 4
    (container,) = stored["spec"]["template"]["spec"]["containers"]
    assert container["terminationMessagePath"] == "/dev/termination-log"


def test_a_null_removes_a_field_and_a_broken_annotation_removes_nothing() -> None:
    live = live_job()
    live["metadata"]["annotations"][LAST_APPLIED] = "{"
    assert three_way_merge(live, job_file())["spec"].keys() == live["spec"].keys()
    assert "suspend" not in three_way_merge(live, job_file(suspend=None))["spec"]


@pytest.mark.parametrize(
    ("namespace", "paired"), [(None, True), ("research", True), ("other", False)]
)
def test_a_file_without_a_namespace_is_in_the_one_of_the_option(
    namespace: str | None, paired: bool
) -> None:
    (change, *_) = ptcompile.diff(live_job(), job_file(parallelism=2), namespace=namespace).objects
    assert (change.apply is not None) == paired


def test_two_live_objects_of_one_name_are_not_guessed() -> None:
    other = live_job()
    other["metadata"] = {**other["metadata"], "namespace": "other"}
    difference = ptcompile.diff([live_job(), other], job_file(parallelism=2))
    assert [change.apply for change in difference.objects if change.apply is not None] == []


MANAGED = [
    {
        "manager": manager,
        "operation": operation,
        "apiVersion": "batch/v1",
        "fieldsV1": {"f:spec": {f"f:{field}": {}}},
    }
    for manager, operation, field in (
        ("kubectl", "Apply", "suspend"),
        ("scaler", "Update", "parallelism"),
    )
]


def test_a_field_of_another_manager_is_a_conflict_until_it_is_forced() -> None:
    live = live_job(parallelism=4)
    live["metadata"]["managedFields"] = MANAGED
    file = job_file(parallelism=2)
    (message,) = rejections(ptcompile.diff(live, file, server_side=True))
    assert message == 'spec.parallelism: conflict with "scaler" using batch/v1'
    assert rejections(ptcompile.diff(live, file, server_side=True, force_conflicts=True)) == []
    assert rejections(ptcompile.diff(live, file)) == [], "client-side, the last apply wins"
    assert rejections(ptcompile.diff(live, job_file(parallelism=4), server_side=True)) == [], (
        "the same value"
    )


def test_the_command_reads_the_live_object(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    live = live_job(parallelism=4)
    live["metadata"]["managedFields"] = MANAGED
    (tmp_path / "live.yaml").write_text(json.dumps(live))
    (tmp_path / "same.yaml").write_text(json.dumps(job_file()))
    (tmp_path / "job.yaml").write_text(json.dumps(job_file(parallelism=2)))
    command = ["diff", "--live", str(tmp_path / "live.yaml"), "-n", "research"]
    assert main([*command, str(tmp_path / "same.yaml")]) == 0
    assert "no difference" in capsys.readouterr().out
    assert main([*command, str(tmp_path / "job.yaml"), "--server-side"]) == 1
    assert "error[PTC593 field-conflict]" in capsys.readouterr().err
    assert main([*command, str(tmp_path / "job.yaml"), "--server-side", "--force-conflicts"]) == 1
    assert "apply: changes it in place" in capsys.readouterr().out
    with pytest.raises(Exception, match="--force-conflicts needs --server-side"):
        main([*command, str(tmp_path / "job.yaml"), "--force-conflicts"])


def test_a_guessed_namespace_is_noted() -> None:
    def notes(file: Mapping[str, Any], **how: Any) -> list[str]:
        return [
            d.message
            for d in ptcompile.diff(live_job(), file, **how).diagnostics
            if d.name == "guessed-namespace"
        ]

    assert notes(job_file()) == ["compared with the Job of this name in the namespace research"]
    assert notes(job_file(), namespace="research") == []
    named = {**job_file(), "metadata": {"name": "j", "namespace": "research"}}
    assert notes(named) == []


CLAIM: dict[str, Any] = {
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "1Gi"}},
}
SNAPSHOT = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "s"}
CLAIMS: list[dict[str, Any]] = [
    {"resources": {"requests": {"storage": "1024Mi"}}},
    {"resources": {"requests": {"storage": 1073741824}}},
    {"storageClassName": ""},
    {"storageClassName": None, "volumeMode": None},
    {"selector": {}},
    {"dataSource": SNAPSHOT},
    {"dataSourceRef": SNAPSHOT},
]
STATEFUL_SETS: list[dict[str, Any]] = [
    {},
    {"volumeClaimTemplates": []},
    {"volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": CLAIM}]},
    {"volumeClaimTemplates": [{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "d"},
                               "spec": CLAIM}]},
    {"volumeClaimTemplates": [{"metadata": {"name": "d", "creationTimestamp": None}, "spec": CLAIM, "status": {}}]},
    {"volumeClaimTemplates": [{"metadata": {"name": name}, "spec": CLAIM} for name in "ab"]},
    *({"volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": {**CLAIM, **fields}}]} for fields in CLAIMS),
    {"updateStrategy": {"type": "OnDelete"}},
    {"updateStrategy": {"rollingUpdate": {"partition": 1}}},
    {"updateStrategy": {"rollingUpdate": {"maxUnavailable": "30%"}}},
    {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}}},
    {"ordinals": {"start": 0}},
    {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"}},
    {"podManagementPolicy": "", "revisionHistoryLimit": None},
]  # fmt: skip
"""Shapes of which the server stores more, or less, than the file has."""


def stateful_set(**spec: Any) -> dict[str, Any]:
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i:1"}]},
    }
    body = {
        "serviceName": "s",
        "selector": {"matchLabels": {"a": "b"}},
        "template": template,
        **spec,
    }
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "s"}, "spec": body}


def live_stateful_set(file: Mapping[str, Any], kubernetes: str) -> dict[str, Any]:
    """Return what a server keeps: claim templates have a status. maxUnavailable is dropped until 1.36, whose gate is
    off, and then has a default.
    """
    stored = ptcompile.stored(file).objects[0].manifest
    for claim in stored["spec"].get("volumeClaimTemplates", ()):
        assert claim["status"] == {"phase": "Pending"}
    rolling = stored["spec"]["updateStrategy"].get("rollingUpdate")
    if rolling is not None and kubernetes == "1.36":
        rolling.pop("maxUnavailable", None)
    elif rolling is not None:
        rolling.setdefault("maxUnavailable", 1)
    return {**stored, "metadata": {**stored["metadata"], "uid": "u"}}


@pytest.mark.parametrize("kubernetes", ["1.36", "1.37"])
@pytest.mark.parametrize("server_side", [False, True])
@pytest.mark.parametrize("spec", STATEFUL_SETS)
def test_an_unchanged_stateful_set_does_not_differ_from_the_live_one(
    spec: Mapping[str, Any], server_side: bool, kubernetes: str
) -> None:
    """Source: Kubernetes 1.36, pkg/apis/core/v1/defaults.go (SetDefaults_PersistentVolumeClaim)."""
    file = stateful_set(**spec)
    profile = making.profile({"versions": {"kubernetes": kubernetes}})
    live = live_stateful_set(file, kubernetes)
    difference = ptcompile.diff(
        live, file, server_side=server_side, from_cluster=profile, to_cluster=profile
    )
    assert rejections(difference) == []
    assert not difference.differs


def test_a_changed_claim_template_is_rejected() -> None:
    file = stateful_set(volumeClaimTemplates=[{"metadata": {"name": "d"}, "spec": CLAIM}])
    larger = {**CLAIM, "resources": {"requests": {"storage": "2Gi"}}}
    (message,) = rejections(
        ptcompile.diff(
            live_stateful_set(file, "1.37"),
            stateful_set(volumeClaimTemplates=[{"metadata": {"name": "d"}, "spec": larger}]),
        )
    )
    assert "updates to statefulset spec for fields other than" in message
