"""Volumes and mounts in their variants."""

from __future__ import annotations

import pytest

from tests.linter.asking import Json, fires, pod, problems_of

GPU = {"limits": {"cpu": 8, "memory": "64Gi", "nvidia.com/gpu": 1}}


def _pod(volume: Json, mount: Json, **fields: object) -> Json:
    container = {
        "name": "a",
        "image": "a:1",
        "resources": GPU,
        "volumeMounts": [{"name": "v", **mount}],
        **fields,
    }
    return pod(volumes=[{"name": "v", **volume}], containers=[container])


def _shm(**fields: object) -> Json:
    return {"emptyDir": {"medium": "Memory", **fields}}


SHM = {"mountPath": "/dev/shm"}  # noqa: S108 - where a pod has it
SCRIPTS = {"configMap": {"name": "s"}}
AT = {"mountPath": "/s"}


def _items(mode: int | None, path: str = "run.sh") -> list[Json]:
    return [{"key": "k", "path": path, **({} if mode is None else {"mode": mode})}]


@pytest.mark.parametrize(
    ("rule", "manifest", "expected"),
    [
        ("shm-above-memory-limit", _pod(_shm(sizeLimit="65Gi"), SHM), True),
        ("shm-above-memory-limit", _pod(_shm(sizeLimit="64Gi"), SHM), False),
        ("shm-above-memory-limit", _pod(_shm(sizeLimit="65Gi"), SHM, resources={}), False),
        ("unbounded-shm", _pod(_shm(), SHM), False),  # the memory limit bounds it
        ("unbounded-shm", _pod(_shm(), SHM, resources={"requests": {"memory": "1Gi"}}), True),
        ("unbounded-shm", _pod(_shm(), SHM, resources={}), False),
        ("unbounded-shm", _pod(_shm(sizeLimit="1Gi"), SHM, resources={"requests": {"memory": "1Gi"}}), False),
        ("small-shm", _pod(_shm(sizeLimit="64Mi"), SHM), True),
        ("small-shm", _pod(_shm(sizeLimit="65Mi"), SHM), False),
        ("small-shm", _pod(_shm(sizeLimit="1G"), SHM), False),
        ("small-shm", _pod(_shm(sizeLimit="1"), {"mountPath": "/cache"}), False),
        ("shm-on-disk", _pod({"emptyDir": {}}, SHM), True),
        ("shm-on-disk", _pod({"emptyDir": None}, SHM), True),
        ("shm-on-disk", _pod({"emptyDir": {}}, {"mountPath": SHM["mountPath"] + "/"}), True),
        ("shm-on-disk", _pod({"emptyDir": {}}, {"mountPath": "/cache"}), False),
        ("shm-on-disk", _pod({"hostPath": {"path": "/x"}}, SHM), False),
        ("host-shm", _pod({"hostPath": {"path": SHM["mountPath"] + "/"}}, SHM), True),
        ("unknown-medium", _pod({"emptyDir": {"medium": "HugePages-2Mi"}}, AT), False),
        ("unknown-medium", _pod({"emptyDir": {"medium": "hugepages"}}, AT), True),
        ("unknown-medium", _pod({"emptyDir": {"medium": ""}}, AT), False),
        ("mount-hides-system", _pod({"emptyDir": {}}, {"mountPath": "/usr/"}), True),
        ("mount-hides-system", _pod({"emptyDir": {}}, {"mountPath": "/usr/local/x"}), False),
        ("mount-hides-system", _pod(SCRIPTS, {"mountPath": "/etc", "subPath": "hosts"}), False),
        ("mount-hides-system", _pod({"hostPath": {"path": "/dev"}}, {"mountPath": "/dev"}), False),
        ("script-not-executable", _pod(SCRIPTS, AT, command=["/s/run.sh"]), True),
        ("script-not-executable", _pod(SCRIPTS, AT, command=["/s-other/run.sh"]), False),
        ("script-not-executable", _pod(SCRIPTS, AT, command=["bash", "/s/run.sh"]), False),
        ("script-not-executable", _pod(SCRIPTS, AT, args=["/s/run.sh"]), False),
        ("script-not-executable", _pod({"emptyDir": {}}, AT, command=["/s/run.sh"]), False),
        ("script-not-executable", _pod(SCRIPTS, {"mountPath": "/x.sh", "subPath": "r.sh"}, command=["/x.sh"]), True),
        (
            "script-not-executable",
            _pod({"configMap": {"items": _items(0o755)}}, {"mountPath": "/x", "subPath": "run.sh"}, command=["/x"]),
            False,
        ),
        (
            "script-not-executable",
            _pod({"configMap": {"items": _items(0o755, "other.sh")}}, AT, command=["/s/run.sh"]),
            True,
        ),
        (
            "script-not-executable",
            _pod({"configMap": {"defaultMode": 0o755, "items": _items(None)}}, AT, command=["/s/run.sh"]),
            False,
        ),
        (
            "script-not-executable",
            _pod({"projected": {"sources": [{"configMap": {"items": _items(0o755)}}]}}, AT, command=["/s/run.sh"]),
            False,
        ),
        ("script-not-executable", _pod({"projected": {"sources": [{}]}}, AT, command=["/s/run.sh"]), True),
        ("script-not-executable", _pod(SCRIPTS, {"mountPath": "s"}, command=["s/run.sh"]), False),
        (
            "script-not-executable",
            _pod(
                {"configMap": {"name": "s", "items": [{"key": "k", "path": "run.sh", "mode": 0o755}]}},
                AT,
                command=["/s/run.sh"],
            ),
            False,
        ),
        (
            "script-not-executable",
            _pod({"secret": {"secretName": "s", "defaultMode": 0o500}}, AT, command=["/s/run.sh"]),
            False,
        ),
        ("script-not-executable", _pod({"secret": {"defaultMode": 0o400}}, AT, command=["/s/x"]), True),
    ],
)  # fmt: skip
def test_rules_about_volumes_fire_on_their_variants(
    rule: str, manifest: Json, expected: bool
) -> None:
    assert fires(rule, manifest) is expected


