"""Individual decisions of import."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

import ptcompile
from tests.making import smallest, text

Json = dict[str, Any]


def job(kind: str = "Job", **pod: Any) -> Json:
    """Return a batch/v1 Job of one pod with these fields."""
    container = {"name": "trainer", "image": "img:1", "command": ["python", "train.py"], **pod.pop("container", {})}
    spec = {"restartPolicy": "Never", "containers": [container], **pod}
    return {"apiVersion": "batch/v1", "kind": kind, "metadata": {"name": "j"}, "spec": {"template": {"spec": spec}}}


def pytorchjob(**spec: Any) -> Json:
    template = {"spec": {"containers": [{"name": "pytorch", "image": "img:1", "command": ["python", "train.py"]}]}}
    specs = {"Master": {"replicas": 1, "template": template}, "Worker": {"replicas": 2, "template": template}}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "p"},
        "spec": {"pytorchReplicaSpecs": specs, **spec},
    }


def words(source: Any, **options: Any) -> Json:
    imported = ptcompile.import_manifests(source, **options)
    assert imported.ok, imported.diagnostics
    spec: Json = imported.specs[0]["spec"]
    return spec


def test_a_request_without_a_limit_gets_no_limit() -> None:
    spec = words(job(container={"resources": {"requests": {"cpu": 4}, "limits": {"nvidia.com/gpu": 2}}}))
    assert spec["resources"] == {"gpu": 2, "requests": {"cpu": 4}}


def test_a_job_of_one_pod_keeps_its_name_and_its_retries() -> None:
    spec = words(job())
    assert spec["names"] == {"container": "trainer"}
    assert spec["runPolicy"] == {"onPodFailure": "RestartPod"}, "an absent backoffLimit is 6"
    assert "manifest" not in spec


def test_a_pytorchjob_without_a_backoff_limit_restarts_forever() -> None:
    spec = words(pytorchjob())
    assert (spec["nodes"], spec["restartPolicy"], spec["runPolicy"]) == (
        3,
        "OnFailure",
        {"cleanPodPolicy": "None", "backoffLimit": "Unlimited"},
    )


def test_pod_fields_without_a_spec_field_go_to_pod_template() -> None:
    spec = words(job(initContainers=[{"name": "init", "image": "i:1"}], dnsConfig={"options": [{"name": "ndots"}]}))
    assert spec["podTemplate"]["spec"].keys() == {"initContainers", "dnsConfig"}


def test_object_fields_without_a_spec_field_go_to_manifest() -> None:
    manifest = pytorchjob(elasticPolicy=None)
    del manifest["spec"]["elasticPolicy"]
    manifest["spec"]["runPolicy"] = {"schedulingPolicy": {"minAvailable": 2}}
    spec = words(manifest)
    assert spec["manifest"] == {"pytorchjob": {"spec": {"runPolicy": {"schedulingPolicy": {"minAvailable": 2}}}}}


TORCHRUN = ["--nnodes=1", "--nproc-per-node=4", "--standalone"]
STARTS: list[tuple[list[str], Json]] = [
    (["torchrun", *TORCHRUN, "train.py", "--lr=1"], {"script": "train.py", "args": ["--lr=1"]}),
    (["python", "-m", "torch.distributed.run", *TORCHRUN, "-m", "pkg.train"], {"module": "pkg.train"}),
    (
        ["bash", "-ec", f"torchrun {' '.join(TORCHRUN)} train.py --out $HERE"],
        {"script": "train.py", "args": ["--out", "$(HERE)"]},
    ),
]


@pytest.mark.parametrize(("command", "expected"), STARTS)
def test_a_torchrun_command_becomes_spec_fields(command: list[str], expected: Json) -> None:
    spec = words(job(container={"command": command, "env": [{"name": "HERE", "value": "/x"}]}))
    assert {key: value for key, value in spec.items() if key in expected} == expected
    assert spec["elastic"]["nprocPerNode"] == 4
    assert "command" not in spec
    exact = words(job(container={"command": command, "env": [{"name": "HERE", "value": "/x"}]}), exact=True)
    assert exact["command"] == command


KEPT = [
    ["bash", "-c", f"pip install x && torchrun {' '.join(TORCHRUN)} train.py"],
    ["bash", "-c", f"torchrun {' '.join(TORCHRUN)} train.py > log"],
    ["bash", "-c", f"torchrun {' '.join(TORCHRUN)} $UNKNOWN"],
    ["torchrun", *TORCHRUN, "--no-python", "train"],
    ["torchrun", *TORCHRUN, "--log-dir=/logs", "train.py"],
    ["python", "-m", "torch.distributed.launch", "--nproc_per_node=4", "train.py"],
    ["accelerate", "launch", "train.py"],
]


@pytest.mark.parametrize("command", KEPT)
def test_an_unrecognized_command_stays_a_command(command: list[str]) -> None:
    assert words(job(container={"command": command}))["command"] == command


def test_pods_that_train_separately_stay_separate() -> None:
    """torchrun without --nnodes on four pods is four one-node jobs, which `nodes` and `script` would join."""
    manifest = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "four"},
        "spec": {"replicatedJobs": [{"name": "workers", "template": job(container={"command": ["torchrun", "t.py"]})}]},
    }
    child = manifest["spec"]["replicatedJobs"][0]["template"]  # type: ignore[index]
    manifest["spec"]["replicatedJobs"][0]["template"] = {"spec": {**child["spec"], "parallelism": 4, "completions": 4}}  # type: ignore[index]
    spec = words(manifest)
    assert (spec["command"], spec["nodes"], spec["names"]["node"]) == (["torchrun", "t.py"], 4, "workers")


REFUSED: list[tuple[Json, tuple[str, ...]]] = [
    ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}, ("kind",)),
    ({"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": "m"}, "spec": {}}, ("kind",)),
    ({**job(), "spec": {**job()["spec"], "parallelism": 1, "completions": 4}}, ("spec", "completions")),
]


@pytest.mark.parametrize(("manifest", "path"), REFUSED)
@pytest.mark.parametrize("lossy", [True, False])
def test_an_object_that_no_spec_expresses_is_an_error_with_a_path(
    manifest: Json, path: tuple[str, ...], lossy: bool
) -> None:
    imported = ptcompile.import_manifests(manifest, lossy=lossy)
    assert not imported.ok
    assert not imported.specs
    assert [one.path for one in imported.diagnostics] == [path]


def test_findings_in_text_have_positions() -> None:
    found = ptcompile.import_manifests(
        "kind: ConfigMap\napiVersion: v1\nmetadata: {name: c}\n", filename="c.yaml"
    ).diagnostics
    assert [(one.filename, one.span and one.span.line) for one in found] == [("c.yaml", 1)]


def test_other_objects_are_kept_but_emitted_services_are_not() -> None:
    made = ptcompile.compile(smallest("nodes: 2"), target="job").yaml()
    config = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
    imported = ptcompile.import_manifests(made + config)
    assert imported.found[0].same_manifest
    assert [one["kind"] for one in imported.kept] == ["ConfigMap"], "the Service is compile's own"


def test_an_object_that_the_server_rejects_is_an_error_and_is_ignored() -> None:
    made = ptcompile.compile(smallest("nodes: 2"), target="trainjob").manifests
    runtime, trainjob = made
    broken = {**runtime, "spec": {**runtime["spec"], "template": {"spec": 5}}}
    imported = ptcompile.import_manifests([broken, trainjob])
    assert not imported.ok
    assert [(one.document, one.path) for one in imported.diagnostics] == [(0, ("spec", "template", "spec"))]
    assert imported.specs[0]["spec"]["runtimeRef"]["name"] == runtime["metadata"]["name"]
    assert "image" not in imported.specs[0]["spec"], "as without the runtime"


def test_a_list_and_several_documents_are_read() -> None:
    items = {"apiVersion": "v1", "kind": "List", "items": [job(), pytorchjob()]}
    assert [one.origin for one in ptcompile.import_manifests(items).found] == ["Job/j", "PyTorchJob/p"]


def test_a_profile_is_returned_if_the_built_in_one_would_add_fields() -> None:
    with_gpus = job(container={"resources": {"limits": {"nvidia.com/gpu": 1}}})
    assert ptcompile.import_manifests(job()).profile is None
    profile = ptcompile.import_manifests(with_gpus).profile
    assert profile is not None
    assert profile["spec"] == {"gpu": {"tolerations": []}}


def test_ambiguous_strings_survive_the_round_trip() -> None:
    values = [
        "n",
        "on",
        "1e3",
        "0x1F",
        "12:30",
        "~",
        "",
        " x",
        "a: b",
        "#c",
        "é",
        "line\nbreak",
        "tab\there",
        "a, b",
        "{x}",
    ]
    imported = ptcompile.import_manifests(job(container={"args": values}))
    assert yaml.safe_load(imported.yaml())["spec"]["args"] == values
    again = ptcompile.compile(imported.yaml(), cluster=imported.profile).manifests[-1]
    assert again["spec"]["template"]["spec"]["containers"][0]["args"] == values


def test_notes_contain_no_secret() -> None:
    manifest = job(
        container={"env": [{"name": "API_TOKEN", "value": "hunter2"}, {"name": "API_TOKEN", "value": "hunter3"}]}
    )
    imported = ptcompile.import_manifests(manifest, lossy=True)
    said = json.dumps([one.to_dict() for one in imported.diagnostics])
    assert "hunter" not in said
    assert all("hunter" not in text for one in imported.found for text in (*one.differences, *one.comments.values()))


def test_a_command_item_that_is_not_a_string_is_an_error() -> None:
    imported = ptcompile.import_manifests(job(container={"command": ["torchrun", {"medium": "Memory"}, "train.py"]}))
    assert not imported.ok
    assert any("command[1]" in one.message for one in imported.diagnostics)


def test_a_trainjob_of_an_unknown_runtime_keeps_only_its_own_fields() -> None:
    manifest = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "t"},
        "spec": {"runtimeRef": {"name": "my-runtime"}, "trainer": {"numNodes": 2, "numProcPerNode": 4}},
    }
    spec = words(manifest)
    assert spec == {
        "runtimeRef": {"name": "my-runtime"},
        "nodes": 2,
        "elastic": {"nprocPerNode": 4},
    }


def test_malformed_input_is_a_finding_and_never_an_exception() -> None:
    job_of_nothing = {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": []}}
    values: list[Any] = [None, [], "", 1, {"spec": None}, job_of_nothing]
    for value in values:
        source = json.dumps(value)
        assert not ptcompile.import_manifests(source).ok
    assert not ptcompile.import_manifests(text("image: i")).ok, "a spec is no manifest"


@pytest.mark.parametrize("image", ["<image>", "${IMAGE}"])
@pytest.mark.parametrize("policy", ["Always", "IfNotPresent"])
def test_a_placeholder_image_is_kept_with_a_warning(image: str, policy: str) -> None:
    imported = ptcompile.import_manifests(job(container={"image": image, "imagePullPolicy": policy}))
    assert (imported.found[0].same_manifest, imported.specs[0]["spec"]["image"]) == (True, image)
    assert imported.specs[0]["spec"]["imagePullPolicy"] == policy
    (warning,) = imported.diagnostics
    assert (warning.severity, warning.path[-1]) == ("warning", "image")
    assert not ptcompile.compile(imported.yaml()).ok


def test_a_digit_that_int_rejects_does_not_raise() -> None:
    """`'²'.isdigit()` is true, but int() rejects it."""
    command = ["torchrun", "--nproc-per-node=²", "--max-restarts=²", "train.py"]
    assert ptcompile.import_manifests(job(container={"command": command})).diagnostics is not None
