"""The 38 cases of docs/facts/flyte.md#cases, by number, with ptcompile's classes and with the plugin's own.

If a case concerns Flyte's engine and has no counterpart, the test says so and checks the closest thing that is true.
"""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile import flyte
from ptcompile.flyte.resources import node_device_name
from ptcompile.ir.job import JOIN_TIMEOUT_SECONDS
from tests.flyte.making import (
    OURS,
    convert,
    document,
    env,
    expressions,
    main,
    manifest,
    messages,
    pod,
    resources,
    roles,
)

WAIT = str(JOIN_TIMEOUT_SECONDS)

GPU = "nvidia.com/gpu"


def platform(**config: Any) -> flyte.Platform:
    made = flyte.platform({key.replace("_", "-"): value for key, value in config.items()})
    assert made.ok, made.problems
    return made


def test_the_master_and_the_workers_are_equal() -> None:
    """Case 1 of docs/facts/flyte.md#cases."""
    with pytest.warns(flyte.FlyteWarning, match="per_replica_storage_request"):
        spec = flyte.pytorch_task(
            name="job",
            image="i",
            workers_count=100,
            per_replica_cpu_request="100m",
            per_replica_cpu_limit="1000m",
            per_replica_memory_request="512Mi",
            per_replica_memory_limit="1Gi",
            per_replica_gpu_limit="1",
            per_replica_storage_request="1Gi",
        )
    made = dict(ptcompile.compile(spec).unwrap()[0])
    assert [(key, role["replicas"]) for key, role in roles(made).items()] == [
        ("Master", 1),
        ("Worker", 100),
    ]
    assert "elasticPolicy" not in made["spec"]
    assert main(made)["name"] == main(made, "Master")["name"] == "pytorch"
    expected = {
        "cpu": ("100m", "1000m"),
        "memory": ("512Mi", "1Gi"),
        # Flyte drops storage; ptcompile requests scratch disk
        "ephemeral-storage": ("1Gi", "1Gi"),
        GPU: ("1", "1"),
    }
    assert resources(made) == resources(made, "Master") == expected
    assert {role["restartPolicy"] for role in roles(made).values()} == {"Never"}


def test_an_elastic_job_has_workers_only(words: Any) -> None:
    """Case 2 of docs/facts/flyte.md#cases."""
    made = manifest(words.Elastic(nnodes="1:2", nproc_per_node=4))
    assert {key: role["replicas"] for key, role in roles(made).items()} == {"Worker": 2}
    policy = made["spec"]["elasticPolicy"]
    assert (policy["minReplicas"], policy["maxReplicas"], policy["rdzvBackend"]) == (1, 2, "c10d")
    # the operator reads the string, not the deprecated number
    assert made["spec"]["nprocPerNode"] == "4"
    assert "nProcPerNode" not in policy


def test_an_elastic_job_starts_one_process_as_in_flyte(words: Any) -> None:
    """Case 2 of docs/facts/flyte.md#cases."""
    made = manifest(
        words.Elastic(nnodes=2), requests=words.Resources(gpu="8"), limits=words.Resources(gpu="8")
    )
    assert resources(made)[GPU] == ("8", "8")
    assert made["spec"]["nprocPerNode"] == "1"


def test_each_role_has_its_own_image_resources_and_policy(words: Any) -> None:
    """Case 3 of docs/facts/flyte.md#cases."""
    config = words.PyTorch(
        master=words.Master(
            image="m:1",
            requests=words.Resources(cpu="250m", mem="250Mi"),
            limits=words.Resources(cpu="500m", mem="500Mi"),
            restart_policy=words.RestartPolicy.ALWAYS,
        ),
        worker=words.Worker(
            replicas=100,
            requests=words.Resources(cpu="1024m", mem="1Gi"),
            limits=words.Resources(cpu="2048m", mem="2Gi"),
        ),
    )
    made = manifest(config)
    assert resources(made, "Master") == {"cpu": ("250m", "500m"), "memory": ("250Mi", "500Mi")}
    assert resources(made) == {"cpu": ("1024m", "2048m"), "memory": ("1Gi", "2Gi")}
    assert [role["restartPolicy"] for role in roles(made).values()] == ["Always", "Never"]
    assert (main(made, "Master")["image"], main(made)["image"]) == ("m:1", "acme/llama:2")
    assert made["spec"]["runPolicy"] == {
        "cleanPodPolicy": "None"
    }  # the operator's default, written explicitly
    # differs: a replica inherits missing keys from the task, GPUs too; zero means none
    inherits = manifest(config, requests=words.Resources(gpu=1))
    assert resources(inherits, "Master")[GPU] == ("1", "1")


