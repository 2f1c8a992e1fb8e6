"""`ptcompile krm` in process: as kpt, Kustomize and Helm call it."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.running import Ran, here

SPEC: dict[str, Any] = {
    "apiVersion": "ptcompile/v1",
    "kind": "TrainingJob",
    "metadata": {"name": "llama"},
    "spec": {"image": "ghcr.io/acme/llama:2.1", "script": "train.py", "nodes": 2},
}
PROFILE: dict[str, Any] = {
    "apiVersion": "ptcompile/v1",
    "kind": "ClusterProfile",
    "metadata": {"name": "c"},
    "spec": {},
}
CONFIG_MAP: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings"},
    "data": {"a": "b"},
}
WRONG_MAP: dict[str, Any] = {**CONFIG_MAP, "data": {"a": 1}}
QUEUED: dict[str, Any] = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "train", "labels": {"kueue.x-k8s.io/queue-name": "research"}},
    "spec": {
        "suspend": False,
        "backoffLimit": 0,
        "template": {
            "spec": {
                "restartPolicy": "Never",
                "containers": [
                    {
                        "name": "pytorch",
                        "image": "ghcr.io/acme/llama:2.1",
                        "command": ["python", "train.py"],
                        "resources": {
                            key: {"cpu": 8, "memory": "64Gi"} for key in ("requests", "limits")
                        },
                    }
                ],
            }
        },
    },
}
"""The only finding is a warning: Kueue suspends it."""


class Stdin(io.TextIOWrapper):
    """Standard input with these bytes."""

    def __init__(self, text: str) -> None:
        super().__init__(io.BytesIO(text.encode()))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in a folder without a configuration."""
    monkeypatch.chdir(tmp_path)


def krm(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    *words: str | Path,
) -> Ran:
    """Run the command with this standard input."""
    monkeypatch.setattr(sys, "stdin", Stdin(text))
    return here(capsys, "krm", *words)


