"""Where the rules about pods begin and end: what is just inside and just outside of what each reports."""

from __future__ import annotations

from typing import Any

import pytest

from tests.linter.asking import Json, fires, pod, problems_of
from tests.linter.manifests import task, template, torchrun, volcano

GPU = "nvidia.com/gpu"
SHM = {"name": "v", "mountPath": "/dev/shm"}  # noqa: S108 - where a pod has it


def _job(
    pods: int = 1, *, container: Json | None = None, labels: Json | None = None, **spec: Any
) -> Json:
    """Return an indexed Job."""
    body = template(container=container, **spec)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "train"},
        "spec": {
            "completions": pods,
            "parallelism": pods,
            "completionMode": "Indexed",
            "template": {"metadata": {"labels": labels or {}}, **body},
        },
    }


def _object(kind: str, name: str, **fields: Any) -> Json:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **fields}


def _limits(**amounts: object) -> Json:
    return {
        "resources": {
            "limits": {GPU if name == "gpu" else name: amount for name, amount in amounts.items()}
        }
    }


def _env(source: str, **fields: Any) -> Json:
    return {"env": [{"name": "A", "valueFrom": {source: fields}}]}


def _selects(term: Json) -> Json:
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


CONFIG = _object("ConfigMap", "settings", data={"epochs": "1"}, binaryData={"blob": ""})
CLAIM = {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}
AT_DATA = {"volumeMounts": [{"name": "v", "mountPath": "/data"}]}
DOWNLOAD = [
    {
        "name": "get",
        "image": "aws:1",
        "command": ["aws", "s3", "sync", "s3://x", "/data"],
        **AT_DATA,
    }
]


@pytest.mark.parametrize(
    ("container", "expected"),
    [
        (_env("configMapKeyRef", name="settings", key="epoch"), True),
        (_env("configMapKeyRef", name="settings", key="epochs"), False),
        (_env("configMapKeyRef", name="settings", key="blob"), False),
        (_env("configMapKeyRef", name="settings", key="epoch", optional=True), False),
        (_env("configMapKeyRef", name="settings", key="epoch", optional=False), True),
        (_env("configMapKeyRef", name="other", key="epoch"), False),
        (_env("secretKeyRef", name="settings", key="epoch"), False),
    ],
)
def test_a_key_of_a_config_map_must_exist(container: Json, expected: bool) -> None:
    assert fires("missing-config-key", _job(container=container), CONFIG) is expected


@pytest.mark.parametrize(
    ("optional", "expected"), [({}, True), ({"optional": False}, True), ({"optional": True}, False)]
)
def test_a_key_of_a_volume_must_exist(optional: Json, expected: bool) -> None:
    volume = {
        "name": "v",
        "configMap": {"name": "settings", "items": [{"key": "epoch", "path": "x"}], **optional},
    }
    assert fires("missing-config-key", _job(volumes=[volume]), CONFIG) is expected


def test_the_last_object_of_a_name_has_the_keys() -> None:
    former, latter = (
        _object("ConfigMap", "settings", data={"a": ""}),
        _object("ConfigMap", "settings", data={"b": ""}),
    )
    job = _job(container=_env("configMapKeyRef", name="settings", key="a"))
    assert not fires("missing-config-key", job, latter, former)
    assert fires("missing-config-key", job, former, latter)


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        (_job(container=_env("configMapKeyRef", name="setings", key="a")), True),
        (_job(container=_env("configMapKeyRef", name="settings", key="a")), False),
        (_job(container=_env("configMapKeyRef", name="setings", key="a", optional=True)), False),
        (_job(container=_env("configMapKeyRef", name="setings", key="a", optional=False)), True),
        (_job(container=_env("configMapKeyRef", key="a")), False),
        (_job(container={"envFrom": [{"configMapRef": {"name": "setings"}}]}), True),
        (_job(volumes=[{"name": "v", "configMap": {"name": "setings"}}]), True),
        (_job(volumes=[{"name": "v", "configMap": {"name": "setings", "optional": True}}]), False),
        (_job(volumes=[{"name": "v", "configMap": {}}]), False),
        (_job(volumes=[{"name": "v", "configMap": {"name": "something-else"}}]), False),
    ],
)
def test_a_reference_much_like_a_name_in_the_stream_is_reported(
    manifest: Json, expected: bool
) -> None:
    assert fires("misspelt-reference", manifest, CONFIG) is expected


