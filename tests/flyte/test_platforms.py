"""Flyte's plugin configuration: each key has a counterpart or a reason for its absence, and bad keys are findings."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from ptcompile import compile, flyte
from ptcompile.flyte.convert import GPU_TAINT
from ptcompile.flyte.platforms import ENGINE_KEYS, KNOWN_KEYS
from ptcompile.source.emitter import emit
from tests.flyte.making import OURS, document, manifest, pod
from tests.flyte.test_tasks import ANYTHING

CONFIG = """
plugins:
  k8s:
    default-cpus: 100m
    default-memory: 200Mi
    default-env-vars:
    - AWS_REGION: eu
    - Retries: 3
    default-env-from-configmaps: [settings]
    default-env-from-secrets: [tokens]
    default-labels: {team: nlp}
    default-annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict: "false"}
    default-node-selector: {pool: ml}
    default-tolerations: [{key: team, operator: Exists}]
    default-pod-dns-config: {options: [{name: ndots, value: "2"}]}
    default-security-context: {allowPrivilegeEscalation: false}
    default-pod-security-context: {runAsUser: 1000}
    enable-host-networking-pod: true
    image-pull-policy: Always
    scheduler-name: flyte
    gpu-resource-name: nvidia.com/gpu.shared
    resource-tolerations:
      nvidia.com/gpu.shared: [{key: gpu, operator: Exists}]