def test_the_master_inherits_from_the_task(words: Any) -> None:
    """Case 4 of docs/facts/flyte.md#cases."""
    config = words.PyTorch(worker=words.Worker(replicas=2, requests=words.Resources(cpu="1024m")))
    task = (
        words.Resources(cpu="100m", mem="512Mi"),
        words.Resources(cpu="1000m", mem="1Gi", gpu="1"),
    )
    made = manifest(config, requests=task[0], limits=task[1])
    assert resources(made, "Master") == {
        "cpu": ("100m", "1000m"),
        "memory": ("512Mi", "1Gi"),
        GPU: ("1", "1"),
    }
    assert {role["restartPolicy"] for role in roles(made).values()} == {"Never"}


def test_the_run_policy_keeps_all_its_fields(words: Any) -> None:
    """Case 5 of docs/facts/flyte.md#cases."""
    policy = words.RunPolicy(words.CleanPodPolicy.ALL, 10000, 1000, 100)
    made = manifest(words.PyTorch(worker=words.Worker(replicas=1), run_policy=policy))
    assert made["spec"]["runPolicy"] == {
        "cleanPodPolicy": "All",
        "ttlSecondsAfterFinished": 10000,
        "activeDeadlineSeconds": 1000,
        "backoffLimit": 100,
    }
    # differs: with Flyte's Never, the backoff limit has no effect
    assert roles(made)["Worker"]["restartPolicy"] == "OnFailure"


def test_without_workers_there_is_only_a_master(words: Any) -> None:
    """Case 6 of docs/facts/flyte.md#cases."""
    made = manifest(words.PyTorch(worker=words.Worker(replicas=0)))
    assert {key: role["replicas"] for key, role in roles(made).items()} == {"Master": 1}


TAINT = {"key": "flyte/gpu", "operator": "Equal", "value": "dedicated", "effect": "NoSchedule"}


def test_only_the_role_with_gpus_tolerates(words: Any) -> None:
    """Case 7 of docs/facts/flyte.md#cases."""
    config = words.PyTorch(worker=words.Worker(replicas=1, limits=words.Resources(gpu="1")))
    made = manifest(config, platform=platform(resource_tolerations={GPU: [TAINT]}))
    assert pod(made)["tolerations"] == [TAINT]
    assert "tolerations" not in pod(made, "Master")


def test_an_accelerator_adds_affinity_and_tolerations(words: Any) -> None:
    """Case 8 of docs/facts/flyte.md#cases."""
    where = platform(
        gpu_device_node_label="gpu-node-label", add_tolerations_for_extended_resources=[GPU]
    )
    made = manifest(
        words.Elastic(nnodes=2),
        limits=words.Resources(gpu="1"),
        accelerator="nvidia-tesla-t4",
        platform=where,
    )
    device = {"key": "gpu-node-label", "operator": "In", "values": ["nvidia-tesla-t4"]}
    assert expressions(made, "Master") == [[device]]
    assert pod(made)["tolerations"] == [
        {
            "key": "gpu-node-label",
            "operator": "Equal",
            "value": "nvidia-tesla-t4",
            "effect": "NoSchedule",
        },
        {"key": GPU, "operator": "Exists", "effect": "NoSchedule"},
    ]