@pytest.mark.parametrize(("others", "expected"), [(255, True), (256, False)])
def test_a_reference_is_compared_with_256_names_at_most(others: int, expected: bool) -> None:
    more = [_object("ConfigMap", f"z{i}") for i in range(others)]
    job = _job(container=_env("configMapKeyRef", name="setings", key="a"))
    assert fires("misspelt-reference", job, CONFIG, *more) is expected


@pytest.mark.parametrize(
    ("container", "spec", "expected"),
    [
        ({"command": ["torchrun", "t.py"], **_limits(gpu=2)}, {}, True),
        ({"command": ["torchrun", "t.py"], **_limits(gpu=1)}, {}, False),
        ({"command": ["torchrun", "t.py"], **_limits(gpu=2)}, {"hostIPC": True}, False),
        ({"command": ["torchrun", "t.py"], **_limits(gpu=2)}, {"hostIPC": False}, True),
        ({"command": ["./run"], "image": "acme/nemo:1", **_limits(gpu=2)}, {}, True),
        ({"command": ["./run"], "image": "acme/other:1", **_limits(gpu=2)}, {}, False),
        ({"command": ["torchrun", "t.py"], **_limits(**{"google.com/tpu": 4})}, {}, False),
    ],
)
def test_processes_on_several_gpus_need_shared_memory(
    container: Json, spec: Json, expected: bool
) -> None:
    container = {"image": "acme/other:1", **container}
    assert fires("missing-shm", _job(container=container, **spec)) is expected


@pytest.mark.parametrize(
    ("memory", "volumes", "edits"),
    [
        ("1Gi", [], ["volumes", "volumeMounts"]),
        ("1023Mi", [], None),
        ("64Gi", [{"name": "other", "emptyDir": {}}], ["volumes", "volumeMounts"]),
        ("64Gi", [{"name": "dshm", "emptyDir": {"medium": "Memory"}}], ["volumeMounts"]),
        ("64Gi", [{"name": "dshm", "emptyDir": {}}], None),
        ("1Mi", [{"name": "dshm", "emptyDir": {"medium": "Memory"}}], ["volumeMounts"]),
    ],
)
def test_shared_memory_is_mounted_with_half_of_the_limit_or_from_a_volume_of_that_name(
    memory: str, volumes: list[Json], edits: list[str] | None
) -> None:
    container = {"command": ["torchrun", "t.py"], **_limits(gpu=2, memory=memory)}
    (problem,) = problems_of("missing-shm", _job(container=container, volumes=volumes))
    assert (None if problem.fix is None else [edit.path[-1] for edit in problem.fix.edits]) == edits


