"""What other releases mean for manifests and specs that stay as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import ptcompile
from ptcompile.api.upgrade import EFFECTS
from tests.cli.running import here
from tests.making import smallest

Capture = pytest.CaptureFixture[str]
QUEUED = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train, labels: {kueue.x-k8s.io/queue-name: research}}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      restartPolicy: OnFailure
      template: {spec: {containers: [{name: pytorch, image: "img:1", command: [python, train.py]}]}}
"""
GANG = """\
apiVersion: batch/v1
kind: Job
metadata: {name: gang}
spec:
  template:
    spec:
      restartPolicy: Never
      schedulingGroup: {podGroupName: a}
      containers: [{name: main, image: "img:1", command: [python, train.py]}]
"""
RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata: {name: own}
spec:
  mlPolicy: {numNodes: 1, torch: {numProcPerNode: 2}}
  template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {containers: [{name: node}]}}}}}]}}
"""


def profile(**versions: str) -> dict[str, Any]:
    named = {name.replace("_o", "O"): version for name, version in versions.items()}
    return {
        "apiVersion": "ptcompile/v1",
        "kind": "ClusterProfile",
        "metadata": {"name": "a"},
        "spec": {"versions": named},
    }


def effects(
    text: str, before: dict[str, Any], after: dict[str, Any]
) -> list[tuple[str, str | None]]:
    result = ptcompile.upgrade(text, from_cluster=before, to_cluster=after)
    assert not result.diagnostics or not any(d.severity == "error" for d in result.diagnostics)
    Draft202012Validator(ptcompile.schema("upgrade")).validate(result.to_dict())
    return [(row.effect, row.code) for row in result.effects]


def test_a_queue_that_a_release_passes_over_is_ignored_or_resolved() -> None:
    rows = effects(QUEUED, profile(kueue="0.18"), profile(kueue="0.19"))
    assert rows[0] == ("ignored", "PTC491")
    assert {effect for effect, _ in rows[1:]} == {"differs"}
    assert effects(QUEUED, profile(kueue="0.19"), profile(kueue="0.18"))[-1] == (
        "resolved",
        "PTC491",
    )


def test_a_field_that_the_new_release_drops_is_ignored() -> None:
    rows = effects(GANG, profile(kubernetes="1.31"), profile(kubernetes="1.36"))
    assert rows == [("ignored", "PTC070"), ("resolved", "PTC518")]


def test_a_field_that_the_new_release_rejects_is_refused() -> None:
    rows = effects(RUNTIME, profile(trainer="2.1"), profile(trainer="2.3"))
    assert rows[0] == ("refused", "PTC501")


def test_nothing_changes() -> None:
    result = ptcompile.upgrade(
        QUEUED, from_cluster=profile(kueue="0.19"), to_cluster=profile(kueue="0.19")
    )
    assert result.ok
    assert result.text() == "1 object: nothing changes\n"
    assert result.markdown() == "1 object: nothing changes\n"


def test_only_what_is_mended_is_ok() -> None:
    result = ptcompile.upgrade(
        GANG, from_cluster=profile(kubernetes="1.31"), to_cluster=profile(kubernetes="1.36")
    )
    assert not result.ok
    assert result._replace(effects=result.effects[1:]).ok


def test_the_manifest_of_a_spec_differs() -> None:
    spec = smallest("nodes: 2")
    before = profile()
    after = json.loads(json.dumps(before))
    after["spec"]["defaults"] = {"env": {"NCCL_DEBUG": "INFO"}}
    texts = [
        row.text for row in ptcompile.upgrade(spec, from_cluster=before, to_cluster=after).effects
    ]
    assert any(text.endswith("env NCCL_DEBUG: + INFO") for text in texts), texts


def test_a_mistake_is_no_effect() -> None:
    result = ptcompile.upgrade("a: [", from_cluster=profile(), to_cluster=profile(kueue="0.18"))
    assert [finding.code for finding in result.diagnostics] == ["PTC001"]
    assert not result.effects
    assert not result.ok
    assert result.text() == "nothing compared: what was given has errors\n"


def test_only_the_named_variants_are_compared() -> None:
    family = smallest() + "variants: {small: {nodes: 2}, large: {nodes: 4}}\n"
    both = ptcompile.upgrade(family, from_cluster=profile(), to_cluster=profile(kueue="0.18"))
    upgrade = ptcompile.upgrade(
        family, from_cluster=profile(), to_cluster=profile(kueue="0.18"), variants=["large"]
    )
    assert both.objects == 2
    assert upgrade.objects == 1


def test_the_order_is_that_of_the_objects(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "a.yaml").write_text(f"{QUEUED}---\n{GANG}")
    (tmp_path / "b.yaml").write_text(RUNTIME)
    words = (
        "upgrade",
        tmp_path,
        "--kueue=0.18",
        "--to-kueue=0.19",
        "--kubernetes=1.31",
        "--to-kubernetes=1.36",
    )
    done = here(capsys, *words, "--trainer=2.1", "--format=json")
    rows = json.loads(done.out)["effects"]
    titles = list(dict.fromkeys(row["object"] for row in rows))
    assert (done.status, titles) == (1, ["PyTorchJob/train", "Job/gang"])
    for title in titles:
        order = [EFFECTS.index(row["effect"]) for row in rows if row["object"] == title]
        assert order == sorted(order)
    text = here(capsys, *words, "--to-trainer=2.3", "--trainer=2.1")
    assert "  ignored  PTC491 metadata.labels" in text.out
    assert text.out.splitlines()[-1].startswith("3 objects: 1 refused, 2 ignored")
    markdown = here(capsys, *words, "--format=markdown").out
    assert markdown.splitlines()[2] == "| File | Object | Effect | What |"


def test_releases_of_options_take_the_place_of_those_of_profiles(
    tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "a.yaml").write_text(QUEUED)
    (tmp_path / "old.yaml").write_text(json.dumps(profile(kueue="0.18")))
    (tmp_path / "new.yaml").write_text(json.dumps(profile(kueue="0.19")))
    for options in (
        ("--from", tmp_path / "old.yaml", "--to", tmp_path / "new.yaml"),
        ("--from", tmp_path / "old.yaml", "--to-kueue", "0.19"),
        ("--from", tmp_path / "new.yaml", "--kueue", "0.18", "--to-kueue", "0.19"),
    ):
        done = here(capsys, "upgrade", tmp_path / "a.yaml", *options)
        assert done.status == 1, options
        assert "PTC491" in done.out, options
    assert (
        here(
            capsys,
            "upgrade",
            tmp_path / "a.yaml",
            "--from",
            tmp_path / "old.yaml",
            "--to-jobset",
            "0.12",
        ).status
        == 0
    )


def test_a_mistake_in_the_profile_of_both_sides_is_one_finding(
    tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "a.yaml").write_text(QUEUED)
    (tmp_path / "old.yaml").write_text(json.dumps({**profile(), "sepc": {}}))
    done = here(
        capsys, "upgrade", tmp_path / "a.yaml", "--from", tmp_path / "old.yaml", "--to-kueue=0.19"
    )
    assert done.status == 1
    assert "1 error, 0 warnings" in done.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "nothing to compare: give --from and --to"),
        (("--to-kueue", "new"), "--to-kueue: not a version"),
        (("--training-operator", "x"), "--training-operator: not a version"),
    ],
)
def test_wrong_options_are_usage_errors(
    options: tuple[str, ...], message: str, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "a.yaml").write_text(QUEUED)
    done = here(capsys, "upgrade", tmp_path / "a.yaml", *options)
    assert done.status == 2
    assert message in done.err
