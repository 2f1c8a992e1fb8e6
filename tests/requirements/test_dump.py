"""The profile of a cluster from a dump of its objects."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import ptcompile
from ptcompile.api.inputs import File
from ptcompile.api.requirements import profile_from_dumps
from ptcompile.requirements.dump import draft_profile
from ptcompile.source import streams


def _object(api_version: str, kind: str, name: str, **fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "uid": "7", "resourceVersion": "1"},
        **fields,
    }


def _controller(image: str, *args: str, kind: str = "Deployment") -> dict[str, Any]:
    pod = {"containers": [{"name": "manager", "image": image, "args": list(args)}]}
    spec = pod if kind == "Pod" else {"template": {"spec": pod}}
    return _object("v1" if kind == "Pod" else "apps/v1", kind, "manager", spec=spec)


def _spec(*objects: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = draft_profile(objects).document["spec"]
    return spec


@pytest.mark.parametrize(
    ("image", "versions"),
    [
        ("registry.k8s.io/kueue/kueue:v0.19.2", {"kueue": "0.19"}),
        ("mirror.acme.io:5000/k8s/kueue:v0.18.0@sha256:" + "a" * 64, {"kueue": "0.18"}),
        ("registry.k8s.io/jobset/jobset:v0.12.0", {"jobset": "0.12"}),
        ("ghcr.io/kubeflow/trainer/trainer-controller-manager:v2.1.0", {"trainer": "2.1"}),
        ("kubeflow/training-operator:v1.9.3", {"trainingOperator": "1.9"}),
        ("docker.io/volcanosh/vc-controller-manager:v1.15.0", {"volcano": "1.15"}),
        ("ghcr.io/kai-scheduler/kai-scheduler/scheduler:v0.15.1", {"kai": "0.15"}),
        ("mpioperator/mpi-operator:0.8.0", {"mpiOperator": "0.8"}),
        ("registry.k8s.io/lws/lws:v0.8.0", {"lws": "0.8"}),
        ("quay.io/kuberay/operator:v1.5.1", {"kuberay": "1.5"}),
        ("nvcr.io/nvidia/k8s-dra-driver-gpu:v25.8.1", {"nvidiaDra": "25.8"}),
        ("registry.k8s.io/kube-apiserver:v1.36.2", {"kubernetes": "1.36"}),
        ("acme/operator:v9.9", {}),
        ("acme/not-kueue:v9.9", {}),
    ],
)
def test_releases_are_those_of_the_controllers_images(image: str, versions: dict[str, str]) -> None:
    assert _spec(_controller(image)).get("versions", {}) == versions


def test_the_newest_of_several_releases_counts_in_any_kind_of_controller() -> None:
    old, new = (
        _controller(f"k/kueue:v0.{minor}.0", kind=kind)
        for minor, kind in ((18, "StatefulSet"), (19, "Pod"))
    )
    assert _spec(new, old)["versions"] == {"kueue": "0.19"}


def test_an_image_without_a_release_is_named() -> None:
    draft = draft_profile([_controller("kubeflow/training-operator:latest")])
    assert "versions" not in draft.document["spec"]
    expected = "versions.trainingOperator: its image 'kubeflow/training-operator:latest' does not name a release"
    assert expected in draft.unknown


def test_the_api_server_is_at_least_as_new_as_a_kubelet() -> None:
    node = _object("v1", "Node", "a", status={"nodeInfo": {"kubeletVersion": "v1.34.2"}})
    draft = draft_profile([node])
    assert draft.document["spec"]["versions"] == {"kubernetes": "1.34"}
    assert any("the API server may be newer" in line for line in draft.unknown)
    draft = draft_profile([node, _controller("k/kube-apiserver:v1.36.0", kind="Pod")])
    assert draft.document["spec"]["versions"] == {"kubernetes": "1.36"}
    assert not any("the API server" in line for line in draft.unknown)


def test_feature_gates_that_no_profile_can_have_are_left_out() -> None:
    spec = _spec(
        _controller(
            "k/kube-apiserver:v1.36.0", "--feature-gates=A=true,B=False,C=maybe", kind="Pod"
        ),
        _controller("k/jobset:v0.12.0", "--feature-gates", "InPlaceRestart=true"),
        _controller("k/kueue:v0.19.0", "--feature-gates=D=true"),
        _controller("acme/x:v1", "--feature-gates=E=true"),
    )
    assert spec["featureGates"] == {
        "kubernetes": {"A": True, "B": False},
        "jobset": {"InPlaceRestart": True},
    }


def test_the_gang_scheduler_is_the_one_that_an_operator_is_started_with() -> None:
    assert (
        _spec(_controller("k/training-operator:v1.9.0", "--gang-scheduler-name=kai-scheduler"))[
            "gangScheduler"
        ]
        == "kai"
    )
    assert "gangScheduler" not in _spec(
        _controller("k/training-operator:v1.9.0", "--gang-scheduler-name=acme")
    )
    queue = _object("scheduling.volcano.sh/v1beta1", "Queue", "research")
    spec = _spec(queue, _controller("k/training-operator:v1.9.0", "--gang-scheduler-name=volcano"))
    assert spec == {
        "versions": {"trainingOperator": "1.9"}, "queueSystem": "volcano", "defaults": {"queue": "research"},
    }  # fmt: skip


def test_queues_choose_the_queue_system_and_a_single_one_is_the_default() -> None:
    def local(name: str) -> dict[str, Any]:
        return _object("kueue.x-k8s.io/v1beta2", "LocalQueue", name, spec={"clusterQueue": "all"})

    assert _spec(local("team"))["defaults"] == {"queue": "team"}
    draft = draft_profile([local("b"), local("a")])
    assert draft.document["spec"]["queueSystem"] == "kueue"
    assert "defaults" not in draft.document["spec"]
    assert "defaults.queue: one of a, b" in draft.unknown
    built_in = _object("scheduling.volcano.sh/v1beta1", "Queue", "default")
    assert "queueSystem" not in _spec(built_in)
    draft = draft_profile([local("a"), _object("scheduling.volcano.sh/v1beta1", "Queue", "b")])
    assert "queueSystem: volcano and kueue have queues; this is one of them" in draft.unknown


def test_the_queue_system_reads_its_own_objects() -> None:
    check = _object(
        "kueue.x-k8s.io/v1beta2",
        "AdmissionCheck",
        "far",
        spec={"controllerName": "kueue.x-k8s.io/multikueue"},
    )
    far = _object("kueue.x-k8s.io/v1beta2", "ClusterQueue", "a", spec={"admissionChecks": ["far"]})
    assert "multiKueue" not in _spec(check, far)
    assert (
        _spec(check, far, _object("kueue.x-k8s.io/v1beta2", "LocalQueue", "team"))["multiKueue"]
        is True
    )


def test_objects_are_kept_without_their_state() -> None:
    quota = _object(
        "v1", "ResourceQuota", "gpus", spec={"hard": {"pods": "4"}}, status={"used": {"pods": "1"}}
    )
    quota["metadata"] |= {
        "namespace": "ml",
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
    }
    kept = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "gpus", "namespace": "ml"},
    }
    secret = _object("v1", "Secret", "token", stringData={"password": "hunter2"})
    built_in = _object(
        "scheduling.k8s.io/v1", "PriorityClass", "system-node-critical", value=2_000_001_000
    )
    plain = _object("v1", "Namespace", "plain")
    plain["metadata"]["labels"] = {"kubernetes.io/metadata.name": "plain"}
    system = _object("v1", "Namespace", "kube-system")
    system["metadata"]["labels"] = {"a": "b"}
    assert _spec(quota, secret, built_in, plain, system) == {
        "objects": [{**kept, "spec": {"hard": {"pods": "4"}}}]
    }


def test_priorities_and_levels_are_named() -> None:
    levels = [{"nodeLabel": "acme.io/topology-rack"}, {"nodeLabel": "kubernetes.io/hostname"}]
    spec = _spec(
        _object("scheduling.k8s.io/v1", "PriorityClass", "low", value=-5),
        _object("kueue.x-k8s.io/v1beta2", "WorkloadPriorityClass", "high", value=9),
        _object("kueue.x-k8s.io/v1beta2", "Topology", "net", spec={"levels": levels}),
        _object("topology.volcano.sh/v1alpha1", "HyperNode", "s0", spec={"tier": 1}),
    )
    assert spec["priorities"] == {"high": 9, "low": -5}
    assert spec["topology"] == {
        "levels": {"rack": {"nodeLabel": "acme.io/topology-rack"}, "tier-1": {"tier": 1}}
    }


def test_the_text_begins_with_what_is_unknown_and_is_a_valid_profile() -> None:
    dump = {"apiVersion": "v1", "kind": "List", "items": [_controller("k/kueue:v0.19.0")]}
    draft = profile_from_dumps([File(streams.read_dump(dump, None, "dump"))])
    assert draft.ok
    assert draft.text().startswith("# From a dump of the cluster.")
    assert "\n# nodePools: the dump has no nodes\n" in draft.text()
    assert ptcompile.lint(draft.text()).ok


@pytest.mark.parametrize("dump", ["", "a: [", "- 1"])
def test_a_dump_that_cannot_be_read_has_no_profile(dump: str) -> None:
    draft = profile_from_dumps([File(streams.read_dump(dump, "dump.yaml", "dump"), "dump.yaml")])
    assert not draft.ok
    assert draft.document == {}


def test_several_dumps_are_one_cluster() -> None:
    kueue = {"apiVersion": "v1", "kind": "List", "items": [_controller("k/kueue:v0.19.0")]}
    jobset = {"apiVersion": "v1", "kind": "List", "items": [_controller("k/jobset:v0.12.0")]}
    dumps = [File(streams.read_dump(dump, None, "dump")) for dump in (kueue, jobset)]
    versions = profile_from_dumps(dumps).document["spec"]["versions"]
    assert {"kueue": "0.19", "jobset": "0.12"}.items() <= versions.items()


HOSTILE = st.sampled_from(
    [
        None,
        "",
        "x",
        1,
        -1.5,
        True,
        [],
        {},
        [None],
        {"": None},
        "1e99",
        "k/kueue:v0.19",
        ["--feature-gates=,=,a=true"],
    ]
)


def _mutated(value: Any) -> st.SearchStrategy[Any]:
    """Return the values of this shape in which anything may stand in any place."""
    if isinstance(value, dict):
        return st.fixed_dictionaries(
            {key: st.one_of(_mutated(inner), HOSTILE) for key, inner in value.items()}
        )
    return st.tuples(*map(_mutated, value)).map(list) if isinstance(value, list) else st.just(value)


POD = {"containers": [{"image": "k/jobset:v0.12", "args": ["--feature-gates=A=true"]}]}
LEVELS = {
    "levels": [{"nodeLabel": "a"}],
    "tier": 1,
    "taints": [{"key": "a", "effect": "NoSchedule"}],
}
ANYTHING = {
    "metadata": {"name": "a", "labels": {"agentpool": "b"}},
    "spec": {**POD, **LEVELS, "template": {"spec": POD}},
    "status": {"allocatable": {"cpu": "4"}, "nodeInfo": {"kubeletVersion": "v1.36"}},
    "value": 1,
}
KINDS = (
    "Node",
    "Deployment",
    "Pod",
    "Topology",
    "HyperNode",
    "PriorityClass",
    "Namespace",
    "LocalQueue",
    "ConfigMap",
)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.tuples(*[_mutated(ANYTHING) for _ in KINDS]))
def test_any_objects_make_a_valid_profile(contents: tuple[dict[str, Any], ...]) -> None:
    objects = [
        {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, **content}
        for kind, content in zip(KINDS, contents, strict=True)
    ]
    text = draft_profile(objects).text()
    assert not [each for each in ptcompile.lint(text).diagnostics if each.severity == "error"], text


def test_dumps_add_up_in_any_form_and_of_any_size() -> None:
    image = {"names": ["registry.k8s.io/image@sha256:" + "ab" * 500]}
    nodes = [
        _object("v1", "Node", f"n-{i}", status={"allocatable": {"cpu": "8"}, "images": [image] * 4})
        for i in range(1200)
    ]
    large = json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes[:-1]})
    assert len(large) > 3 << 20
    small = json.dumps(nodes[-1])
    dumps = [File(streams.read_dump(text, None, "dump"), "dump") for text in (large, small)]
    draft = profile_from_dumps(dumps)
    assert draft.ok
    assert [pool["count"] for pool in draft.document["spec"]["nodePools"].values()] == [1200]
    assert [each.code for each in ptcompile.lint(large).diagnostics] == ["PTC004"]


def test_an_item_of_a_dump_has_the_limits_of_an_object() -> None:
    wide = _object(
        "v1", "Node", "n", status={"images": [{"sizeBytes": i} for i in range(1_000_000)]}
    )
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [wide]})
    draft = profile_from_dumps([File(streams.read_dump(text, None, "dump"), "dump")])
    assert [each.name for each in draft.diagnostics] == ["too-large"]


TWO_CONFIGS = {
    "shared": "version: v1\nsharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}\n",
    "whole": "version: v1\nflags: {migStrategy: none}\n",
}


@pytest.mark.parametrize(
    ("default", "gpu"),
    [
        (None, {"sharing": {"strategy": "time-slicing", "refusesSeveral": False}}),
        ("shared", {"sharing": {"strategy": "time-slicing", "refusesSeveral": False}}),
        ("whole", None),
    ],
)
def test_the_device_plugin_s_configuration_says_how_gpus_are_shared(
    default: str | None, gpu: object
) -> None:
    config = _object("v1", "ConfigMap", "plugin", data=TWO_CONFIGS)
    policy = _object(
        "nvidia.com/v1",
        "ClusterPolicy",
        "gpus",
        spec={"devicePlugin": {"config": {"default": default}}},
    )
    plugin = _controller("nvcr.io/nvidia/k8s-device-plugin:v0.17.4", kind="DaemonSet")
    spec = _spec(config, policy, plugin)
    assert spec.get("gpu") == gpu
    assert spec["versions"] == {"devicePlugin": "0.17"}


def test_renamed_shares_are_what_gpu_means() -> None:
    node = _object(
        "v1", "Node", "a", status={"allocatable": {"cpu": "8", "nvidia.com/gpu.shared": "16"}}
    )
    assert _spec(node)["gpu"] == {"resourceName": "nvidia.com/gpu.shared"}


def test_slices_that_count_as_gpus_are_in_the_comment() -> None:
    policy = {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "spec": {"mig": {"strategy": "single"}},
    }
    assert any("(strategy single)" in line for line in draft_profile([policy]).unknown)
    assert not any(
        line.startswith("gpu: ") for line in draft_profile([{**policy, "spec": {"mig": 7}}]).unknown
    )
