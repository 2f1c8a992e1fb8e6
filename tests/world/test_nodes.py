"""The nodes that a profile, Node objects and Karpenter's NodePools show, and the pods that none of them takes."""

from __future__ import annotations

import time
from typing import Any

import pytest

import ptcompile
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.nodes import fits
from ptcompile.requirements.dump import draft_profile
from ptcompile.simulator.as_text import overview
from ptcompile.world.nodes import pools_of_objects

Json = dict[str, Any]
GPU = "nvidia.com/gpu"
DEDICATED = {"key": "dedicated", "value": "ml", "effect": "NoSchedule"}
AWS = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"}


def job(gpus: int = 4, **spec: Any) -> Json:
    resources = (
        {"limits": {"cpu": 4, "memory": "16Gi", GPU: gpus}}
        if gpus
        else {"limits": {"cpu": 4, "memory": "1Gi"}}
    )
    container = {
        "name": "a",
        "image": "acme/a:1",
        "command": ["python", "a.py"],
        "resources": resources,
    }
    pod = {"restartPolicy": "Never", "containers": [container], **spec}
    body = {"backoffLimit": 0, "template": {"spec": pod}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}, "spec": body}


def node(name: str = "n-1", labels: Json | None = None, **changed: Any) -> Json:
    allocatable = {"cpu": "16", "memory": "64Gi", "pods": "110", GPU: "4"}
    body = {"spec": {}, "status": {"allocatable": allocatable}, **changed}
    labels = {"kubernetes.io/hostname": name, "pool": "gold", **(labels or {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        **body,
    }


def karpenter(*requirements: tuple[str, str, list[str]], **changed: Any) -> Json:
    written = [
        {"key": key, "operator": operator, "values": values}
        for key, operator, values in requirements
    ]
    template = {
        "metadata": {"labels": {"tier": "burst"}},
        "spec": {"nodeClassRef": AWS, "requirements": written},
    }
    template["spec"] |= changed.pop("template", {})
    spec = {"template": template, **changed}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "gpu"},
        "spec": spec,
    }


def machine_messages(*objects: Json, cluster: Json | None = None) -> list[tuple[str, str]]:
    """Return severity and message of what is said about the pods of the last object."""
    profile = None
    if cluster is not None:
        head = {"apiVersion": "ptcompile/v1", "kind": "ClusterProfile", "metadata": {"name": "own"}}
        profile = {**head, "spec": cluster}
    findings = ptcompile.lint([*objects], cluster=profile).diagnostics
    return [
        (finding.severity, finding.message.removeprefix("spec.template.spec."))
        for finding in findings
        if finding.name == "fits-no-machine"
    ]


POOLS = {
    "h100": {"machine": "p5.48xlarge", "taints": [DEDICATED]},
    "small": {"allocatable": {GPU: 4}},
}


def test_lint_asks_the_pools_of_the_profile() -> None:
    assert machine_messages(job(4), cluster={"nodePools": POOLS}) == []
    ((severity, message),) = machine_messages(job(8), cluster={"nodePools": POOLS})
    assert severity == "error"
    assert message.endswith(
        "0/2 node pools fit: 1 has the taint dedicated=ml:NoSchedule, 1 has 4 nvidia.com/gpu, 8 are requested"
    )
    assert [
        severity
        for severity, _ in machine_messages(
            job(8), cluster={"nodePools": POOLS, "otherPools": True}
        )
    ] == ["warning"]


def test_the_profile_s_pools_win_over_the_catalog_and_the_files() -> None:
    pinned = job(16, nodeSelector={"node.kubernetes.io/instance-type": "p5.48xlarge"})
    assert (
        machine_messages(node(), pinned, cluster={"nodePools": {"own": {"allocatable": {GPU: 16}}}})
        == []
    )


def test_the_profile_s_objects_count_if_it_lists_no_pools() -> None:
    ((severity, message),) = machine_messages(job(8), cluster={"objects": [node()]})
    assert (severity, message.partition(": ")[2]) == (
        "warning",
        f"0/1 nodes fit: 1 has 4 {GPU}, 8 are requested",
    )
    pinned = job(16, nodeSelector={"node.kubernetes.io/instance-type": "p5.48xlarge"})
    assert [
        severity for severity, _ in machine_messages(pinned, cluster={"objects": [node()]})
    ] == ["error"]


