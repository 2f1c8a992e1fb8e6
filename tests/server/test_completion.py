"""Completions, also in texts that cannot be parsed."""

from __future__ import annotations

import re

import pytest

from ptcompile.operators.targets import TARGETS
from tests.recordings import AGAIN, RECORDINGS, recorded
from tests.server.making import POD, SPEC, accepted, completions, elsewhere, opened, with_profile

PROFILE = """\
apiVersion: ptcompile/v1
kind: ClusterProfile
metadata: {name: prod}
spec:
  accelerators: {big: {nodeLabels: {pool: big}}}
  fabrics: {rails: {resources: {rdma/rails: 1}}}
  topology: {levels: {rack: {nodeLabel: example.com/rack}}}
  priorities: {high: 1000}
  defaults: {queue: research}
"""
HEAD = "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: train}\nspec:\n"


def test_only_missing_fields_of_a_spec_are_offered() -> None:
    offered = completions(SPEC + "  |")
    assert {"args", "queue", "sharedMemory"} <= set(offered)
    assert not {"image", "nodes", "metadata"} & set(offered)


def test_fields_below_a_key_are_offered() -> None:
    assert {"nnodes", "maxRestarts"} <= set(completions(f"{HEAD}  elastic:\n    m|"))
    assert {"nnodes", "maxRestarts"} <= set(completions(f"{HEAD}  elastic: {{nprocPerNode: 8, |"))
    assert "nprocPerNode" not in completions(f"{HEAD}  elastic: {{nprocPerNode: 8, |")


@pytest.mark.parametrize("variants", ["variants:\n  a:\n    |", "variants:\n- a: {env: {}, |}"])
def test_fields_of_a_variant_are_offered(variants: str) -> None:
    assert {"nodes", "elastic"} <= set(completions(SPEC + variants))


def test_a_field_has_its_description() -> None:
    item = completions(f"{HEAD}  scr|")["script"]
    assert "torchrun starts" in str(item.documentation)


@pytest.mark.parametrize(
    ("text", "label", "after"),
    [
        (f"{HEAD}  im|", "image", f"{HEAD}  image: "),
        (f"{HEAD}  ela|", "elastic", f"{HEAD}  elastic:"),
        (f"{HEAD}  im|: x", "image", f"{HEAD}  image: x"),
        (f"{HEAD}  elastic: {{maxR|}}", "maxRestarts", f"{HEAD}  elastic: {{maxRestarts: }}"),
        (f"{HEAD}  target: vo|", "volcano", f"{HEAD}  target: volcano"),
        (f"{HEAD}  target:|", "volcano", f"{HEAD}  target: volcano"),
        (f"{HEAD}  target: 'v|'", "volcano", f"{HEAD}  target: 'volcano'"),
    ],
)
def test_a_completion_inserts_valid_text(text: str, label: str, after: str) -> None:
    assert accepted(text, label) == after


def test_targets_enums_and_switches_are_offered() -> None:
    assert list(completions(f"{HEAD}  target: |")) == list(TARGETS)
    assert set(completions(f"{HEAD}  imagePullPolicy: |")) == {"Always", "IfNotPresent", "Never"}
    assert set(completions(f"{HEAD}  spot: |")) == {"true", "false"}


def test_names_of_the_profile_come_before_built_in_names() -> None:
    settings = with_profile(PROFILE)
    assert next(iter(completions(f"{HEAD}  accelerator: |", settings=settings))) == "big"
    assert {"rails", "efa"} <= set(completions(f"{HEAD}  fabric: |", settings=settings))
    assert "research" in completions(f"{HEAD}  queue: |", settings=settings)
    assert "rack" in completions(f"{HEAD}  topology: {{required: |", settings=settings)
    assert "high" in completions(f"{HEAD}  priority: |", settings=settings)
    assert "nvidia-h100" in completions(f"{HEAD}  accelerator: |")


def test_names_of_the_workspace_are_offered() -> None:
    other = elsewhere(
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: team-a}\n---\n"
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"
    )
    assert "team-a" in completions(f"{HEAD}  queue: |", elsewhere=other)
    assert set(
        completions(f"{HEAD}  envFrom:\n  - configMapRef:\n      name: |", elsewhere=other)
    ) == {"settings"}


def test_fields_of_kubernetes_objects_are_offered() -> None:
    assert {"name", "emptyDir", "persistentVolumeClaim"} <= set(
        completions(f"{HEAD}  volumes:\n  - |")
    )
    assert {"initContainers", "containers"} <= set(completions(f"{HEAD}  podTemplate: {{spec: {{|"))
    assert {"tasks", "minAvailable"} <= set(
        completions(f"{HEAD}  manifest: {{volcano: {{spec: {{|")
    )