def test_a_partition_of_an_accelerator_adds_an_expression(words: Any) -> None:
    """Case 9 of docs/facts/flyte.md#cases."""
    where = platform(
        gpu_device_node_label="gpu-node-label",
        gpu_partition_size_node_label="gpu-partition-size",
        add_tolerations_for_extended_resources=[GPU],
    )
    made = manifest(
        words.Elastic(), limits=words.Resources(gpu="1"), accelerator="a100/1g.5gb", platform=where
    )
    assert [[one["key"], one["values"]] for one in expressions(made)[0]] == [
        ["gpu-node-label", ["nvidia-tesla-a100"]],
        ["gpu-partition-size", ["1g.5gb"]],
    ]
    assert [toleration["key"] for toleration in pod(made)["tolerations"]] == [
        "gpu-node-label",
        "gpu-partition-size",
        GPU,
    ]


def test_labels_are_on_the_job_and_its_pods(words: Any) -> None:
    """Case 10 of docs/facts/flyte.md#cases."""
    template = words.PodTemplate(labels={"team": "nlp"}, annotations={"note": "x"})
    made = manifest(
        words.PyTorch(worker=words.Worker(replicas=1)), pod_template=template, labels={"own": "1"}
    )
    both = {"labels": {"team": "nlp", "own": "1"}, "annotations": {"note": "x"}}
    assert {key: made["metadata"][key] for key in both} == both
    assert [role["template"]["metadata"] for role in roles(made).values()] == [both, both]


def test_the_deprecated_num_workers_counts_workers(words: Any) -> None:
    """Case 11 of docs/facts/flyte.md#cases."""
    # Flyte writes workerReplicas 10 and masterReplicas 1, both with empty resources
    spec = document(words.PyTorch(num_workers=10))
    assert spec["worker"] == {"replicas": 10}
    assert "master" not in spec


def test_policies_of_roles_and_of_the_run_are_kept(words: Any) -> None:
    """Case 12 of docs/facts/flyte.md#cases."""
    worker = words.Worker(
        image="w:1",
        replicas=5,
        requests=words.Resources(cpu="2", mem="2Gi"),
        limits=words.Resources(cpu="4", mem="2Gi"),
        restart_policy=words.RestartPolicy.FAILURE,
    )
    master = words.Master(restart_policy=words.RestartPolicy.ALWAYS)
    policy = words.RunPolicy(words.CleanPodPolicy.ALL, 100, 100, 5)
    spec = document(words.PyTorch(worker=worker, master=master, run_policy=policy))
    assert spec["master"] == {"restartPolicy": "Always"}
    assert spec["worker"] == {
        "image": "w:1",
        "restartPolicy": "OnFailure",
        "replicas": 5,
        "resources": {"memory": "2Gi", "requests": {"cpu": 2}, "limits": {"cpu": 4}},
    }
    assert spec["runPolicy"] == {
        "cleanPodPolicy": "All",
        "ttlSecondsAfterFinished": 100,
        "activeDeadlineSeconds": 100,
        "backoffLimit": 5,
    }


def test_an_elastic_job_keeps_its_run_policy(words: Any) -> None:
    """Case 13 of docs/facts/flyte.md#cases."""
    policy = words.RunPolicy(words.CleanPodPolicy.ALL, 600, 36000)
    made = manifest(words.Elastic(nnodes=2, run_policy=policy))
    assert made["spec"]["runPolicy"] == {
        "cleanPodPolicy": "All",
        "ttlSecondsAfterFinished": 600,
        "activeDeadlineSeconds": 36000,
    }


def test_timeouts_need_two_nodes_and_threads_default_to_1(words: Any) -> None:
    """Case 14 of docs/facts/flyte.md#cases."""
    # a single node waits for nobody; with two, the 15 minutes are in the manifest
    assert document(words.Elastic()).get("elastic", {}).get("rdzvConfigs") is None
    assert f"timeout={WAIT},join_timeout={WAIT}" in " ".join(
        main(manifest(words.Elastic(nnodes=2)), "Master")["command"]
    )
    made = manifest(words.Elastic(nproc_per_node=2))
    assert (made["kind"], env(made)["OMP_NUM_THREADS"]) == ("Pod", "1")
    kept = manifest(words.Elastic(nproc_per_node=2), environment={"OMP_NUM_THREADS": "42"})
    assert env(kept)["OMP_NUM_THREADS"] == "42"