@pytest.mark.parametrize(
    ("rule", "manifest", "expected"),
    [
        ("no-grace-period", _job(container=_limits(gpu=1), terminationGracePeriodSeconds=0), True),
        ("no-grace-period", _job(container=_limits(gpu=1), terminationGracePeriodSeconds=1), False),
        ("no-grace-period", _job(container=_limits(gpu=1)), False),
        ("no-grace-period", _job(terminationGracePeriodSeconds=0), False),
        ("node-name-set", _job(nodeName="n"), True),
        ("node-name-set", _job(), False),
        ("node-name-set", pod(nodeName="n", containers=[{"name": "a", **_limits(gpu=1)}]), True),
        ("node-name-set", pod(nodeName="n", containers=[{"name": "a"}]), False),
        ("repeated-download", _job(2, initContainers=DOWNLOAD, volumes=[CLAIM]), True),
        ("repeated-download", _job(1, initContainers=DOWNLOAD, volumes=[CLAIM]), False),
        (
            "repeated-download",
            _job(2, initContainers=DOWNLOAD, volumes=[{"name": "v", "emptyDir": {}}]),
            False,
        ),
        (
            "repeated-download",
            volcano(
                task("master", pod=template(initContainers=DOWNLOAD, volumes=[CLAIM])),
                task("worker", pod=template()),
            ),
            False,
        ),
        (
            "root-against-non-root",
            _job(securityContext={"runAsNonRoot": True, "runAsUser": 0}),
            True,
        ),
        (
            "root-against-non-root",
            _job(securityContext={"runAsNonRoot": True, "runAsUser": 1}),
            False,
        ),
        ("root-against-non-root", _job(securityContext={"runAsNonRoot": True}), False),
        (
            "root-against-non-root",
            _job(securityContext={"runAsNonRoot": False, "runAsUser": 0}),
            False,
        ),
        (
            "root-against-non-root",
            _job(
                securityContext={"runAsNonRoot": True, "runAsUser": 0},
                container={"securityContext": {"runAsUser": 5}},
            ),
            False,
        ),
        (
            "shm-mounted-elsewhere",
            _job(
                container={"volumeMounts": [{"name": "shm", "mountPath": "/shm"}]},
                volumes=[{"name": "shm", "emptyDir": {"medium": "Memory"}}],
            ),
            True,
        ),
        (
            "shm-mounted-elsewhere",
            _job(
                container={"volumeMounts": [{"name": "shared-memory", "mountPath": "/shm"}]},
                volumes=[{"name": "shared-memory", "emptyDir": {"medium": "Memory"}}],
            ),
            True,
        ),
        (
            "shm-mounted-elsewhere",
            _job(
                container={"volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}]},
                volumes=[{"name": "scratch", "emptyDir": {"medium": "Memory"}}],
            ),
            False,
        ),
        (
            "shm-mounted-elsewhere",
            _job(
                container={"volumeMounts": [{"name": "shm", "mountPath": "/dev/shm/x"}]},  # noqa: S108
                volumes=[{"name": "shm", "emptyDir": {"medium": "Memory"}}],
            ),
            False,
        ),
        (
            "unbounded-shm",
            _job(
                container={"volumeMounts": [SHM], "resources": {"requests": {"memory": "1Gi"}}},
                volumes=[{"name": "v", "emptyDir": {"medium": "Memory"}}],
                resources={"limits": {"memory": "2Gi"}},
            ),
            False,
        ),
        ("gpu-nodes-without-gpus", _job(nodeSelector={"nvidia.com/gpu.present": "true"}), True),
        (
            "gpu-nodes-without-gpus",
            _job(nodeSelector={"nvidia.com/gpu.present": "true"}, resourceClaims=[{"name": "gpu"}]),
            False,
        ),
        (
            "gpu-nodes-without-gpus",
            _job(
                nodeSelector={"nvidia.com/gpu.present": "true"},
                container=_limits(**{"acme.com/npu": 1}),
            ),
            False,
        ),
        (
            "gpu-nodes-without-gpus",
            _job(nodeSelector={"nvidia.com/gpu.present": "true"}, container=_limits(cpu=1)),
            True,
        ),
        (
            "affinity-to-nobody",
            _job(
                labels={"a": "b"}, affinity=_selects({"labelSelector": {"matchLabels": {"a": "c"}}})
            ),
            True,
        ),
        (
            "affinity-to-nobody",
            _job(
                labels={"a": "b"}, affinity=_selects({"labelSelector": {"matchLabels": {"a": "b"}}})
            ),
            False,
        ),
        (
            "affinity-to-nobody",
            _job(
                affinity=_selects(
                    {"labelSelector": {"matchLabels": {"a": "c"}}, "namespaces": ["other"]}
                )
            ),
            False,
        ),
        (
            "affinity-to-nobody",
            _job(
                affinity=_selects(
                    {"labelSelector": {"matchLabels": {"a": "c"}}, "namespaceSelector": {}}
                )
            ),
            False,
        ),
        ("affinity-to-nobody", _job(affinity=_selects({})), False),
    ],
)
def test_each_rule_fires_within_its_limits(rule: str, manifest: Json, expected: bool) -> None:
    assert fires(rule, manifest) is expected


@pytest.mark.parametrize(
    "other",
    [
        {**pod(containers=[]), "metadata": {"name": "p", "labels": {"a": "c"}}},
        {**_job(labels={"a": "c"}), "metadata": {"name": "other"}},
    ],
)
def test_pods_of_other_objects_count_for_an_affinity(other: Json) -> None:
    job = _job(affinity=_selects({"labelSelector": {"matchLabels": {"a": "c"}}}))
    assert fires("affinity-to-nobody", job)
    assert not fires("affinity-to-nobody", job, other)


@pytest.mark.parametrize(
    ("modes", "pods", "severities"),
    [
        (["ReadWriteOncePod"], 2, ["error"]),
        (["ReadWriteOnce"], 2, ["warning"]),
        (["ReadWriteOnce", "ReadWriteOncePod"], 2, ["warning"]),
        (["ReadWriteOnce", "ReadWriteMany"], 2, []),
        (["ReadWriteMany"], 2, []),
        ([], 2, []),
        (["ReadWriteOncePod"], 1, []),
    ],
)
def test_a_claim_for_one_node_serves_one_pod(
    modes: list[str], pods: int, severities: list[str]
) -> None:
    command = torchrun(pods, "train-0.train") if pods > 1 else ["torchrun", "train.py"]
    job = _job(pods, container={"command": command}, volumes=[CLAIM])
    claim = _object("PersistentVolumeClaim", "data", spec={"accessModes": modes})
    assert [
        problem.severity for problem in problems_of("single-node-claim", job, claim)
    ] == severities


def test_the_last_claim_of_a_name_counts() -> None:
    job = _job(2, volumes=[CLAIM])
    once, many = (
        _object("PersistentVolumeClaim", "data", spec={"accessModes": [mode]})
        for mode in ("ReadWriteOnce", "ReadWriteMany")
    )
    assert fires("single-node-claim", job, many, once)
    assert not fires("single-node-claim", job, once, many)


def test_a_single_claim_is_no_error_for_pods_that_need_no_other_node() -> None:
    claim = _object("PersistentVolumeClaim", "data", spec={"accessModes": ["ReadWriteOncePod"]})
    job = _job(2, container={"command": ["torchrun", "--standalone", "train.py"]}, volumes=[CLAIM])
    assert [problem.severity for problem in problems_of("single-node-claim", job, claim)] == [
        "warning"
    ]


@pytest.mark.parametrize(
    ("restart", "volume", "message"),
    [
        ("Never", {"emptyDir": {}}, "is on an emptyDir:"),
        ("Never", {"ephemeral": {}}, "is on an ephemeral volume:"),
        ("OnFailure", {"emptyDir": {}}, None),
        ("Never", CLAIM, None),
    ],
)
def test_checkpoints_on_a_volume_that_goes_with_the_pod_are_reported(
    restart: str, volume: Json, message: str | None
) -> None:
    container = {"command": ["torchrun", "train.py", "--checkpoint-dir", "/data/out"], **AT_DATA}
    job = _job(container=container, volumes=[{"name": "v", **volume}], restart=restart)
    job["spec"]["backoffLimit"] = 6
    messages = [problem.message for problem in problems_of("checkpoint-not-kept", job)]
    assert len(messages) == (message is not None)
    assert all(str(message) in text for text in messages)


@pytest.mark.parametrize(
    ("container", "expected"),
    [
        ({"name": "log", "image": "fluent/fluent-bit:3"}, True),
        ({"name": "log", "image": "fluent/fluent-bit:3", "command": ["true"]}, False),
        ({"name": "log", "image": "acme/uploader:3"}, False),
        ({"name": "log", "image": "acme/x:3", "command": ["/usr/bin/tensorboard"]}, True),
        ({"name": "log", "image": "acme/x:3", "command": ["sleep", "infinity"]}, True),
    ],
)
def test_a_sidecar_that_never_ends_is_reported(container: Json, expected: bool) -> None:
    main = {"name": "pytorch", "image": "train:1", "command": ["torchrun", "train.py"]}
    assert fires("blocking-sidecar", pod(containers=[main, container])) is expected


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (["5"], None),
        (["-5"], None),
        (["+5"], None),
        (["x"], "x"),
        (["-"], "-"),
        (["5", "x"], "5, x"),
        (["--5"], "--5"),
    ],
)
def test_gt_and_lt_compare_whole_numbers(values: list[str], names: str | None) -> None:
    """Kubernetes 1.36, apimachinery labels.Requirement: strconv.ParseInt."""
    terms = [{"matchExpressions": [{"key": "size", "operator": "Gt", "values": values}]}]
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}
        }
    }
    problems = problems_of("unsatisfiable-node-affinity", _job(affinity=affinity))
    assert [
        names is not None and f"is compared with {names}, but Gt" in problem.message
        for problem in problems
    ] == ([] if names is None else [True])