def test_fields_of_a_manifest_are_offered() -> None:
    assert {"env", "resources"} <= set(completions(POD.replace("    image:", "    |\n    image:")))
    assert "containers" not in completions(POD + "  c|")
    offered = completions(
        "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nspec:\n  pytorchReplicaSpecs:\n    Master:\n      |"
    )
    assert set(offered) == {"replicas", "restartPolicy", "template"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (POD.replace("restartPolicy: Never", "restartPolicy: |"), {"Always", "OnFailure", "Never"}),
        (POD.replace("restartPolicy: Never", "restartPolicy:|"), {"Always", "OnFailure", "Never"}),
        (POD.replace("restartPolicy: Never", "dnsPolicy: C|"), {"ClusterFirst", "Default", "None"}),
        (POD.replace("emptyDir: {}", "hostPath: {path: /a, type: |}"), {"Directory", "File"}),
    ],
)
def test_values_of_a_closed_list_are_offered(text: str, words: set[str]) -> None:
    assert words <= set(completions(text))


def test_the_volumes_that_a_mount_may_name_are_offered() -> None:
    assert set(completions(POD.replace("{name: data, mount", "{name: |, mount"))) == {"data"}


def test_host_names_that_pods_will_have_are_offered() -> None:
    offered = completions(SPEC + "  args: [--server, |]")
    assert list(offered)[:2] == ["train-master-0.train", "train-worker-0.train"]


def test_variables_that_nccl_and_torch_read_are_offered() -> None:
    of_a_spec = set(completions(f"{HEAD}  env:\n    NCCL_|"))
    assert {"NCCL_DEBUG", "NCCL_SOCKET_IFNAME", "NCCL_IB_HCA"} <= of_a_spec
    assert all(label.startswith("NCCL_") for label in of_a_spec)
    assert "NCCL_DEBUG" not in completions(SPEC.replace("  target", "    NCCL_|\n  target")), (
        "it is set already"
    )
    assert "NCCL_ASYNC_ERROR_HANDLING" not in of_a_spec, "its name before PyTorch 2.2"
    assert (
        accepted(f"{HEAD}  env:\n    NCCL_DE|", "NCCL_DEBUG") == f"{HEAD}  env:\n    NCCL_DEBUG: "
    )
    of_a_pod = completions(
        POD.replace("    volumeMounts:", "    env:\n    - name: TORCH_|\n    volumeMounts:")
    )
    assert "TORCH_DISTRIBUTED_DEBUG" in of_a_pod
    assert all(label.startswith("TORCH_") for label in of_a_pod)


def test_a_variable_with_levels_offers_them() -> None:
    levels = {"VERSION", "WARN", "INFO", "ABORT", "TRACE", "NONE"}
    assert set(completions(SPEC.replace("NCCL_DEBUG: INFO", "NCCL_DEBUG: |"))) == levels
    pod = POD.replace(
        "    volumeMounts:", "    env:\n    - name: NCCL_DEBUG\n      value: |\n    volumeMounts:"
    )
    assert set(completions(pod)) == levels
    assert "train-master-0.train" in completions(SPEC.replace("NCCL_DEBUG: INFO", "MASTER: |"))
    assert "train-master-0.train" not in completions(
        SPEC.replace("NCCL_DEBUG: INFO", "NCCL_SOCKET_IFNAME: |")
    )


def test_host_names_while_the_text_is_broken() -> None:
    broken = SPEC + "  args: [--server, |"
    assert not opened(broken.replace("|", "")).is_sound
    assert "train-master-0.train" not in completions(broken)
    assert "train-master-0.train" in completions(broken, before=opened(SPEC))


def test_kinds_and_versions_are_offered_together() -> None:
    assert list(completions("|")) == ["apiVersion", "kind", "metadata", "spec"]
    assert "PyTorchJob" in completions("apiVersion: kubeflow.org/v1\nkind: |")
    assert "Pod" not in completions("apiVersion: kubeflow.org/v1\nkind: |")
    assert "batch.volcano.sh/v1alpha1" in completions("kind: Job\napiVersion: |")


def test_fields_of_an_object_in_a_list_are_offered() -> None:
    offered = completions(
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  spec:\n    |"
    )
    assert "containers" in offered


def test_codes_are_offered_in_an_ignore_comment() -> None:
    offered = completions("apiVersion: v1 # ptcompile: ignore[PTC302,PTC3|\n")
    assert offered["PTC301"].detail
    assert not completions("apiVersion: v1 # some other comment |\n")


def test_a_block_scalar_offers_nothing() -> None:
    assert not completions(
        "apiVersion: v1\nkind: ConfigMap\ndata:\n  a: ^\n    text |".replace("^", ">")
    )


def test_host_names_of_few_pods_of_each_role_are_offered() -> None:
    nodes = re.sub(r"nodes: \d+", "nodes: 12", SPEC)
    names = [
        name for name in completions(nodes + "  args: [--server, |]") if name.startswith("train-")
    ]
    assert names == ["train-master-0.train", *(f"train-worker-{index}.train" for index in range(8))]


def test_host_names_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptcompile.server.completion._MAX_SUGGESTIONS", 3)
    nodes = re.sub(r"nodes: \d+", "nodes: 12", SPEC)
    names = [
        name for name in completions(nodes + "  args: [--server, |]") if name.startswith("train-")
    ]
    assert names == ["train-master-0.train", "train-worker-0.train", "train-worker-1.train"]


def test_completions_are_as_recorded() -> None:
    assert RECORDINGS["server/completions.txt"]() == recorded("server/completions.txt"), AGAIN