SHM = {"name": "mine", "mountPath": "/dev/shm"}  # noqa: S108
TWO = {"containers": [{"name": "primary"}, {"name": "log", "image": "l:1"}]}
OWN = {
    "containers": [{"name": "primary", "volumeMounts": [SHM]}],
    "volumes": [{"name": "mine", "emptyDir": {"medium": "Memory"}}],
}


@pytest.mark.parametrize(
    ("kept", "spec", "mounts"),
    [
        (True, None, ["shm"]),
        (False, None, []),
        (True, {"containers": []}, ["shm"]),
        (
            True,
            TWO,
            ["shm"],
        ),  # Flyte rejects this as ambiguous, although the template names the container
        (True, OWN, ["mine"]),  # Flyte rejects this; ptcompile keeps the user's mount
        (False, OWN, ["mine"]),
    ],
)
def test_shared_memory_is_mounted_once_unless_refused(
    words: Any, kept: bool, spec: dict[str, Any] | None, mounts: list[str]
) -> None:
    """Case 15 of docs/facts/flyte.md#cases."""
    template = words.PodTemplate(words.pod_spec(spec)) if spec is not None else None
    made = manifest(words.Elastic(increase_shared_mem=kept), pod_template=template)
    assert [mount["name"] for mount in main(made).get("volumeMounts", [])] == mounts
    assert [volume["name"] for volume in pod(made).get("volumes", [])] == mounts


def test_shared_memory_of_the_task_wins(words: Any) -> None:
    """Case 15 of docs/facts/flyte.md#cases."""
    config = words.Elastic(increase_shared_mem=False)
    assert pod(manifest(config, shared_memory=True))["volumes"][0]["emptyDir"] == {
        "medium": "Memory"
    }
    # no pod template remains to be patched
    assert "podTemplate" not in document(words.Elastic(), shared_memory=True)


def test_policies_are_strings_in_any_case(words: Any) -> None:
    """Case 16 of docs/facts/flyte.md#cases."""
    # as Flyte 2's SDK writes them
    made = manifest(
        words.Elastic(nnodes=2, nproc_per_node=2, max_restarts=3, run_policy=words.RunPolicy("all"))
    )
    assert made["spec"]["runPolicy"] == {"cleanPodPolicy": "All"}
    assert "--max-restarts=3" in main(made, "Master")["command"]
    assert "--rdzv-backend=c10d" in main(made, "Master")["command"]
    assert sum(role["replicas"] for role in roles(made).values()) == 2


@pytest.mark.parametrize(
    ("request_", "limit", "here"),
    [
        # default 10, Flyte's platform limit 20; where Flyte clamps, ptcompile keeps or rejects
        ("1", "2", ("1", "2")),
        ("0", "2", ("2", "2")),
        ("2", "0", ("2", "2")),
        ("0", "0", ("10", "10")),
        ("10", "2", "request-above-limit"),  # Flyte: 2 and 2
        ("1", "40", ("1", "40")),  # Flyte: 1 and 20
        ("40", "50", ("40", "50")),  # Flyte: 20 and 20
    ],
)
def test_a_missing_request_or_limit_has_a_default(
    words: Any, request_: str, limit: str, here: Any
) -> None:
    """Case 17 of docs/facts/flyte.md#cases."""
    check_half(words, request_, limit, here, platform(default_cpus="10"))


@pytest.mark.parametrize(
    ("request_", "limit", "here"),
    [
        # Flyte's "clamp only", to 5; ptcompile clamps nothing
        ("4", "3", "request-above-limit"),
        ("6", "5", "request-above-limit"),
        ("4", "6", ("4", "6")),
        ("1", "2", ("1", "2")),
    ],
)
def test_nothing_is_clamped_silently(words: Any, request_: str, limit: str, here: Any) -> None:
    """Case 18 of docs/facts/flyte.md#cases."""
    check_half(words, request_, limit, here, platform())


