"""The table of keys that are read in one place only: its rows, and what each of them finds."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

import ptcompile
from ptcompile._internal.schema_files import load_table
from ptcompile.linter.key_places import KeyPlace, places_of
from ptcompile.linter.needs import KEY_WORDS
from tests.small_cases import check_each

Json = dict[str, Any]

ROWS = [
    KeyPlace(**row)
    for group in load_table("linter/key_places.json").values()
    for row in group["rows"]
]
READ_ON_PODS = [
    row for row in ROWS if "pod" in row.on and "object" not in row.on and row.part != "nodeSelector"
]
READ_ON_OBJECTS = [row for row in ROWS if "object" in row.on and "pod" not in row.on]
RULE_NAMES = {
    *(
        "misplaced-key",
        "kueue-label-as-annotation",
        "kueue-annotation-as-label",
        "topology-on-object",
    ),
    *("queue-label-in-template", "missing-sidecar-annotation"),
}
OTHER_PART = {"labels": "annotations", "annotations": "labels"}


def written_key(row: KeyPlace) -> str:
    """Return a key of the row; families get a last word."""
    return row.key.replace("*", "one")


def written_value(row: KeyPlace) -> str:
    return next((value for value in row.values if not value.startswith("<")), "1")


def job(on_object: Json | None = None, on_pods: Json | None = None, **pod: Any) -> Json:
    """Return a Job with this metadata on itself and on its pods."""
    container = {
        "name": "t",
        "image": "a/b:1",
        "command": ["python", "t.py"],
        "resources": {"limits": {"cpu": 1}},
    }
    spec = {"restartPolicy": "Never", "containers": [container], **pod}
    template = {"metadata": on_pods or {}, "spec": spec}
    metadata = {"name": "train", **(on_object or {})}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {"template": template},
    }


def reported(manifest: Json) -> list[ptcompile.Diagnostic]:
    return [
        finding for finding in ptcompile.lint(manifest).diagnostics if finding.name in RULE_NAMES
    ]


def part_of(row: KeyPlace) -> str:
    return "annotations" if row.part == "either" else row.part


def row_name(row: KeyPlace) -> str:
    return f"{row.key} {row.part}"


def check_row(row: KeyPlace) -> None:
    assert row.part in ("labels", "annotations", "either", "nodeSelector")
    assert row.written or row.on or row.now or row.help
    assert not {"pods", "Pod"} & {*row.on}
    assert row.now == "" or places_of(row.now)[0].on
    assert {*row.rules.values()} <= RULE_NAMES


def test_every_row_is_complete() -> None:
    check_each(ROWS, check_row, row_name)


def check_words_of_key(row: KeyPlace) -> None:
    words = {*re.findall(r"[a-z0-9]+", row.key.lower())}
    is_common = any(place.written for place in places_of(row.key)) or {"pod", "object"} <= {*row.on}
    assert is_common or words & {*KEY_WORDS.split("/")}


def test_every_key_has_a_word_that_makes_the_rule_run() -> None:
    check_each(ROWS, check_words_of_key, row_name)


@pytest.mark.parametrize("row", READ_ON_PODS, ids=row_name)
def test_a_key_of_pods_is_reported_on_the_object(row: KeyPlace) -> None:
    key, value, part = written_key(row), written_value(row), part_of(row)
    on_job = reported(job({part: {key: value}}))
    is_reported = row.rules.get("pods") != "missing-sidecar-annotation"
    assert [finding.path[:2] for finding in on_job] == ([("metadata", part)] if is_reported else [])
    assert reported(job(on_pods={part: {key: value}})) == []
    assert reported(job({part: {key: value}}, {part: {key: value}})) == []


@pytest.mark.parametrize("row", READ_ON_OBJECTS, ids=row_name)
def test_a_key_of_the_object_is_reported_on_pods(row: KeyPlace) -> None:
    key, value, part = written_key(row), written_value(row), part_of(row)
    [finding] = reported(job(on_pods={part: {key: value}}))
    assert finding.path[:4] == ("spec", "template", "metadata", part)
    assert reported(job({part: {key: value}})) == []


@pytest.mark.parametrize(
    "row",
    [
        row
        for row in (*READ_ON_PODS, *READ_ON_OBJECTS)
        if row.part != "either" and len(places_of(row.key)) == 1
    ],
    ids=row_name,
)
def test_a_key_in_the_other_part_is_reported(row: KeyPlace) -> None:
    metadata = {OTHER_PART[row.part]: {written_key(row): written_value(row)}}
    [finding] = reported(job(metadata) if "object" in row.on else job(on_pods=metadata))
    assert OTHER_PART[row.part] in finding.path
    assert ("reads it from" in finding.message) or row.part == "either"
    assert finding.severity == ("note" if row.memory else "warning")


@pytest.mark.parametrize(
    ("manifest", "severity", "message", "help"),
    [
        (
            job(on_pods={"annotations": {"karpenter.sh/do-not-evict": "true"}}),
            "warning",
            "Karpenter does not read it",
            "write karpenter.sh/do-not-disrupt",
        ),
        (
            job(nodeSelector={"karpenter.sh/provisioner-name": "gpu"}),
            "warning",
            "Karpenter does not read it",
            "write karpenter.sh/nodepool",
        ),
        (
            job(nodeSelector={"kubernetes.azure.com/scalesetpriority": "regular"}),
            "warning",
            "AKS does not know the value 'regular'",
            "write spot",
        ),
        (
            job(on_pods={"annotations": {"karpenter.sh/do-not-disrupt": "yes"}}),
            "warning",
            "does not know the value 'yes'",
            "write true, or a duration such as 4h",
        ),
        (
            job(on_pods={"annotations": {"gke-gcsfuse/volumes": "TRUE"}}),
            "warning",
            "does not know the value 'TRUE'",
            'write "true"',
        ),
        (
            job(on_pods={"labels": {"cloud.google.com/gke-tpu-topology": "4x4"}}),
            "warning",
            "it is a label of nodes",
            "select nodes with it: nodeSelector in the pod template",
        ),
        (
            job(on_pods={"annotations": {"iam.gke.io/gcp-service-account": "a@b"}}),
            "note",
            "looks for it only in a ServiceAccount",
            "write it in the ServiceAccount",
        ),
        (
            job({"annotations": {"argocd.argoproj.io/hook": "PreSync,Later"}}),
            "warning",
            "does not know the value 'PreSync,Later'",
            "write PreSync or Sync or PostSync or SyncFail or Skip or PreDelete or PostDelete",
        ),
    ],
)
def test_each_finding_says_who_ignores_the_key_and_what_to_write(
    manifest: Json, severity: str, message: str, help: str
) -> None:
    [finding] = reported(manifest)
    assert (finding.severity, finding.help) == (severity, help)
    assert message in finding.message


@pytest.mark.parametrize(
    "manifest",
    [
        job(on_pods={"annotations": {"karpenter.sh/do-not-disrupt": "4h30m"}}),
        job(on_pods={"labels": {"app.kubernetes.io/instance": "a", "project": "b", "user": "c"}}),
        job(
            on_pods={"labels": {"cloud.google.com/gke-accelerator": "nvidia-l4"}},
            nodeSelector={"cloud.google.com/gke-accelerator": "nvidia-l4"},
        ),
        job({"annotations": {"argocd.argoproj.io/hook": "PreSync, Sync"}}),
    ],
)
def test_read_keys_have_no_finding(manifest: Json) -> None:
    assert reported(manifest) == []


def test_the_fix_moves_the_key() -> None:
    text = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  annotations:
    k8s.v1.cni.cncf.io/networks: rdma
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: t, image: "a/b:1", command: [python, t.py]}]
"""
    fixed = yaml.safe_load(ptcompile.fix(text, unsafe=True).text)
    assert fixed["spec"]["template"]["metadata"]["annotations"] == {
        "k8s.v1.cni.cncf.io/networks": "rdma"
    }
    assert not fixed["metadata"].get("annotations")
