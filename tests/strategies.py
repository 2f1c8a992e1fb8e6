"""Specs and profiles for hypothesis: varied, and valid by construction, so each rejection needs a reason.

Composite strategies are constants, because hypothesis validates each new one completely before drawing, which took
longer than drawing.
"""

from __future__ import annotations

import copy
import string
from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]

WORD = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=8)
NAME = st.from_regex(r"[a-z]([a-z0-9-]{0,10}[a-z0-9])?", fullmatch=True)
ENV_NAME = st.from_regex(r"X_[A-Z0-9_]{1,8}", fullmatch=True)
"""Names with a prefix that no operator uses."""

AWKWARD = st.sampled_from(
    ["", " ", "yes", "no", "on", "~", "null", "0777", "08", "1e3", "1_000", "0x1F", "12:30:45", "2026-01-01", ".inf",
     "=", "<<", "- a", "a: b", "a #b", "#", "'", '"', "{", "[", "&a", "*a", "!t", "|", ">", "%", "@", "`", "\\n",
     "a\nb\n", "\ttab", "é", "日本", "\U0001f600", "$(HOME)", "$$", "\u2028", "\x85", "end ", "---", "...", "? a", ": "]
)  # fmt: skip
TEXT = AWKWARD | st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20)

CPU = st.integers(1, 64) | st.sampled_from(["500m", "1500m", "0.5", "2"])
MEMORY = st.sampled_from(["512Mi", "1Gi", "64Gi", "1Ti", "2G"])


def _optional(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries({}, optional=fields)


LABELS = st.dictionaries(
    NAME.map(lambda key: f"example.com/{key}"),
    st.from_regex(r"([a-z0-9]([-a-z0-9_.]{0,8}[a-z0-9])?)?", fullmatch=True),
    max_size=2,
)
AMOUNTS = _optional(cpu=CPU, memory=MEMORY, ephemeralStorage=MEMORY)
DEVICES = st.sampled_from(["rdma/hca", "vpc.amazonaws.com/efa"])


@st.composite
def resources(draw: st.DrawFn, gpus: int | None = None) -> Json:
    """Draw a node's resources: flat, or requests below limits, with devices and `gpus` GPUs."""
    out: Json = draw(AMOUNTS)
    if "cpu" not in out and draw(st.booleans()):
        out["requests"], out["limits"] = {"cpu": "250m"}, {"cpu": 1}
    if gpus:
        out["gpu"] = gpus
    if draw(st.booleans()):
        out["devices"] = {draw(DEVICES): draw(st.integers(1, 4))}
    return out


ENV_VALUE = TEXT | st.sampled_from(
    [
        {"secretKeyRef": {"name": "s", "key": "k"}},
        {"configMapKeyRef": {"name": "c", "key": "k", "optional": True}},
        {"fieldRef": {"fieldPath": "metadata.name"}},
        {"resourceFieldRef": {"resource": "limits.cpu"}},
    ]
)

TOLERATION = st.sampled_from(
    [
        {"key": "a", "operator": "Exists"},
        {"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"},
        {"operator": "Exists"},
        {"key": "flyte/gpu", "operator": "Equal", "value": "dedicated", "effect": "NoSchedule"},
    ]
)

VOLUMES = st.sampled_from(
    [
        ([], []),
        ([{"name": "data", "emptyDir": {}}], [{"name": "data", "mountPath": "/data"}]),
        (
            [{"name": "shm", "persistentVolumeClaim": {"claimName": "c"}}],
            [
                {"name": "shm", "mountPath": "/a"},
                {"name": "shm", "mountPath": "/b", "subPath": "x", "readOnly": True},
            ],
        ),
        (
            [{"name": "own", "emptyDir": {"medium": "Memory"}}],
            [{"name": "own", "mountPath": "/dev/shm"}],  # noqa: S108
        ),
    ]
)

POD_TEMPLATE = st.sampled_from(
    [
        {},
        {"metadata": {"labels": {"patched": "1"}}, "spec": {"priorityClassName": "high"}},
        {
            "spec": {
                "containers": [{"name": "pytorch", "env": [{"name": "X_A", "value": "patched"}]}]
            }
        },
        {
            "spec": {
                "containers": [{"name": "sidecar", "image": "side:1"}],
                "enableServiceLinks": False,
            }
        },
        {
            "spec": {
                "initContainers": [{"name": "init", "image": "init:1"}],
                "tolerations": [{"operator": "Exists"}],
            }
        },
        {
            "spec": {
                "containers": [
                    {"name": "pytorch", "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}}}
                ]
            }
        },
    ]
)

AFFINITY = st.sampled_from(
    [
        {},
        {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [
                                {"key": "zone", "operator": "In", "values": ["a", "b"]}
                            ]
                        }
                    ]
                }
            }
        },
        {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"topologyKey": "kubernetes.io/hostname"}
                ]
            }
        },
    ]
)