@pytest.mark.parametrize(
    ("nodes", "pods", "message"),
    [
        ([node()], job(4), ""),
        ([node()], job(8), f"containers[0].resources.limits[{GPU}]: 0/1 nodes fit: 1 has 4 {GPU}, 8 are requested"),
        ([node()], job(nodeSelector={"pool": "x"}), "nodeSelector.pool: 0/1 nodes fit: 1 lacks the label pool=x"),
        ([node(spec={"unschedulable": True})], job(), "spec.template.spec: 0/1 nodes fit: 1 is cordoned"),
        ([node(), node("n-2", spec={"taints": [DEDICATED]})], job(8, tolerations=[{"key": "x", "operator": "Exists"}]),
         f"containers[0].resources.limits[{GPU}]: 0/2 nodes fit: 1 has 4 {GPU}, 8 are requested, "
         "1 has the taint dedicated=ml:NoSchedule"),
        ([node(status={})], job(8), ""),
        ([node(metadata=7, spec=7, status=7)], job(8), ""),
    ],
)  # fmt: skip
def test_node_objects_of_the_files_are_the_nodes(
    nodes: list[Json], pods: Json, message: str
) -> None:
    assert [text for _, text in machine_messages(*nodes, pods)] == ([message] if message else [])
    assert all(severity == "warning" for severity, _ in machine_messages(*nodes, pods))


TYPES = ("node.kubernetes.io/instance-type", "In", ["g4dn.2xlarge", "g4dn.12xlarge"])
ON_POOL = {"karpenter.sh/nodepool": "gpu"}


@pytest.mark.parametrize(
    ("pool", "pods", "message"),
    [
        (karpenter(TYPES), job(4, nodeSelector=ON_POOL), ""),
        (karpenter(TYPES), job(5, nodeSelector=ON_POOL), f"1 has 4 {GPU}, 5 are requested"),
        (karpenter(TYPES), job(nodeSelector={"topology.kubernetes.io/zone": "b"}), ""),
        (
            karpenter(TYPES, template={"taints": [DEDICATED]}),
            job(),
            "1 has the taint dedicated=ml:NoSchedule",
        ),
        (karpenter(TYPES, template={"startupTaints": [DEDICATED]}), job(), ""),
        (karpenter(TYPES, limits={GPU: "2"}), job(4), f"1 has 1 {GPU}, 4 are requested"),
        # the cluster has nodes that Karpenter does not make
        (karpenter(TYPES, template={"taints": [DEDICATED]}), job(0), ""),
        (
            karpenter(TYPES, template={"taints": [DEDICATED]}),
            job(0, nodeSelector=ON_POOL),
            "1 has the taint ",
        ),
        (karpenter(TYPES), job(nodeSelector={"team": "x"}), ""),
        (karpenter(("karpenter.k8s.aws/instance-gpu-count", "Gt", ["4"])), job(8), ""),
        (karpenter(("karpenter.k8s.aws/instance-gpu-count", "Gte", ["4"])), job(8), ""),
        ({**karpenter(), "spec": {"template": 7, "limits": []}}, job(8), ""),
    ],
)
def test_karpenter_s_pools_of_the_files_are_the_nodes(pool: Json, pods: Json, message: str) -> None:
    messages = machine_messages(pool, pods)
    assert len(messages) == bool(message)
    assert all(
        severity == "warning" and f"0/1 node pools fit: {message}" in text
        for severity, text in messages
    )


def test_many_nodes_of_few_shapes_are_few_groups() -> None:
    nodes = [node(f"n-{i}", {"shape": f"s-{i % 20}"}) for i in range(10_000)]
    started = time.process_time()
    pools = pools_of_objects(Objects(nodes))
    assert pools is not None
    assert len(pools.groups) == 20
    pod = job(8)["spec"]["template"]["spec"]
    placements = [
        fits({**pod, "nodeSelector": {"shape": f"s-{i}"}}, pools.groups) for i in range(1_000)
    ]
    assert (
        placements[3]
        .text()
        .startswith("0/10000 nodes fit: 9500 lack the label shape=s-3, 500 have 4")
    )
    assert time.process_time() - started < 10

    named = {**pod, "nodeSelector": {"kubernetes.io/hostname": "n-7"}}
    assert fits(named, pools.groups).text().startswith("0/10000 nodes fit: 9500 lack")