def test_images_of_roles_may_differ_in_their_repositories_only() -> None:
    def job(*images: str) -> Json:
        tasks = [
            task(f"t{i}", pod=template(container={"image": image}))
            for i, image in enumerate(images)
        ]
        return volcano(*tasks)

    assert fires("mixed-image-tags", job("a/train:1", "a/train:2"))
    assert not fires("mixed-image-tags", job("a/train:1", "a/other:2"))
    assert not fires("mixed-image-tags", job("a/train:1", "a/train:1"))
    assert not fires("mixed-image-tags", job("a/train:1"))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"nfs": {"server": "s", "path": "/x", "readOnly": True}}, True),
        ({"nfs": {"server": "s", "path": "/x", "readOnly": False}}, False),
        ({"configMap": {"name": "c"}}, True),
        ({"persistentVolumeClaim": {"claimName": "c"}}, False),
    ],
)
def test_checkpoints_are_not_written_to_read_only_volumes(source: Json, expected: bool) -> None:
    container = {"command": ["torchrun", "train.py", "--checkpoint-dir", "/data/out"], **AT_DATA}
    assert (
        fires("read-only-checkpoint", _job(container=container, volumes=[{"name": "v", **source}]))
        is expected
    )


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["python", "/s/other.py"], True),
        (["python", "/s/train.py"], False),
        (["/s/run"], True),
        (["bash", "/s/other.sh"], True),
        (["python", "/app/run", "--a", "b", "c", "/s/other.py"], False),
        (["torchrun", "/s/other"], False),
    ],
)
def test_a_script_must_be_in_the_mounted_config_map(command: list[str], expected: bool) -> None:
    scripts = _object("ConfigMap", "scripts", data={"train.py": ""})
    mount = {"volumeMounts": [{"name": "v", "mountPath": "/s"}]}
    job = _job(
        container={"command": command, **mount},
        volumes=[{"name": "v", "configMap": {"name": "scripts"}}],
    )
    assert fires("script-not-mounted", job, scripts) is expected