RUN_POLICY = _optional(
    cleanPodPolicy=st.sampled_from(["None", "Running"]),
    ttlSecondsAfterFinished=st.integers(0, 10_000),
    activeDeadlineSeconds=st.integers(1, 10_000),
    backoffLimit=st.integers(0, 5),
    suspend=st.booleans(),
    onPodFailure=st.sampled_from(["RestartPod", "RestartJob", "FailJob"]),
    onDisruption=st.sampled_from(["Ignore", "Count", "FailJob"]),
    successPolicy=st.sampled_from(["Node0", "AllNodes"]),
    restartInPlace=st.sampled_from(
        [{"exitCodes": [3]}, {"exitCodes": [137], "action": "RestartAllContainers"}]
    ),
)

POD_FIELDS = _optional(
    args=st.lists(TEXT, max_size=3),
    workingDir=st.just("/app"),
    imagePullPolicy=st.sampled_from(["Always", "IfNotPresent", "Never"]),
    env=st.dictionaries(ENV_NAME, ENV_VALUE, max_size=3),
    envFrom=st.just([{"secretRef": {"name": "s"}}]),
    restartPolicy=st.sampled_from(["Never", "OnFailure"]),
    serviceAccountName=NAME,
    imagePullSecrets=st.just([{"name": "registry"}]),
    nodeSelector=LABELS,
    tolerations=st.lists(TOLERATION, max_size=2),
    affinity=AFFINITY,
    priorityClassName=NAME,
    securityContext=st.just({"runAsUser": 1}),
    podSecurityContext=st.just({"fsGroup": 1}),
    schedulerName=NAME,
    hostNetwork=st.booleans(),
    terminationGracePeriodSeconds=st.integers(0, 600),
    podLabels=LABELS,
    podAnnotations=st.dictionaries(NAME, TEXT, max_size=2),
    podTemplate=POD_TEMPLATE,
)


@st.composite
def pod_fields(draw: st.DrawFn) -> Json:
    """Draw pod fields of a job or a role, except its command and resources."""
    volumes, mounts = draw(VOLUMES)
    return draw(POD_FIELDS) | ({"volumes": volumes, "volumeMounts": mounts} if volumes else {})


SIDE_NAMES = st.lists(
    st.sampled_from(["loader", "ps", "data-cache"]), min_size=1, max_size=2, unique=True
)
SIDE_ROLE = _optional(
    image=st.just("side:1"), command=st.just(["serve", "$(X_A)"]), replicas=st.integers(1, 4)
)


@st.composite
def side_roles(draw: st.DrawFn) -> Json:
    """Draw auxiliary roles by name."""
    roles = {}
    for name in draw(SIDE_NAMES):
        role = copy.deepcopy(draw(pod_fields()))
        for container in role.get("podTemplate", {}).get("spec", {}).get("containers", ()):
            container["name"] = container["name"].replace("pytorch", name)
        role["resources"] = draw(resources(draw(st.sampled_from([None, None, 1]))))
        roles[name] = role | draw(SIDE_ROLE)
    return roles


JOB_FIELDS = _optional(
    runPolicy=RUN_POLICY,
    sharedMemory=st.booleans() | st.just("256Mi"),
    queue=NAME,
    priority=NAME,
    masterPort=st.integers(1024, 65535),
)
FABRIC = _optional(fabric=st.sampled_from(["efa", "infiniband", "roce", "tcpx", "tcpxo"]))
FAST = _optional(fabric=st.just("fast"))
TOPOLOGY = _optional(topology=st.sampled_from([{"required": "rack"}, {"preferred": "rack"}]))
METADATA = _optional(namespace=NAME, labels=LABELS)