@pytest.mark.parametrize("wrong", [7, "x", [], [7], {"a": 7}, {"a": {}}, None])
def test_nodes_and_pools_of_wrong_types_raise_nothing(wrong: Any) -> None:
    nodes = [node(**{key: wrong}) for key in ("metadata", "spec", "status")]
    nodes += [
        node(spec={"taints": wrong, "unschedulable": wrong}),
        node(status={"allocatable": wrong}),
    ]
    pools = [
        {**karpenter(), "spec": wrong},
        {**karpenter(), "metadata": wrong},
        karpenter(limits=wrong),
    ]
    pools += [
        karpenter(template={key: wrong}) for key in ("requirements", "taints", "nodeClassRef")
    ]
    pools += [
        karpenter(template={"requirements": [{"key": wrong, "operator": "In", "values": wrong}]})
    ]
    machine_messages(*nodes, *pools, job(8, nodeSelector=wrong, tolerations=wrong, affinity=wrong))
    machine_messages(
        *nodes,
        *pools,
        job(8, tolerations=[{"key": wrong, "value": wrong, "effect": wrong, "operator": wrong}]),
    )

    required = {"nodeSelectorTerms": [{"matchExpressions": [{"key": wrong, "operator": "Exists"}]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    for groups in (nodes, pools):
        machine_messages(*groups, job(8, affinity=affinity))


SERVICE = {
    "apiVersion": "v1", "kind": "Service", "metadata": {"name": "train"},
    "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": {"app": "train"}},
}  # fmt: skip
LAUNCH = [
    "torchrun", "--nnodes=2", "--nproc-per-node=4", "--node-rank=$(JOB_COMPLETION_INDEX)",
    "--master-addr=train-0.train", "--master-port=29500", "a.py",
]  # fmt: skip


def gang(gpus: int = 4, **spec: Any) -> Json:
    """Return a Job of two pods that wait for each other."""
    made = job(gpus, subdomain="train", **spec)
    made["spec"] |= {"completionMode": "Indexed", "completions": 2, "parallelism": 2}
    made["spec"]["template"]["metadata"] = {"labels": {"app": "train"}}
    made["spec"]["template"]["spec"]["containers"][0]["command"] = LAUNCH
    return made


PORTS = [{"containerPort": 29500, "hostPort": 29500}]


def crowded(*objects: Json, cluster: Json) -> list[tuple[str, str]]:
    head = {"apiVersion": "ptcompile/v1", "kind": "ClusterProfile", "metadata": {"name": "own"}}
    findings = ptcompile.lint([*objects], cluster={**head, "spec": cluster}).diagnostics
    return [(each.severity, each.message) for each in findings if each.name == "larger-than-pools"]


def test_all_pods_that_wait_for_one_another_need_room_at_once() -> None:
    pools = {"small": {"allocatable": {GPU: 4}, "count": 1}}
    ((severity, message),) = crowded(SERVICE, gang(), cluster={"nodePools": pools})
    assert severity == "error"
    assert (
        "2 pods wait for one another, but the nodes that take them (small) have room for 1"
        in message
    )
    assert crowded(SERVICE, gang(2), cluster={"nodePools": pools}) == []
    assert [
        severity
        for severity, _ in crowded(
            SERVICE, gang(), cluster={"nodePools": pools, "otherPools": True}
        )
    ] == ["warning"]
    apart = gang(2)
    apart["spec"]["template"]["spec"]["containers"][0]["ports"] = PORTS
    assert len(crowded(SERVICE, apart, cluster={"nodePools": pools})) == 1
    assert crowded(SERVICE, job(4), cluster={"nodePools": pools}) == []


def test_the_limits_of_karpenter_bound_all_pods() -> None:
    pools = [karpenter(TYPES, limits={GPU: limit}) for limit in ("4", "8")]
    pods = [SERVICE, gang(4, nodeSelector=ON_POOL)]
    assert len(crowded(pools[0], *pods, cluster={})) == 1
    assert crowded(pools[1], *pods, cluster={}) == []
    assert len(crowded(karpenter(TYPES, limits={"nodes": 1}), *pods, cluster={})) == 1
    assert len(crowded(karpenter(TYPES, replicas=1), *pods, cluster={})) == 1


def test_a_queue_s_flavor_brings_tolerations() -> None:
    flavor = {
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": "ResourceFlavor",
        "metadata": {"name": "gpu"},
    }
    flavor["spec"] = {"tolerations": [{"key": "dedicated", "operator": "Exists"}]}
    queued = job()
    queued["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "q"}
    tainted = node(spec={"taints": [DEDICATED]})
    assert machine_messages(flavor, tainted, queued) == []
    assert (
        len(machine_messages(flavor, tainted, job())) == len(machine_messages(tainted, queued)) == 1
    )


def running(name: str, gpus: int, phase: str = "Running", **metadata: Any) -> Json:
    container = {"name": "a", "resources": {"limits": {GPU: gpus}}}
    spec, status = {"nodeName": "n-1", "containers": [container]}, {"phase": phase}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, **metadata},
        "spec": spec,
        "status": status,
    }


@pytest.mark.parametrize(
    ("gpus", "pods", "reason"),
    [
        (4, [], ""),
        (8, [], f"0/1 nodes fit: 1 has 4 {GPU}, 8 are requested"),
        (
            4,
            [running("other", 1)],
            f"0/1 nodes fit: 1 has 3 {GPU}, 4 are requested while the pods of others run",
        ),
        (4, [running("other", 1, "Succeeded")], ""),
        (4, [running("own", 4, labels={"batch.kubernetes.io/job-name": "train"})], ""),
        (3, [running("other", 1)], ""),
    ],
)
def test_admit_asks_the_nodes_if_no_queue_keeps_a_job(
    gpus: int, pods: list[Json], reason: str
) -> None:
    (answer,) = ptcompile.admit([job(gpus)], state=[node(), *pods]).jobs
    assert (answer.outcome, answer.reason) == ("waits" if reason else "admitted", reason)


def test_simulate_says_where_pods_may_run() -> None:
    world = ptcompile.simulate([node(), node("n-2", spec={"taints": [DEDICATED]}), job()])
    assert "where        1/2 nodes fit (n-1): 1 has the taint dedicated=ml:NoSchedule" in overview(
        world
    )
    assert "where" not in overview(ptcompile.simulate([job()]))


def test_diff_says_that_no_node_takes_a_pod_any_more() -> None:
    diagnostics = ptcompile.diff([node(), job(4)], [node(), job(8)]).diagnostics
    assert [
        "no longer: 0/1 nodes fit" in each.message
        for each in diagnostics
        if each.name == "fits-no-machine"
    ] == [True]
    assert not any(
        each.name == "fits-no-machine"
        for each in ptcompile.diff([node(), job(8)], [node(), job(9)]).diagnostics
    )


ZONE = "topology.kubernetes.io/zone"


def zones(*names: str, **changed: Any) -> list[Json]:
    return [node(f"n-{i}", {ZONE: name}, **changed) for i, name in enumerate(names)]


@pytest.mark.parametrize(
    ("pod", "message"),
    [
        ({"nodeName": "n-0"}, ""),
        ({"nodeName": "n-9"}, "0/2 nodes fit: 2 are not n-9"),
        ({"nodeName": "n-0", "nodeSelector": {ZONE: "a"}}, ""),
        (
            {"nodeName": "n-0", "nodeSelector": {ZONE: "z"}},
            f"0/2 nodes fit: 1 lacks the label {ZONE}=z, 1 is not n-0",
        ),
    ],
)
def test_a_pod_that_names_its_node_fits_only_there(pod: Json, message: str) -> None:
    findings = machine_messages(*zones("a", "b"), job(8, **pod))
    assert [text.partition(": ")[2] for _, text in findings] == ([message] if message else [])


def disk(zone: str) -> list[Json]:
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
    volume = {
        "capacity": {"storage": "1Ti"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "",
        "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "vol-1"},
        "claimRef": {"name": "data", "namespace": "default"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
    }  # fmt: skip
    claim = {
        "volumeName": "disk", "storageClassName": "", "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Ti"}},
    }  # fmt: skip
    return [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "disk"},
            "spec": volume,
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data"},
            "spec": claim,
        },
    ]