def check_half(words: Any, request_: str, limit: str, here: Any, where: flyte.Platform) -> None:
    halves = {"requests": words.Resources(cpu=request_), "limits": words.Resources(cpu=limit)}
    if isinstance(here, str):
        task = flyte.task(
            test_without_workers_there_is_only_a_master,
            task_config=words.Elastic(),
            script="t.py",
            image="i",
            platform=where,
        )
        assert [diagnostic.name for diagnostic in task.compile("job", **halves).diagnostics] == [
            here
        ]
    else:
        assert resources(manifest(words.Elastic(), platform=where, **halves))["cpu"] == here


def test_scratch_disk_is_requested_only_if_asked_for(words: Any) -> None:
    """Case 19 of docs/facts/flyte.md#cases."""
    made = manifest(words.Elastic(), requests=words.Resources(ephemeral_storage="1"))
    assert resources(made) == {"ephemeral-storage": ("1", "1")}
    assert resources(manifest(words.Elastic(), requests=words.Resources(cpu=1))) == {
        "cpu": ("1", "1")
    }


def test_a_gpu_comes_with_default_resources(words: Any) -> None:
    """Case 20 of docs/facts/flyte.md#cases."""
    where = platform(default_cpus="1", default_memory="1Gi")
    made = manifest(words.Elastic(), limits=words.Resources(gpu=1), platform=where)
    assert resources(made) == {"cpu": ("1", "1"), "memory": ("1Gi", "1Gi"), GPU: ("1", "1")}
    tpu = manifest(
        words.Elastic(), limits=words.Resources(gpu=1), accelerator="v5p", platform=where
    )
    assert resources(tpu)["google.com/tpu"] == ("1", "1")


def test_replica_resources_override_the_task(words: Any) -> None:
    """Case 21 of docs/facts/flyte.md#cases."""
    config = words.PyTorch(worker=words.Worker(replicas=1, limits=words.Resources(gpu=4)))
    made = manifest(
        config,
        requests=words.Resources(cpu=2, mem="4Gi", gpu=1),
        limits=words.Resources(cpu=4, mem="8Gi", gpu=1),
    )
    assert resources(made) == {"cpu": ("2", "4"), "memory": ("4Gi", "8Gi"), GPU: ("4", "4")}


@pytest.mark.parametrize("text", ["250x", "blah"])
def test_invalid_quantities_are_reported(words: Any, text: str) -> None:
    """Case 22 of docs/facts/flyte.md#cases."""
    config = words.PyTorch(worker=words.Worker(replicas=1, requests=words.Resources(mem=text)))
    expected = f"task_config.worker.requests.mem: {text!r} is not a Kubernetes quantity"
    assert messages(config) == [expected]


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ({"ephemeral_storage": "1Gi"}, 1),
        ({"ephemeral_storage": "1Gi", "gpu": "1"}, 2),
        ({"cpu": "1"}, 0),
    ],
)
def test_resources_add_their_tolerations(words: Any, given: dict[str, str], count: int) -> None:
    """Case 23 of docs/facts/flyte.md#cases."""
    disk = {"key": "storage", "operator": "Equal", "value": "dedicated", "effect": "NoSchedule"}
    taints = {"ephemeral-storage": [disk], GPU: [TAINT]}
    made = manifest(
        words.Elastic(),
        limits=words.Resources(**given),
        platform=platform(resource_tolerations=taints),
    )
    assert len(pod(made).get("tolerations", [])) == count
    only = manifest(words.Elastic(), platform=platform(default_tolerations=[disk]))
    assert pod(only)["tolerations"] == [disk]


SPOT = {"key": "x/interruptible", "operator": "In", "values": ["true"]}
OLD = {"key": "zone", "operator": "In", "values": ["a"]}
AFFINITY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [OLD]}]
        }
    }
}