"""


def test_a_whole_configuration_reaches_the_pod() -> None:
    where = flyte.platform(CONFIG)
    assert where.problems == ()
    made = manifest(OURS.Elastic(), platform=where, limits=OURS.Resources(gpu=1))
    pod_spec = pod(made)
    container = pod_spec["containers"][0]
    assert made["metadata"]["labels"] == {"team": "nlp"}
    assert made["metadata"]["annotations"] == {
        "cluster-autoscaler.kubernetes.io/safe-to-evict": "false"
    }
    assert pod_spec["nodeSelector"] == {"pool": "ml"}
    assert [toleration["key"] for toleration in pod_spec["tolerations"]] == ["gpu", "team"]
    assert pod_spec["dnsConfig"] == {"options": [{"name": "ndots", "value": "2"}]}
    assert pod_spec["securityContext"] == {"runAsUser": 1000}
    assert pod_spec["hostNetwork"] is True
    assert pod_spec["schedulerName"] == "flyte"
    assert container["securityContext"] == {"allowPrivilegeEscalation": False}
    assert container["imagePullPolicy"] == "Always"
    assert container["env"] == [
        {"name": "AWS_REGION", "value": "eu"},
        {"name": "Retries", "value": "3"},
    ]
    assert container["envFrom"] == [
        {"configMapRef": {"name": "settings", "optional": True}},
        {"secretRef": {"name": "tokens", "optional": True}},
    ]
    amounts = {"cpu": "100m", "memory": "200Mi", "nvidia.com/gpu.shared": "1"}
    assert container["resources"] == {"requests": amounts, "limits": amounts}


def test_the_section_is_found_where_charts_put_it() -> None:
    section = {"default-labels": {"a": "b"}}
    made = [
        flyte.platform(one).document
        for one in (section, {"k8s": section}, {"plugins": {"k8s": section}})
    ]
    assert made[0] == made[1] == made[2]
    assert made[0]["spec"]["defaults"]["labels"] == {"a": "b"}


def test_device_classes_of_flyte_2_are_read() -> None:
    classes = {"NVIDIA_GPU": {"resource-name": "nvidia.com/own", "device-node-label": "own/device"}}
    where = flyte.platform(
        {"accelerator-device-classes": classes, "accelerator-devices": {"big": "giant-gpu"}}
    )
    entry = where.document["spec"]["accelerators"]["giant-gpu"]
    assert (entry["resourceName"], entry["nodeLabels"]) == (
        "nvidia.com/own",
        {"own/device": "giant-gpu"},
    )
    spec = document(OURS.Elastic(), limits=OURS.Resources(gpu=1), accelerator="Big", platform=where)
    assert spec["accelerator"] == "giant-gpu"


def test_the_caller_names_other_devices() -> None:
    where = flyte.platform({}, accelerators=["custom", "nvidia-h100/9g.1gb"])
    assert {"custom", "nvidia-h100/9g.1gb"} <= {*where.document["spec"]["accelerators"]}


@pytest.mark.parametrize("key", ENGINE_KEYS)
def test_keys_without_effect_give_warnings(key: str) -> None:
    where = flyte.platform({key: "1"})
    assert [(problem.severity, problem.path) for problem in where.problems] == [
        ("warning", ("k8s", key))
    ]


def test_a_misspelled_key_has_a_suggestion() -> None:
    assert [problem.help for problem in flyte.platform({"default-label": {}}).problems] == [
        "did you mean default-labels?"
    ]


@pytest.mark.parametrize(
    ("config", "start"),
    [
        ({"default-labels": 5}, "k8s.default-labels: 5 is not a list"),
        ({"resource-tolerations": []}, "k8s.resource-tolerations: [] is not a mapping"),
        ({"scheduler-name": 5}, "k8s.scheduler-name: 5 is not text"),
        ({"default-cpus": "lots"}, "spec.defaults.requests.cpu: "),
        ("a: [", ""),
        ("a: 1\n---\nb: 1\n", "k8s: expected one document, got 2"),
    ],
)
def test_mistakes_are_findings(config: Any, start: str) -> None:
    problems = [
        problem for problem in flyte.platform(config).problems if problem.severity == "error"
    ]
    assert [problem.message[: len(start)] for problem in problems] == [start]


@given(config=st.dictionaries(st.sampled_from([*KNOWN_KEYS, *ENGINE_KEYS]), ANYTHING, max_size=4))
def test_no_configuration_raises(config: dict[str, Any]) -> None:
    where = flyte.platform(config)
    if where.ok:
        document(OURS.Elastic(), platform=where)


CONTAINER = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("name", "image", "resources", "env"), ANYTHING)
)
POD = st.fixed_dictionaries(
    {}, optional={"containers": st.lists(CONTAINER, max_size=2) | ANYTHING, "tolerations": ANYTHING}
)


@given(
    template=st.fixed_dictionaries({}, optional={"spec": POD | ANYTHING, "metadata": ANYTHING}),
    taints=ANYTHING,
)
def test_no_pod_template_raises(template: dict[str, Any], taints: Any) -> None:
    where = flyte.platform({"resource-tolerations": {"cpu": taints}})
    task = flyte.task(
        pod, task_config=OURS.Elastic(), pod_template=template, limits=OURS.Resources(gpu=1, cpu=1)
    )
    converted = task.convert(
        "job", platform=where, interruptible=True, accelerator="a100/unpartitioned"
    )
    if converted.ok:
        converted.yaml()


def test_a_label_in_the_profile_is_not_repeated_in_the_spec() -> None:
    requirement = {"key": "spot", "operator": "In", "values": ["true"]}
    where = flyte.platform({"interruptible-node-selector-requirement": requirement})
    assert where.profile.spec.spot.node_labels == {"spot": "true"}
    assert "affinity" not in document(OURS.Elastic(), interruptible=True, platform=where)


@pytest.mark.parametrize("interruptible", [True, False])
@pytest.mark.parametrize("accelerator", [None, "a100/unpartitioned", "a100/1g.5gb", "v5p"])
def test_the_profile_as_a_file_gives_the_same_manifests(
    accelerator: str | None, interruptible: bool
) -> None:
    """Only the profile has the platform's settings; the job's document has none of them."""
    more = {
        "interruptible-node-selector-requirement": {
            "key": "x",
            "operator": "In",
            "values": ["a", "b"],
        },
        "non-interruptible-node-selector-requirement": {"key": "x", "operator": "DoesNotExist"},
        "default-affinity": {
            "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}
        },
        "add-tolerations-for-extended-resources": ["google.com/tpu"],
    }
    where = flyte.platform({**yaml.safe_load(CONFIG)["plugins"]["k8s"], **more})
    assert where.problems == ()
    job = flyte.task(
        pod,
        task_config=OURS.Elastic(nnodes=2),
        script="t.py",
        image="i",
        limits=OURS.Resources(gpu=1),
    )
    made = job.convert("job", platform=where, accelerator=accelerator, interruptible=interruptible)
    direct = job.compile(
        "job", platform=where, accelerator=accelerator, interruptible=interruptible
    )
    assert compile(made.yaml(), cluster=emit(where.document)).unwrap() == direct.unwrap()
    alone = job.convert("job", accelerator=accelerator, interruptible=interruptible)
    assert alone.document["spec"].pop("tolerations") == [GPU_TAINT], "it replaces a platform's"
    assert made.document == alone.document, "the platform adds nothing to the job"
    pod_spec = pod(dict(direct.manifests[0]))
    assert pod_spec["hostNetwork"] is True
    assert pod_spec["dnsPolicy"] == "ClusterFirstWithHostNet"
    assert ("tpu" in str(pod_spec["tolerations"])) == (accelerator == "v5p")
    terms = pod_spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    assert (
        more[f"{'' if interruptible else 'non-'}interruptible-node-selector-requirement"]
        in (terms[0]["matchExpressions"])
    )
