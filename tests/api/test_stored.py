"""`stored` and `simulate --stored`: objects as the server would keep them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import ptcompile
from ptcompile.cli import main
from tests.conftest import ABLE, Case, pair_name

Json = dict[str, Any]
SPEC = "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: t}\nspec: {image: i, script: t.py, nodes: 2}\n"


def pod(**spec: Any) -> Json:
    containers = [{"name": "c", "image": "i:1"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": containers, **spec},
    }


def writers(result: ptcompile.Stored, index: int = 0) -> dict[str, str]:
    return {".".join(map(str, path)): by for path, _, by in result.objects[index].written}


def test_yaml_is_the_object_with_comments() -> None:
    result = ptcompile.stored(pod())
    (data,) = yaml.safe_load_all(result.yaml())
    assert data == result.objects[0].manifest
    assert "    imagePullPolicy: IfNotPresent  # kube-apiserver\n" in result.yaml()
    assert "  name: p\n" in result.yaml(), "what the file has is not marked"
    assert result.yaml().count("  # ") == len(result.objects[0].written)


def test_a_spec_is_compiled_first() -> None:
    result = ptcompile.stored(SPEC, target="jobset")
    kinds = {item.manifest["kind"] for item in result.objects}
    assert "JobSet" in kinds
    assert "jobset webhook" in result.yaml()
    named = ptcompile.stored(SPEC, target="job", name="other", overrides=[("spec.image", "j:2")])
    assert "image: j:2" in named.yaml()
    assert any(item.manifest["metadata"]["name"] == "other" for item in named.objects)


def test_related_objects_are_read() -> None:
    limits: Json = {
        "limits": [{"type": "Container", "default": {"cpu": "1"}, "max": {"memory": "1Gi"}}]
    }
    limit_range = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "l"},
        "spec": limits,
    }
    high = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 7,
    }
    sandbox: Json = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "kata"},
        "handler": "kata",
        "overhead": {"podFixed": {"memory": "120Mi"}},
        "scheduling": {"nodeSelector": {"kata": "yes"}},
    }
    result = ptcompile.stored(
        pod(priorityClassName="high", runtimeClassName="kata"), beside=[limit_range, high, sandbox]
    )
    (stored,) = result.objects
    spec = stored.manifest["spec"]
    assert spec["containers"][0]["resources"] == {
        "limits": {"cpu": "1", "memory": "1Gi"},
        "requests": {"cpu": "1", "memory": "1Gi"},
    }
    assert (spec["priority"], spec["overhead"], spec["nodeSelector"]) == (
        7,
        {"memory": "120Mi"},
        {"kata": "yes"},
    )
    by = writers(result)
    assert by["spec.containers.0.resources.limits.cpu"] == "LimitRanger"
    assert by["spec.priority"] == "Priority"
    assert by["spec.overhead.memory"] == "RuntimeClass"


@pytest.mark.parametrize("target", ["job", "jobset", "pytorchjob", "trainjob"])
def test_kueue_suspends_a_queued_job(target: str) -> None:
    result = ptcompile.stored(SPEC.replace("nodes: 2", "nodes: 2, queue: q"), target=target)
    path = "spec.runPolicy.suspend" if target == "pytorchjob" else "spec.suspend"
    assert "kueue webhook" in [
        writers(result, index).get(path) for index in range(len(result.objects))
    ]


def test_kueue_gates_a_queued_pod() -> None:
    queued = {**pod(), "metadata": {"name": "p", "labels": {"kueue.x-k8s.io/queue-name": "q"}}}
    stored = ptcompile.stored(queued).objects[0].manifest
    gates = [{"name": "kueue.x-k8s.io/admission"}, {"name": "kueue.x-k8s.io/topology"}]
    assert stored["spec"]["schedulingGates"] == gates
    assert stored["metadata"]["labels"]["kueue.x-k8s.io/managed"] == "true"
    assert stored["metadata"]["finalizers"] == ["kueue.x-k8s.io/managed"]


def test_secrets_are_masked() -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s"},
        "stringData": {"token": "hf_abcdefgh"},
    }
    result = ptcompile.stored(secret)
    assert "***" in result.yaml()
    assert "aGZf" not in result.yaml() + json.dumps(result.to_list())


def test_mistakes_are_diagnostics() -> None:
    assert not ptcompile.stored("a: [").ok
    assert not ptcompile.stored(SPEC.replace("script", "skript")).ok
    (note,) = ptcompile.stored(
        {"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "t"}}
    ).diagnostics
    assert (note.name, note.severity) == ("unknown-defaults", "note")


@pytest.mark.parametrize(("case", "target"), ABLE[::7], ids=pair_name)
def test_what_compile_writes_is_stored_once(case: Case, target: str) -> None:
    result = ptcompile.stored(case.spec, target=target, cluster=case.cluster)
    for item in result.objects:
        again = ptcompile.stored(item.manifest, cluster=case.cluster)
        assert again.objects[0].manifest == item.manifest


@pytest.mark.parametrize(("case", "target"), ABLE[::7], ids=pair_name)
def test_what_compile_writes_equals_what_is_stored(case: Case, target: str) -> None:
    """An unchanged file over what it made is no change."""
    versions = {"from_cluster": case.cluster, "to_cluster": case.cluster}
    for file in ptcompile.compile(case.spec, target=target, cluster=case.cluster).manifests:
        live = ptcompile.stored(file, cluster=case.cluster).objects[0].manifest
        live = {**live, "metadata": {**live["metadata"], "uid": "u"}}
        difference = ptcompile.diff(live, file, **versions)  # type: ignore[arg-type]
        assert [d.message for d in difference.diagnostics if d.severity == "error"] == []
        assert difference.objects[0].changes == ()


def test_the_command_prints_the_stored_objects(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.json").write_text(json.dumps(pod()))
    (tmp_path / "b.json").write_text(json.dumps({**pod(), "metadata": {"name": "q"}}))
    assert main(["simulate", "--stored", str(tmp_path / "a.json"), str(tmp_path / "b.json")]) == 0
    shown = capsys.readouterr().out
    assert [item["metadata"]["name"] for item in yaml.safe_load_all(shown)] == ["p", "q"]
    assert main(["simulate", "--stored", str(tmp_path / "a.json"), "--format", "json"]) == 0
    (item,) = json.loads(capsys.readouterr().out)
    assert item["kind"] == "Pod"
    assert {"path": ["spec", "priority"], "value": 0, "by": "Priority"} in item["written"]
    with pytest.raises(Exception, match="--stored shows one target"):
        main(["simulate", "--stored", str(tmp_path / "a.json"), "--target", "all"])
