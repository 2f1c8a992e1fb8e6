"""Users without a home folder, and offline libraries without a cache."""

from __future__ import annotations

from typing import Any

import pytest

from tests.linter.asking import Json, fires, pod, problems_of

TRAINING = ["torchrun", "--standalone", "train.py"]


def _pod(user: int | None, *, command: list[str] | None = None, **container: Any) -> Json:
    fields = {"name": "a", "image": "a:1", "command": command or TRAINING, **container}
    return pod(
        containers=[fields], **({} if user is None else {"securityContext": {"runAsUser": user}})
    )


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        (_pod(1000), []),
        (_pod(10001), ["warning"]),
        (_pod(0), []),
        (_pod(None), []),
        (_pod(None, securityContext={"runAsUser": 20001}), ["warning"]),
        (_pod(20001, securityContext={"runAsUser": 0}), []),
        (_pod(20001, env=[{"name": "HOME", "value": "/work"}]), []),
        (_pod(20001, envFrom=[{"configMapRef": {"name": "c"}}]), []),
        (_pod(20001, command=["nginx"]), []),
        (_pod(10001, command=["mpirun", "-np", "2", "python", "train.py"]), []),
        (_pod(20001, command=["bash", "-c", "export HOME=/work; torchrun train.py"]), []),
    ],
)
def test_users_without_a_home_are_reported(manifest: Json, expected: list[str]) -> None:
    assert [problem.severity for problem in problems_of("user-without-home", manifest)] == expected


OFFLINE = {"name": "HF_HUB_OFFLINE", "value": "1"}
CLAIM = {"persistentVolumeClaim": {"claimName": "hub"}}


def _offline(
    *env: Json, at: str = "/x", volume: Json | None = None, args: list[str] | None = None
) -> Json:
    container = {
        "name": "a",
        "image": "a:1",
        "command": [*TRAINING, *(args or [])],
        "env": [OFFLINE, *env],
    }
    container["volumeMounts"] = [{"name": "v", "mountPath": at}]
    return pod(containers=[container], volumes=[{"name": "v", **(volume or {"emptyDir": {}})}])


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        (_offline(), True),
        (_offline(at="/root/.cache"), False),
        (_offline({"name": "HF_HOME", "value": "/hub"}, at="/hub"), False),
        (_offline({"name": "HF_HOME", "value": "/hub"}, at="/root/.cache"), True),
        (_offline(volume=CLAIM, at="/models"), False),  # models by their paths
        (_offline(volume=CLAIM, at="/ckpt", args=["--output_dir=/ckpt"]), True),
        (_offline(volume={"configMap": {"name": "c"}}), True),
        (_pod(None, env=[{**OFFLINE, "value": "0"}]), False),
        (_pod(None, env=[{**OFFLINE, "name": "TRANSFORMERS_OFFLINE", "value": "true"}]), True),
        (_pod(None), False),
    ],
)
def test_offline_pods_without_a_cache_are_reported(manifest: Json, expected: bool) -> None:
    assert fires("offline-without-cache", manifest) is expected


def test_an_init_container_may_fill_the_cache() -> None:
    manifest = _offline()
    init = [{"name": "download", "image": "i:1"}]
    assert not fires(
        "offline-without-cache", {**manifest, "spec": {**manifest["spec"], "initContainers": init}}
    )