@pytest.mark.parametrize("requirement", [SPOT, {"key": "x/interruptible", "operator": "Exists"}])
def test_an_interruptible_task_adds_its_requirement_to_each_term(
    words: Any, requirement: dict[str, Any]
) -> None:
    """Case 24 of docs/facts/flyte.md#cases."""
    where = platform(interruptible_node_selector_requirement=requirement, default_affinity=AFFINITY)
    made = manifest(words.Elastic(), interruptible=True, platform=where)
    assert expressions(made) == [[OLD, requirement]]
    assert manifest(words.Elastic(), interruptible=True, platform=where) == made
    own = words.PodTemplate(words.pod_spec({"containers": [], "affinity": AFFINITY}))
    alone = platform(interruptible_node_selector_requirement=SPOT)
    assert expressions(
        manifest(words.Elastic(), interruptible=True, platform=alone, pod_template=own)
    ) == [[OLD, SPOT]]
    never = platform(
        non_interruptible_node_selector_requirement={"key": "x", "operator": "DoesNotExist"}
    )
    assert expressions(manifest(words.Elastic(), platform=never)) == [
        [{"key": "x", "operator": "DoesNotExist"}]
    ]


def test_an_accelerator_without_a_gpu_has_no_effect(words: Any) -> None:
    """Case 25 of docs/facts/flyte.md#cases."""
    assert "accelerator" not in document(words.Elastic(), accelerator="h100")
    assert messages(words.Elastic(), accelerator="h100") == [
        "accelerator: no pod requests a GPU, so it has no effect"
    ]


def test_a_whole_device_excludes_partitions(words: Any) -> None:
    """Case 26 of docs/facts/flyte.md#cases."""
    limits = words.Resources(gpu=1)
    labels = {"gpu_device_node_label": "device", "gpu_partition_size_node_label": "size"}
    made = manifest(
        words.Elastic(),
        limits=limits,
        accelerator="a100/unpartitioned",
        platform=platform(**labels),
    )
    keys = {one["key"]: one["operator"] for one in expressions(made)[0]}
    assert keys == {"device": "In", "size": "DoesNotExist"}
    assert [toleration["key"] for toleration in pod(made)["tolerations"]] == ["device"]
    whole = {"key": "size", "operator": "In", "values": ["whole"]}
    accepted = {"key": "size", "operator": "Equal", "value": "whole", "effect": "NoSchedule"}
    custom = platform(
        **labels,
        gpu_unpartitioned_node_selector_requirement=whole,
        gpu_unpartitioned_toleration=accepted,
    )
    made = manifest(
        words.Elastic(), limits=limits, accelerator="a100/unpartitioned", platform=custom
    )
    assert whole in expressions(made)[0]
    assert accepted in pod(made)["tolerations"]


def test_a_tpu_selects_its_type_and_topology(words: Any) -> None:
    """Case 27 of docs/facts/flyte.md#cases."""
    made = manifest(
        words.Elastic(), limits=words.Resources(gpu=4), accelerator="V5P/2x2x2", platform=platform()
    )
    labels = {one["key"]: one["values"] for one in expressions(made)[0]}
    expected = {
        "cloud.google.com/gke-tpu-accelerator": ["tpu-v5p-slice"],
        "cloud.google.com/gke-tpu-topology": ["2x2x2"],
    }
    assert labels == expected
    assert {toleration["key"] for toleration in pod(made)["tolerations"]} == set(expected)


def test_device_names_are_normalized() -> None:
    """Case 28 of docs/facts/flyte.md#cases."""
    assert (
        node_device_name("h100")
        == node_device_name("H100")
        == node_device_name(node_device_name("H100"))
        == "nvidia-h100"
    )
    assert node_device_name("custom-gpu-device") == "custom-gpu-device"
    # fixed: Flyte looks up `L40S`, but its key is `L40s`
    assert node_device_name("L40s") == "nvidia-l40s"


def test_the_node_selector_of_the_template_wins(words: Any) -> None:
    """Case 29 of docs/facts/flyte.md#cases."""
    where = platform(
        default_node_selector={"user": "default"},
        interruptible_node_selector={"x/interruptible": "true"},
    )
    own = words.PodTemplate(
        words.pod_spec({"containers": [], "nodeSelector": {"user": "also-configured"}})
    )
    made = manifest(words.Elastic(), interruptible=True, platform=where, pod_template=own)
    assert pod(made)["nodeSelector"] == {"user": "also-configured"}
    # ptcompile writes an affinity that selects the same nodes as the interruptible label
    assert expressions(made) == [[SPOT]]