def test_at_most_five_mounted_files_are_named() -> None:
    scripts = _object("ConfigMap", "scripts", data={f"{letter}.txt": "" for letter in "abcdef"})
    mount = {"volumeMounts": [{"name": "v", "mountPath": "/s"}]}
    volumes = [{"name": "v", "configMap": {"name": "scripts"}}]
    (problem,) = problems_of(
        "script-not-mounted",
        _job(container={"command": ["python", "/s/t.py"], **mount}, volumes=volumes),
        scripts,
    )
    assert problem.message.endswith("has a.txt, b.txt, c.txt, d.txt, e.txt")


@pytest.mark.parametrize(("seconds", "expected"), [(-1, False), (0, True), (59, True), (60, False)])
def test_a_deadline_below_a_minute_is_reported(seconds: int, expected: bool) -> None:
    assert (
        fires("short-deadline", pod(activeDeadlineSeconds=seconds, containers=[{"name": "c"}]))
        is expected
    )
    job = _job()
    job["spec"]["activeDeadlineSeconds"] = seconds
    assert fires("short-deadline", job) is expected


@pytest.mark.parametrize(
    ("modes", "severity"),
    [
        (["ReadWriteOnce"], "warning"),
        (["ReadWriteOncePod"], "error"),
        (["ReadWriteOnce", "ReadWriteOncePod"], "warning"),
        (["ReadWriteOnce", "ReadWriteMany"], None),
        (["ReadOnlyMany"], None),
        ([], None),
    ],
)
def test_a_claim_that_pods_on_other_nodes_cannot_mount_is_reported(
    modes: list[str], severity: str | None
) -> None:
    claim = _object("PersistentVolumeClaim", "data", spec={"accessModes": modes})
    problems = problems_of(
        "single-node-claim",
        _job(2, volumes=[CLAIM], container={"command": torchrun(2), **AT_DATA}),
        claim,
    )
    assert [problem.severity or "warning" for problem in problems] == (
        [] if severity is None else [severity]
    )
    assert not problems_of("single-node-claim", _job(1, volumes=[CLAIM]), claim)


@pytest.mark.parametrize(
    ("spec", "limits", "expected"),
    [
        ({}, {"memory": "1Gi"}, False),
        ({}, {"cpu": 1}, False),  # sets no memory at all, so it is evicted first in any case
        ({"resources": {"limits": {"memory": "1Gi"}}}, {}, False),
    ],
)
def test_a_memory_limit_bounds_the_files_in_shared_memory(
    spec: Json, limits: Json, expected: bool
) -> None:
    volumes = [{"name": "v", "emptyDir": {"medium": "Memory"}}]
    body = {"name": "c", "volumeMounts": [SHM], "resources": {"limits": limits}}
    assert fires("unbounded-shm", pod(containers=[body], volumes=volumes, **spec)) is expected
    requests = {**body, "resources": {"requests": {"memory": "1Gi"}}}
    bounded = bool(spec)
    assert (
        fires("unbounded-shm", pod(containers=[requests], volumes=volumes, **spec)) is not bounded
    )