def test_a_volume_s_zone_is_a_filter() -> None:
    mounting = job(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])
    mounting["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] = [
        {"name": "data", "mountPath": "/data"}
    ]
    ((_, message),) = machine_messages(*zones("a", "b"), *disk("c"), mounting)
    for zone in "ab":
        assert f"1 has the label {ZONE}={zone}, unlike a volume of the pod" in message
    assert machine_messages(*zones("a", "b"), *disk("b"), mounting) == []
    assert machine_messages(node(), *disk("c"), mounting) == []
    busy = {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "110"}}
    ((_, message),) = machine_messages(*zones("a"), *zones("b", status=busy), *disk("b"), mounting)
    assert "0/2 nodes fit" in message


SAME = {"labelSelector": {"matchLabels": {"app": "train"}}}


def spread(skew: int = 1, **more: Any) -> Json:
    constraint = {
        "maxSkew": skew,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        **SAME,
        **more,
    }
    return {"topologySpreadConstraints": [constraint]}


def apart(label: str) -> Json:
    terms = [{"topologyKey": label, **SAME}]
    return {
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    }


FULL = {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "110"}}
TAINTED = {"taints": [DEDICATED]}


@pytest.mark.parametrize(
    ("nodes", "pod", "expected"),
    [
        (zones("a", "a"), spread(), ""),
        (
            [*zones("a", "a"), node("x", {ZONE: "b"}, status=FULL)],
            spread(),
            "room for 1: maxSkew 1 over",
        ),
        ([*zones("a", "a"), node("x", {ZONE: "b"}, status=FULL)], spread(2), ""),
        (
            [*zones("a", "a"), node("x", {ZONE: "b"}, spec=TAINTED)],
            spread(),
            "room for 1: maxSkew 1 over",
        ),
        (
            [*zones("a", "a"), node("x", {ZONE: "b"}, spec=TAINTED)],
            spread(nodeTaintsPolicy="Honor"),
            "",
        ),
        (
            [*zones("a", "a"), node("x", {ZONE: "b"}, status=FULL)],
            spread(whenUnsatisfiable="ScheduleAnyway"),
            "",
        ),
        (
            [*zones("a", "a"), node("x", {ZONE: "b"}, status=FULL)],
            spread(labelSelector={"matchLabels": {"app": "x"}}),
            "",
        ),
        (zones("a", "b"), spread(), ""),
        (zones("a", "a"), apart(ZONE), f"room for 1: one for each {ZONE}"),
        (zones("a", "b"), apart(ZONE), ""),
        (zones("a", "b"), apart("kubernetes.io/hostname"), ""),
    ],
)
def test_pods_that_are_spread_may_not_fit(nodes: list[Json], pod: Json, expected: str) -> None:
    messages = [message for _, message in crowded(SERVICE, *nodes, gang(4, **pod), cluster={})]
    assert len(messages) == bool(expected)
    assert all(expected in message for message in messages)


def test_limits_below_a_machine_leave_no_node() -> None:
    machines = ("node.kubernetes.io/instance-type", "In", ["p5.48xlarge"])
    limited = karpenter(machines, limits={GPU: "4"})
    _, message = machine_messages(limited, job(4))[0]
    assert message.endswith("1 has no nodes and gets none")

    spec = draft_profile([limited]).document["spec"]
    assert spec["nodePools"]["gpu"]["count"] == 0
    tolerant = job(4, tolerations=[{"operator": "Exists"}])
    severity, message = machine_messages(tolerant, cluster=spec)[0]
    assert severity == "warning"
    assert message.endswith(": 0/1 node pools fit: 1 has no nodes and gets none")