def test_extended_resources_add_tolerations_once(words: Any) -> None:
    """Case 30 of docs/facts/flyte.md#cases."""
    there = {"key": GPU, "operator": "Exists", "effect": "NoSchedule"}
    own = words.PodTemplate(
        words.pod_spec(
            {
                "tolerations": [there],
                "containers": [
                    {"name": "primary", "resources": {"limits": {"foo/bar": "1", "foo/baz": "1"}}}
                ],
            }
        )
    )
    where = platform(add_tolerations_for_extended_resources=[GPU, "foo/bar"])
    made = manifest(
        words.Elastic(), limits=words.Resources(gpu=1), platform=where, pod_template=own
    )
    assert sorted(toleration["key"] for toleration in pod(made)["tolerations"]) == ["foo/bar", GPU]


@pytest.mark.parametrize(("asked", "limit"), [("2Gi", {"sizeLimit": "2Gi"}), (True, {})])
def test_the_size_of_shared_memory_is_its_limit(
    words: Any, asked: bool | str, limit: dict[str, str]
) -> None:
    """Case 31 of docs/facts/flyte.md#cases."""
    made = manifest(words.Elastic(), shared_memory=asked)
    # Flyte writes a zero quantity for "no size"; the kubelet uses the memory limit for both
    assert pod(made)["volumes"] == [{"name": "shm", "emptyDir": {"medium": "Memory", **limit}}]


def test_invalid_shared_memory_is_reported_and_a_taken_name_changed(words: Any) -> None:
    """Case 31 of docs/facts/flyte.md#cases."""
    # of Flyte's seven errors, a missing name, path or container cannot occur; a taken name is changed
    assert messages(words.Elastic(), shared_memory="much")[0].startswith("shared_memory: ")
    taken = {"containers": [], "volumes": [{"name": "shm", "emptyDir": {}}]}
    made = manifest(
        words.Elastic(), shared_memory=True, pod_template=words.PodTemplate(words.pod_spec(taken))
    )
    assert [volume["name"] for volume in pod(made)["volumes"]] == ["shm", "shm-2"]
    mounted = manifest(
        words.Elastic(), shared_memory=True, pod_template=words.PodTemplate(words.pod_spec(OWN))
    )
    assert [volume["name"] for volume in pod(mounted)["volumes"]] == ["mine"]


def test_labels_of_a_partition_come_from_the_user(words: Any) -> None:
    """Case 32 of docs/facts/flyte.md#cases."""
    # Union counts slices for its quota by this label; users set it themselves
    made = manifest(words.Elastic(), labels={"platform.union.ai/gpu-partition-slices": "1"})
    assert made["metadata"]["labels"] == {"platform.union.ai/gpu-partition-slices": "1"}


def test_the_environment_is_only_that_of_the_user(words: Any) -> None:
    """Case 33 of docs/facts/flyte.md#cases."""
    # Flyte adds 13 or 14 variables about the execution and its console's URL; none exists outside Flyte
    made = manifest(words.Elastic(), environment={"B": "1", "A": "2"})
    assert env(made) == {"B": "1", "A": "2"}


def test_four_nodes_without_an_operator_are_an_indexed_job(words: Any) -> None:
    """Case 34 of docs/facts/flyte.md#cases."""
    # Flyte 2 makes a JobSet of a clustered environment; the target job writes its Indexed Job
    job = every(
        words.Elastic(nnodes=4, nproc_per_node=8), target="job", labels={"flyte.org/execution": "f"}
    )["Job"]
    spec = job["spec"]
    assert (spec["parallelism"], spec["completions"], spec["completionMode"]) == (4, 4, "Indexed")
    assert spec["backoffLimit"] == 0
    assert spec["template"]["spec"]["restartPolicy"] == "Never"
    assert spec["template"]["metadata"]["labels"]["flyte.org/execution"] == "f"


