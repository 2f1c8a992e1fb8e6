"""Commands that never end, in init containers and sidecars."""

from __future__ import annotations

import pytest

from tests.linter.asking import Json, fires, pod, problems_of

MAIN = {"name": "a", "image": "a:1", "command": ["python", "train.py"]}


def _init(*command: str, **fields: object) -> Json:
    given = {"command": list(command)} if command else {}
    return pod(containers=[MAIN], initContainers=[{"name": "i", "image": "i:1", **given, **fields}])


def _sidecar(*command: str) -> Json:
    return pod(containers=[MAIN, {"name": "s", "image": "s:1", "command": list(command)}])


@pytest.mark.parametrize(
    "command",
    [
        ("sleep", "infinity"),
        ("sleep", "365d"),  # longer than any deadline
        ("tail", "-f", "/dev/null"),
        ("tail", "-F", "/logs/a"),
        ("tail", "-n0", "--follow=name", "/logs/a"),
        ("tensorboard", "--logdir=/x", "--bind_all"),
        ("jupyter", "lab", "--ip=0.0.0.0"),
        ("fluent-bit", "-c", "/etc/fluent-bit.conf"),
        ("tail", "-c", "+1", "-f", "/logs/a"),
        ("/usr/bin/tini", "--", "tensorboard", "--logdir", "/x"),
        ("python3", "-m", "http.server", "8080"),
        ("nginx", "-g", "daemon off;"),
        ("/usr/sbin/sshd", "-D"),
        ("sh", "-c", "tail -F /logs/a"),
        ("sh", "-c", "mkdir -p /logs && exec tail -F /logs/a"),
        ("bash", "-c", "set -e\ntensorboard --logdir /x --bind_all\n"),
        ("sh", "-c", "while true; do sleep 10; done"),
        ("bash", "-c", "while :\ndo\n  aws s3 sync /ckpt s3://b/\n  sleep 60\ndone"),
        ("bash", "-c", "while sleep 30; do date; done"),
        ("bash", "-c", "for ((;;)); do sleep 1; done"),
    ],
)
def test_commands_that_never_end_are_reported(command: tuple[str, ...]) -> None:
    assert [
        problem.severity for problem in problems_of("endless-init-container", _init(*command))
    ] == ["error"]
    assert fires("blocking-sidecar", _sidecar(*command))


@pytest.mark.parametrize(
    "command",
    [
        ("sleep", "60"),
        ("sh", "-c", "sleep 5m"),
        ("tail", "-n", "5", "/logs/a"),
        ("tail", "--pid=7", "-f", "/logs/a"),
        ("timeout", "60", "tail", "-f", "/logs/a"),
        ("tensorboard", "--version"),
        ("nginx", "-t"),
        ("jupyter", "nbconvert", "--execute", "a.ipynb"),
        ("vector", "validate", "/etc/vector.yaml"),
        ("haproxy", "-c", "-f", "/etc/haproxy.cfg"),
        ("nginx",),  # a daemon: the container ends
        ("sh", "-c", "tensorboard --logdir /x & sleep 5"),
        ("sh", "-c", "tail -F /logs/a | grep -m1 ready"),
        ("sh", "-c", "while true; do nc -z h 1 && break; sleep 1; done"),
        ("sh", "-c", "while true; do date; sleep 1; done & sleep 5"),
        ("sh", "-c", "until nslookup t-0.t; do sleep 2; done"),
        ("sh", "-c", "if [ -e /x ]; then tail -f /dev/null; fi"),
        ("sh", "-c", "set -e; while true; do test ! -e /done; sleep 1; done"),
        ("sh", "-c", "echo sleep infinity"),
    ],
)
def test_commands_that_may_end_are_accepted(command: tuple[str, ...]) -> None:
    assert not fires("endless-init-container", _init(*command))
    assert not fires("blocking-sidecar", _sidecar(*command))


def test_some_init_containers_may_run_on() -> None:
    assert not fires("endless-init-container", _init("sleep", "infinity", restartPolicy="Always"))
    assert not fires(
        "endless-init-container", _init(image="istio/proxyv2:1.27", args=["istio-iptables"])
    )
    assert not fires(
        "endless-init-container", _init(image="redis:7", command=["redis-cli", "ping"])
    )


def test_an_image_that_runs_a_server_is_a_warning() -> None:
    (problem,) = problems_of("endless-init-container", _init(image="docker.io/library/redis:7"))
    assert problem.severity == "warning"
    assert problem.path[-1] == "image"


def test_the_main_container_may_serve_others() -> None:
    serving = pod(
        containers=[{**MAIN, "command": ["/usr/sbin/sshd", "-De"]}, {"name": "s", "image": "s:1"}]
    )
    assert not fires("blocking-sidecar", serving)