@pytest.fixture
def function(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Return the command as a KRM function: from items and a configuration to status, ResourceList and messages."""

    def call(
        *items: dict[str, Any], config: dict[str, Any] | None = None, words: tuple[str, ...] = ()
    ) -> Any:
        envelope: dict[str, Any] = {
            "apiVersion": "config.kubernetes.io/v1",
            "kind": "ResourceList",
            "items": list(items),
        }
        if config is not None:
            envelope["functionConfig"] = config
        ran = krm(monkeypatch, capsys, yaml.safe_dump(envelope, sort_keys=False), *words)
        return ran.status, yaml.safe_load(ran.out), ran.err

    return call


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Return the command as a plugin or a post-renderer: from objects to status, objects and messages."""

    def call(*items: dict[str, Any], words: tuple[str | Path, ...] = ()) -> Any:
        ran = krm(monkeypatch, capsys, yaml.safe_dump_all(items, sort_keys=False), *words)
        return ran.status, list(yaml.safe_load_all(ran.out)), ran.err

    return call


def annotated(item: dict[str, Any], **annotations: str) -> dict[str, Any]:
    """Return an object with more annotations; `_` stands for `/` and the group of KRM functions."""
    named = {
        f"config.kubernetes.io/{name.replace('_', '-')}": value
        for name, value in annotations.items()
    }
    return {**item, "metadata": {**item["metadata"], "annotations": named}}


def kinds(items: list[dict[str, Any]]) -> list[str]:
    return [item["kind"] for item in items]


def test_manifests_take_the_place_of_a_spec(function: Any) -> None:
    status, output, err = function(CONFIG_MAP, SPEC, PROFILE)
    assert (status, err) == (0, "")
    assert kinds(output["items"]) == ["ConfigMap", "Service", "Job"]
    assert output["items"][0] == CONFIG_MAP
    assert "results" not in output


def test_each_variant_takes_the_place_of_its_spec(function: Any) -> None:
    family = {**SPEC, "variants": {"small": {"nodes": 1}, "large": {"nodes": 4}}}
    status, output, err = function(CONFIG_MAP, family, PROFILE)
    assert (status, err) == (0, "")
    names = [(item["kind"], item["metadata"]["name"]) for item in output["items"]]
    assert [*dict.fromkeys(name for _, name in names)] == ["settings", "llama-small", "llama-large"]
    assert ("Job", "llama-large") in names

    status, output, _ = function({**SPEC, "variants": {"small": {"nods": 1}}})
    assert (status, output["results"][0]["field"]["path"]) == (1, "variants.small.nods")


def test_the_envelope_stays(function: Any) -> None:
    _, output, _ = function(CONFIG_MAP, config=PROFILE)
    assert output["functionConfig"] == PROFILE
    assert (output["apiVersion"], output["kind"]) == ("config.kubernetes.io/v1", "ResourceList")


def test_a_spec_as_the_configuration_adds_manifests(function: Any) -> None:
    status, output, _ = function(CONFIG_MAP, config=SPEC)
    assert status == 0
    assert sorted(kinds(output["items"])) == ["ConfigMap", "Job", "Service"]


@pytest.mark.parametrize(
    "config", [None, {"apiVersion": "v1", "kind": "ConfigMap", "data": {"target": "jobset"}}]
)
def test_the_target_comes_from_the_configuration_or_an_option(
    function: Any, config: dict[str, Any] | None
) -> None:
    words = ("--target", "jobset") if config is None else ()
    _, output, _ = function(SPEC, config=config, words=words)
    assert kinds(output["items"]) == ["JobSet"]


def test_the_profile_in_the_configuration_applies(function: Any) -> None:
    profile = {**PROFILE, "spec": {"queueSystem": "kueue", "defaults": {"queue": "research"}}}
    _, output, _ = function(SPEC, config=profile)
    job = output["items"][-1]
    assert job["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "research"}


def test_an_error_in_a_spec_leaves_the_items_and_is_a_result(function: Any) -> None:
    wrong = annotated(
        {**SPEC, "spec": {**SPEC["spec"], "nodes": "two"}}, path="jobs/llama.yaml", index="0"
    )
    wrong["metadata"]["annotations"]["internal.config.kubernetes.io/index"] = "3"
    status, output, err = function(wrong, CONFIG_MAP)
    assert status == 1
    assert output["items"] == [wrong, CONFIG_MAP]
    assert output["results"] == [
        {
            "message": "'two' is not a whole number",
            "severity": "error",
            "resourceRef": {"apiVersion": "ptcompile/v1", "kind": "TrainingJob", "name": "llama"},
            "tags": {"code": "PTC023", "rule": "spec-wrong-type"},
            "field": {"path": "spec.nodes"},
            "file": {"path": "jobs/llama.yaml", "index": 3},
        }
    ]
    assert "--> TrainingJob/llama in jobs/llama.yaml:8:10" in err
    assert "8 |   nodes: two" in err


def test_findings_of_objects_are_in_the_lines_of_the_object(function: Any) -> None:
    status, output, err = function(
        CONFIG_MAP, SPEC, WRONG_MAP | {"metadata": {"name": "wrong", "namespace": "lab"}}
    )
    assert status == 1
    (result,) = output["results"]
    assert result["resourceRef"] == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "wrong",
        "namespace": "lab",
    }
    assert (result["field"], result["severity"]) == ({"path": "data.a"}, "error")
    assert "--> ConfigMap/wrong:7:6" in err
    assert "7 |   a: 1" in err


def test_a_warning_is_a_result_and_no_failure(function: Any) -> None:
    status, output, _ = function(QUEUED)
    assert status == 0
    assert output["items"] == [QUEUED]
    assert [(result["severity"], result["tags"]["rule"]) for result in output["results"]] == [
        ("warning", "unsuspended-in-queue")
    ]


def test_a_finding_of_a_spec_is_reported_once(function: Any) -> None:
    gpus = {
        **SPEC,
        "spec": {
            **SPEC["spec"],
            "sharedMemory": False,
            "resources": {"cpu": 8, "memory": "1Gi", "gpu": 8},
        },
    }
    _, output, _ = function(gpus)
    codes = [result["tags"]["code"] for result in output["results"]]
    assert codes
    assert len(codes) == len(set(codes))
    assert {result["resourceRef"]["kind"] for result in output["results"]} == {"TrainingJob"}


def test_annotations_of_the_caller_do_not_reach_manifests(function: Any) -> None:
    _, output, _ = function(annotated(SPEC, path="a.yaml", index="0"))
    assert output["items"]
    assert not [item for item in output["items"] if "annotations" in item["metadata"]]


def test_a_local_spec_stays_beside_its_manifests_and_a_second_run_changes_nothing(
    function: Any,
) -> None:
    local = annotated(SPEC, local_config="true")
    profile = annotated(PROFILE, local_config="true")
    _, first, _ = function(local, profile)
    assert kinds(first["items"]) == ["TrainingJob", "Service", "Job", "ClusterProfile"]
    _, second, _ = function(*first["items"])
    assert sorted(map(str, second["items"])) == sorted(map(str, first["items"]))


def test_objects_of_the_same_name_in_another_namespace_stay(function: Any) -> None:
    _, output, _ = function(SPEC)
    other = {**output["items"][0], "metadata": {"name": "llama", "namespace": "other"}}
    _, output, _ = function(SPEC, other)
    assert kinds(output["items"]) == ["Service", "Job", "Service"]


@pytest.mark.parametrize(
    ("items", "config", "expected"),
    [
        ([PROFILE, PROFILE], None, "several ClusterProfiles; specs are compiled for one cluster"),
        ([PROFILE], PROFILE, "several ClusterProfiles; specs are compiled for one cluster"),
        (
            [],
            {"apiVersion": "v1", "kind": "Secret"},
            "functionConfig: kind 'Secret'; expected a TrainingJob",
        ),
        (
            [],
            {"apiVersion": "v1", "kind": "ConfigMap", "data": {"tarket": "job"}},
            "unknown key data.tarket",
        ),
        (
            [],
            {"apiVersion": "v1", "kind": "ConfigMap", "data": {"target": "jobs"}},
            "did you mean job?",
        ),
        (["text"], None, "expected one ResourceList, whose items are objects"),
        ([{}], None, "expected one ResourceList, whose items are objects"),
    ],
)
def test_wrong_usage_exits_with_2(
    function: Any, items: list[Any], config: dict[str, Any] | None, expected: str
) -> None:
    status, output, err = function(*items, config=config)
    assert (status, output) == (2, None)
    assert expected in err


def test_an_error_in_the_profile_is_reported_at_its_line(function: Any) -> None:
    status, output, err = function(SPEC, config={**PROFILE, "spec": {"queueSystem": 1}})
    assert (status, output) == (1, None)
    assert "--> ClusterProfile/c:6:16" in err


def test_a_stream_is_written_as_a_stream(stream: Any) -> None:
    status, output, err = stream(CONFIG_MAP, SPEC)
    assert (status, err) == (0, "")
    assert kinds(output) == ["ConfigMap", "Service", "Job"]


def test_a_list_in_a_stream_is_read_as_its_items(stream: Any) -> None:
    _, output, _ = stream({"apiVersion": "v1", "kind": "List", "items": [SPEC, CONFIG_MAP]})
    assert kinds(output) == ["Service", "Job", "ConfigMap"]


@pytest.mark.parametrize("wrong", [WRONG_MAP, {**SPEC, "spec": {"nodes": 2}}])
def test_a_stream_with_an_error_is_not_written(stream: Any, wrong: dict[str, Any]) -> None:
    status, output, err = stream(CONFIG_MAP, wrong)
    assert (status, output) == (1, [])
    assert "error[PTC" in err


def test_helm_finds_the_file_of_every_manifest(stream: Any) -> None:
    """Helm 4 sorts the output into files by this annotation, and removes it."""
    name = "postrenderer.helm.sh/postrender-filename"
    spec = {
        **SPEC,
        "metadata": {
            "name": "llama",
            "annotations": {name: "chart/templates/job.yaml", "team": "nlp"},
        },
    }
    _, output, _ = stream(spec)
    assert [item["metadata"]["annotations"][name] for item in output] == [
        "chart/templates/job.yaml"
    ] * 2
    assert all(item["metadata"]["annotations"]["team"] == "nlp" for item in output)
    template = output[1]["spec"]["template"].get("metadata", {})
    assert name not in template.get("annotations", {})


def test_kustomize_names_a_file(stream: Any, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(SPEC), encoding="utf-8")
    status, output, _ = stream(words=(tmp_path / "job.yaml",))
    assert status == 0
    assert kinds(output) == ["Service", "Job"]


def test_the_file_has_one_document(stream: Any, tmp_path: Path) -> None:
    (tmp_path / "jobs.yaml").write_text(yaml.safe_dump_all([SPEC, SPEC]), encoding="utf-8")
    status, _, err = stream(words=(tmp_path / "jobs.yaml",))
    assert status == 2
    assert "2 documents; the configuration of a function is one" in err


def test_text_that_is_not_yaml_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = krm(monkeypatch, capsys, "a: [1\n")
    assert (ran.status, ran.out) == (1, "")
    assert "error[PTC001 yaml-syntax]" in ran.err


def test_the_configuration_of_the_folder_applies(stream: Any, tmp_path: Path) -> None:
    (tmp_path / "ptcompile.toml").write_text(
        'severity = {unsuspended-in-queue = "error"}\n', encoding="utf-8"
    )
    status, output, err = stream(QUEUED)
    assert (status, output) == (1, [])
    assert "error[PTC834 unsuspended-in-queue]" in err
    (tmp_path / "ptcompile.toml").write_text('ignore = ["PTC834"]\n', encoding="utf-8")
    assert stream(QUEUED) == (0, [QUEUED], "")


def test_the_text_is_read_as_lint_reads_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """kubectl accepts a duplicate key, so the caller may go on; an item that is no object is not dropped silently."""
    text = yaml.safe_dump(CONFIG_MAP, sort_keys=False)
    repeated = krm(monkeypatch, capsys, text + "kind: ConfigMap\n", "--output-format", "concise")
    assert repeated.status == 0, repeated
    assert "warning PTC003" in repeated.err, repeated
    items = krm(
        monkeypatch,
        capsys,
        "apiVersion: v1\nkind: List\nitems: [5]\n",
        "--output-format",
        "concise",
    )
    assert items.status == 1, items
    assert items.out == "", items
    assert "error PTC008" in items.err, items