def every(config: Any, **knobs: Any) -> dict[str, dict[str, Any]]:
    """Return all objects of a task by kind."""
    return {
        one["kind"]: dict(one)
        for one in ptcompile.compile(convert(config, **knobs).document).unwrap()
    }


def test_torchrun_gets_its_options_on_the_command_line(words: Any) -> None:
    """Case 35 of docs/facts/flyte.md#cases."""
    # ptcompile passes Flyte's NNODES, NPROC_PER_NODE and RDZV_BACKEND as torchrun options
    job = every(words.Elastic(nnodes=4, nproc_per_node=8, max_restarts=3), target="job")["Job"]
    command = " ".join(job["spec"]["template"]["spec"]["containers"][0]["command"])
    for option in ("--nnodes=4", "--nproc-per-node=8", "--rdzv-backend=c10d", "--max-restarts=3"):
        assert option in command


def test_negative_restarts_are_rejected_as_in_flyte(words: Any) -> None:
    """Case 36 of docs/facts/flyte.md#cases."""
    assert messages(words.Elastic(max_restarts=-1))[0].startswith("task_config.max_restarts: ")


def test_a_long_name_is_rejected(words: Any) -> None:
    """Case 36 of docs/facts/flyte.md#cases: Flyte hashes the name, but people search for it."""
    long = flyte.task(
        test_without_workers_there_is_only_a_master,
        task_config=words.Elastic(nnodes=2),
        script="t.py",
        image="i",
    )
    diagnostics = long.compile("x" * 140).diagnostics
    assert {diagnostic.path for diagnostic in diagnostics if diagnostic.severity == "error"} == {
        ("name",)
    }


def test_the_command_is_that_of_the_launcher(words: Any) -> None:
    """Case 37 of docs/facts/flyte.md#cases."""
    # the launcher's checks (DNS, environment, torchrun) run in the pod; its argv is the container's command
    job = every(words.Elastic(nnodes=4, nproc_per_node=8), target="job")["Job"]
    command = job["spec"]["template"]["spec"]["containers"][0]["command"]
    assert (command[0], command[-1]) == ("torchrun", "train.py")
    assert "--rdzv-id=job" in command
    assert "--rdzv-endpoint=job-0.job:23456" in command


@pytest.mark.parametrize(
    ("nnodes", "nproc", "gpu", "at"),
    [
        (0, 1, None, "task_config.nnodes: "),
        (1, 0, None, "task_config.nproc_per_node: "),
        ("4:2", 1, None, "task_config.nnodes: "),
        ("1:2:3", 1, None, "task_config.nnodes: "),
        (2, 8, 4, "task_config.nproc_per_node: "),
        (2, 8, 8, None),
    ],
)
def test_impossible_numbers_are_reported(
    words: Any, nnodes: int | str, nproc: int, gpu: int | None, at: str | None
) -> None:
    """Case 38 of docs/facts/flyte.md#cases."""
    limits = words.Resources(gpu=gpu) if gpu else None
    config = words.Elastic(nnodes=nnodes, nproc_per_node=nproc)
    task = flyte.task(
        test_without_workers_there_is_only_a_master,
        task_config=config,
        script="t.py",
        image="i",
        limits=limits,
    )
    reported = [
        diagnostic.message
        for diagnostic in task.compile("job").diagnostics
        if diagnostic.severity == "error"
    ]
    assert [message[: len(at or "")] for message in reported] == ([at] if at else [])


def test_accelerator_objects_of_flytekit_are_read() -> None:
    """Case 38 of docs/facts/flyte.md#cases."""
    real = pytest.importorskip("flytekit.extras.accelerators")
    where = platform()
    names = {
        "nvidia-tesla-t4": real.T4,
        "nvidia-tesla-a100": real.A100,
        "nvidia-tesla-a100/1g.5gb": real.A100.partition_1g_5gb,
        "nvidia-tesla-a100/unpartitioned": real.A100.unpartitioned,
    }
    found = [
        document(OURS.Elastic(), limits=OURS.Resources(gpu=1), accelerator=name, platform=where)[
            "accelerator"
        ]
        for name in names.values()
    ]
    assert found == [*names]