@st.composite
def specs(draw: st.DrawFn, *, catalogue: bool = False) -> Json:
    """Draw a consistent TrainingJob document, which a target may still be unable to express.

    With `catalogue`, it may request features that only the profiles of `profiles` have.
    """
    gpus = draw(st.sampled_from([None, None, 1, 2, 8]))
    job: Json = {"image": "registry.example.com/train:1", **draw(pod_fields())}
    job["resources"] = draw(resources(gpus))
    start = draw(st.sampled_from(["script", "module", "command", "image"]))
    if start != "image":
        job[start] = {
            "script": "train.py",
            "module": "pkg.train",
            "command": ["bash", "-c", "exec x"],
        }[start]
    shape = draw(st.sampled_from(["one", "nodes", "range", "roles"]))
    elastic = (
        draw(_elastic(gpus)) if start in {"script", "module"} and draw(st.booleans()) else None
    )
    if shape == "nodes":
        job["nodes"] = draw(st.integers(1, 12))
    elif shape == "range" and elastic is not None:
        least = draw(st.integers(1, 4))
        elastic["nnodes"] = f"{least}:{least + draw(st.integers(0, 4))}"
    elif shape == "roles":
        job["master"] = draw(pod_fields()) if draw(st.booleans()) else {}
        job["worker"] = {
            "replicas": draw(st.integers(0, 5)),
            **(draw(pod_fields()) if draw(st.booleans()) else {}),
        }
    if elastic is not None:
        meeting = (
            {"rdzvBackend", "rdzvEndpoint"} if _nodes(job, elastic) == 1 else set()
        )  # a single node cannot join another
        job["elastic"] = {key: value for key, value in elastic.items() if key not in meeting}
    job |= draw(JOB_FIELDS)
    job |= draw(FABRIC)
    if draw(st.sampled_from([False, False, True])):
        job["roles"] = draw(side_roles())
        names = [f"$({name.upper().replace('-', '_')}_HOSTS)" for name in job["roles"]]
        job["env"] = {**job.get("env", {}), "X_WHERE": " ".join(names)}
    _no_contradiction(job)
    if catalogue:
        job |= draw(TOPOLOGY)
        cards = ["big", "nvidia-h100", "nvidia-a100-40gb/1g.5gb"]
        if (elastic or {}).get("nprocPerNode") != "gpu":
            cards.append("odd")  # not a CUDA device
        job |= draw(
            _optional(
                spot=st.booleans(), **({"accelerator": st.sampled_from(cards)} if gpus else {})
            )
        )
        job |= draw(FAST)
    metadata: Json = {"name": draw(NAME), **draw(METADATA)}
    return {"apiVersion": "ptcompile/v1", "kind": "TrainingJob", "metadata": metadata, "spec": job}


def _no_contradiction(job: Json) -> None:
    """Remove restart fields that contradict others."""
    policy, blocks = job.get("runPolicy", {}), (job, job.get("master", {}), job.get("worker", {}))
    if any(block.get("restartPolicy") == "OnFailure" for block in blocks):
        policy.pop("onPodFailure", None)
    if policy.get("onPodFailure") == "FailJob":
        policy.pop("backoffLimit", None)


def _nodes(job: Json, elastic: Json) -> int:
    if "worker" in job:
        return 1 + int(job["worker"]["replicas"])
    return int(str(elastic.get("nnodes", job.get("nodes", 1))).rpartition(":")[2])


@st.composite
def _elastic(draw: st.DrawFn, gpus: int | None) -> Json:
    etcd = {"rdzvBackend": "etcd-v2", "rdzvEndpoint": "etcd.infra:2379"}
    return draw(st.sampled_from([{}, {}, {"rdzvBackend": "c10d"}, etcd])) | draw(
        _optional(
            nprocPerNode=st.sampled_from([gpus, "gpu", "auto"] if gpus else [1, 2, "cpu", "auto"]),
            startMethod=st.sampled_from(["spawn", "fork", "forkserver"]),
            monitorInterval=st.integers(1, 60),
            maxRestarts=st.integers(0, 5),
            rdzvId=NAME,
            rdzvConfigs=st.dictionaries(
                st.sampled_from(["timeout", "read_timeout"]), st.integers(1, 900)
            ),
        )
    )