def test_a_chosen_mode_is_not_changed() -> None:
    (chosen,) = problems_of(
        "script-not-executable", _pod({"secret": {"defaultMode": 0o400}}, AT, command=["/s/x"])
    )
    (default,) = problems_of("script-not-executable", _pod(SCRIPTS, AT, command=["/s/x"]))
    assert chosen.fix is None
    assert default.fix is not None
    assert default.fix.edits[0].value == 0o755


def test_a_claim_of_one_node_and_one_pod_is_fine() -> None:
    claim: Json = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}}
    claim["spec"] = {"accessModes": ["ReadWriteOnce"]}
    one = _pod({"persistentVolumeClaim": {"claimName": "c"}}, AT)
    assert not fires("single-node-claim", one, claim)
    template = {"spec": one["spec"]}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}}
    many = {**job, "spec": {"parallelism": 2, "completions": 2, "template": template}}
    assert fires("single-node-claim", many, claim)
    elsewhere = {**claim, "metadata": {"name": "c", "namespace": "other"}}
    assert not fires("single-node-claim", many, elsewhere)


@pytest.mark.parametrize(
    ("own", "whole", "expected"),
    [
        ({"runAsUser": 0, "runAsNonRoot": True}, {}, True),
        ({}, {"runAsUser": 0, "runAsNonRoot": True}, True),
        ({"runAsUser": 1000}, {"runAsUser": 0, "runAsNonRoot": True}, False),
        ({"runAsNonRoot": False}, {"runAsUser": 0, "runAsNonRoot": True}, False),
        ({"runAsNonRoot": True}, {}, False),
        ({"runAsUser": 0}, {}, False),
    ],
)
def test_run_as_non_root_is_read_from_container_and_pod(
    own: Json, whole: Json, expected: bool
) -> None:
    container = {"name": "a", "image": "a:1", "securityContext": own}
    assert (
        fires("root-against-non-root", pod(securityContext=whole, containers=[container]))
        is expected
    )