VERSIONS = _optional(
    kubernetes=st.sampled_from(["1.30", "1.32", "1.33", "1.34", "1.36", "1.37"]),
    trainingOperator=st.sampled_from(["1.6", "1.7", "1.8", "1.9"]),
    trainer=st.sampled_from(["2.0", "2.1", "2.2", "2.3"]),
    volcano=st.sampled_from(["1.6", "1.7", "1.11", "1.12", "1.16"]),
    jobset=st.sampled_from(["0.8", "0.12"]),
    kueue=st.sampled_from(["0.14", "0.19"]),
    kai=st.sampled_from(["0.12", "0.13", "0.15"]),
)
QUEUES: list[Json] = [
    {},
    {"queueSystem": "kueue", "gangScheduler": "none"},
    {"gangScheduler": "volcano"},
    {"gangScheduler": "scheduler-plugins"},
    {"gangScheduler": "kai"},
    {"queueSystem": "volcano"},
    {"queueSystem": "volcano", "gangScheduler": "volcano"},
    {"queueSystem": "kai"},
]
"""Combinations of queue system and gang scheduler."""


_REQUIREMENTS: list[Json] = [
    {"key": "example.com/pool", "operator": "In", "values": ["a", "b"]},
    {"key": "example.com/card", "operator": "NotIn", "values": ["old"]},
    {"key": "example.com/slice", "operator": "DoesNotExist"},
    {"key": "example.com/ready", "operator": "Exists"},
    {"key": "example.com/generation", "operator": "Gt", "values": ["3"]},
]
REQUIREMENTS = st.lists(
    st.sampled_from(_REQUIREMENTS), max_size=2, unique_by=lambda one: str(one["key"])
)
"""Node requirements other than plain labels."""

PROFILE_TEMPLATE = st.sampled_from(
    [
        {
            "metadata": {
                "labels": {"example.com/team": "a"},
                "annotations": {"example.com/note": "b"},
            }
        },
        {
            "spec": {
                "priorityClassName": "low",
                "enableServiceLinks": False,
                "dnsConfig": {"options": [{"name": "x"}]},
            }
        },
        {"spec": {"initContainers": [{"name": "warm", "image": "warm:1"}]}},
        {
            "spec": {
                "containers": [
                    {"name": "log", "image": "log:1", "resources": {"limits": {"cpu": "100m"}}}
                ]
            }
        },
        {
            "spec": {
                "containers": [
                    {
                        "name": "pytorch",
                        "env": [{"name": "X_P", "value": "1"}],
                        "volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}],
                        "securityContext": {"capabilities": {"add": ["SYS_PTRACE"]}},
                    }
                ],
                "volumes": [{"name": "scratch", "emptyDir": {}}],
            }
        },
        {
            "spec": {
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {
                                    "matchExpressions": [
                                        {"key": "example.com/ok", "operator": "Exists"}
                                    ]
                                }
                            ]
                        }
                    }
                },
                "tolerations": [{"key": "t", "operator": "Exists"}],
                "topologySpreadConstraints": [],
            }
        },
    ]
)
"""Pod templates that a profile applies to every job."""


_TOLERATION: Json = {"key": "p", "operator": "Equal", "value": "q", "effect": "NoSchedule"}
DEFAULTS = _optional(
    env=st.dictionaries(ENV_NAME, TEXT, max_size=2),
    labels=LABELS,
    annotations=st.dictionaries(NAME, TEXT, max_size=1),
    requests=st.just({"cpu": "100m"}),
    limits=st.just({"memory": "4Ti"}),
    nodeSelector=LABELS,
    tolerations=st.just([_TOLERATION]),
    queue=NAME,
    schedulerName=NAME,
    serviceAccountName=NAME,
    imagePullSecrets=st.just([{"name": "profile"}]),
    podTemplate=PROFILE_TEMPLATE,
)
PROFILE_FIELDS = _optional(
    gpu=_optional(
        resourceName=st.sampled_from(["nvidia.com/gpu", "amd.com/gpu"]),
        tolerations=st.lists(TOLERATION.filter(lambda one: "key" in one), max_size=2),
    ),
    versions=VERSIONS,
    scheduleTimeoutSeconds=st.integers(1, 600),
    multiKueue=st.booleans(),
    cloud=st.sampled_from(["gke", "eks", "aks"]),
    defaults=DEFAULTS,
    onDemand=REQUIREMENTS,
    resourceTolerations=st.just(
        {"rdma/hca": [_TOLERATION], "example.com/nic": [{"operator": "Exists"}]}
    ),
    priorities=st.dictionaries(NAME, st.integers(-1000, 1_000_000), max_size=2),
    operator=_optional(
        image=_optional(repository=st.just("registry.example.com/operator"), tag=st.just("v1")),
        namespace=_optional(create=st.booleans(), name=NAME),
    ),
)
LEVEL = _optional(nodeLabel=st.just("example.com/rack"), tier=st.integers(0, 3))
BLOCK = _optional(block=st.just({"tier": 4}))
NAMED = _optional(name=NAME)
BIG = _optional(
    matchExpressions=REQUIREMENTS,
    env=st.just({"X_BIG": "1"}),
    devicesPerNode=st.just(8),
    fabricDevices=st.just({"efa": 4, "fast": 3}),
)
ODD = _optional(oneDrivesAll=st.booleans())
TCPX = _optional(tcpx=st.just({"annotations": {"networking.gke.io/interfaces": "[]"}}))
EFA = _optional(efa=st.just({"env": {"FI_LOG_LEVEL": "warn"}}))
EXPRESSIONS = _optional(matchExpressions=REQUIREMENTS)


@st.composite
def profiles(draw: st.DrawFn) -> Json:
    """Draw a ClusterProfile document."""
    spec = draw(PROFILE_FIELDS)
    spec |= draw(st.sampled_from(QUEUES))
    spec["topology"] = {"levels": {"rack": draw(LEVEL), **draw(BLOCK)}, **draw(NAMED)}
    taint = {"key": "big", "operator": "Exists", "effect": "NoSchedule"}
    odd = {
        "resourceName": "aws.amazon.com/neuron",
        "nodeLabels": {},
        "processesPerDevice": 2,
        "env": {"X_ODD": "1"},
    }
    big = {"nodeLabels": {"example.com/card": "big"}, "tolerations": [taint]} | draw(BIG)
    spec["accelerators"] = {"big": big, "odd": odd | draw(ODD)}
    spec["fabrics"] = {
        "fast": {
            "resources": {"example.com/nic": 2, "hugepages-1Gi": "1Gi"},
            "capabilities": ["IPC_LOCK", "SYS_NICE"],
            "env": {"X_FAST": "1", "NCCL_SOCKET_IFNAME": "eth0"},
            "annotations": {"example.com/net": "fast"},
            "podTemplate": {"spec": {"initContainers": [{"name": "nic", "image": "nic:1"}]}},
        },
        "roce": {"resources": {"rdma/own": 1}},
        **draw(TCPX),
        **draw(EFA),
    }
    spec["spot"] = {
        "nodeLabels": {"example.com/spot": "true"},
        "tolerations": [{**taint, "key": "spot"}],
    }
    spec["spot"] |= draw(EXPRESSIONS)
    return {
        "apiVersion": "ptcompile/v1",
        "kind": "ClusterProfile",
        "metadata": {"name": "generated"},
        "spec": spec,
    }


def _values(part: Any) -> list[tuple[Any, Any]]:
    """Return every value of a document that can be changed, as its container and its key or index."""
    if isinstance(part, dict):
        return [(part, key) for key in part] + [
            one for value in part.values() for one in _values(value)
        ]
    if isinstance(part, list):
        return [(part, i) for i in range(len(part))] + [
            one for value in part for one in _values(value)
        ]
    return []


GARBAGE: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        10**30,
        1.5,
        "",
        "x" * 300,
        "²",
        [],
        {},
        [None],
        [[]],
        [5],
        {"a": None},
        {"a": {"b": []}},
    ]
)


@st.composite
def mutated(draw: st.DrawFn, documents: st.SearchStrategy[Json]) -> Json:
    """Draw a valid document with one to three values replaced or removed, or keys misspelled."""
    document = copy.deepcopy(draw(documents))  # drawn documents share parts
    for _ in range(draw(st.integers(1, 3))):
        places = _values(document)
        if not places:
            break
        holder, key = draw(st.sampled_from(places))
        how = draw(st.sampled_from(["replace", "replace", "remove", "misspell"]))
        if how == "replace":
            holder[key] = copy.deepcopy(draw(GARBAGE))
        elif how == "remove":
            del holder[key]
        elif isinstance(holder, dict):
            holder[f"{key}x"] = holder.pop(key)
    return document
