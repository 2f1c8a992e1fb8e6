"""Arguments of Volcano's plugins: which ones Go's flag package drops, and which tasks get a rank.

Source: docs/facts/volcano.md#plugin-arguments.
"""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kubernetes.versions import Versions
from ptcompile.linter import run
from tests.linter.manifests import paths, rules_with_problems, task, template, volcano

FAILED = [{"events": ["PodFailed", "PodEvicted"], "action": "RestartJob"}]


def pytorch(
    *args: str, plugins: dict[str, Any] | None = None, worker: str = "worker"
) -> dict[str, Any]:
    return volcano(
        task("master"),
        task(worker, 2),
        plugins={"pytorch": list(args), **(plugins or {})},
        policies=FAILED,
    )


@pytest.mark.parametrize(
    ("args", "index", "mended"),
    [
        (["--master=master", "--port=5000"], None, None),
        (["-port=5000", "--port", "5000"], None, None),
        (["--port=0x1388"], None, None),
        (
            ["--wait-master-enabled", "true"],
            None,
            None,
        ),  # the second item is dropped, but the flag alone means true
        (["--port 5000"], 0, "--port=5000"),
        (["--wait-master-enabled", "port=5000"], 1, "--port=5000"),
        ([" --port=5000"], 0, "--port=5000"),
        (["--nproc=8"], 0, None),
        (["--wait-master-enabled", "true", "--port=5000"], 1, None),
        (["--wait-master-enabled=yes"], 0, None),
        (["--wait-master-timeout=10m"], 0, None),
        (["--port"], 0, None),
        (["--master=master", "---port=1", "--worker=worker"], 1, "--port=1"),
    ],
)
def test_dropped_arguments_are_reported_with_a_fix(
    args: list[str], index: int | None, mended: str | None
) -> None:
    problems = list(run(pytorch(*args), only=["dropped-plugin-argument"]))
    assert [p.path for p in problems] == (
        [] if index is None else [("spec", "plugins", "pytorch", index)]
    )
    fixes = [p.fix.edits[0].value if p.fix else None for p in problems]
    assert fixes == ([] if index is None else [mended])


def test_a_finding_after_many_arguments_has_its_index() -> None:
    args = ["--port=1"] * 5000 + ["--nproc=8"] + ["--port=2"] * 5000
    assert paths(pytorch(*args), "dropped-plugin-argument") == [
        ("spec", "plugins", "pytorch", 5000)
    ]


def test_invalid_port_is_already_rejected() -> None:
    assert "dropped-plugin-argument" not in rules_with_problems(pytorch("--port=abc"))


def test_flags_need_their_release() -> None:
    job = pytorch("--wait-master-enabled")
    assert "dropped-plugin-argument" not in rules_with_problems(job)
    assert "dropped-plugin-argument" in rules_with_problems(job, versions=Versions(volcano=(1, 13)))
    hosts = pytorch(plugins={"svc": ["--inject-hosts-env=false"]})
    assert "dropped-plugin-argument" not in rules_with_problems(hosts)
    assert "dropped-plugin-argument" in rules_with_problems(
        hosts, versions=Versions(volcano=(1, 15))
    )


def test_a_plugin_without_arguments_drops_those_given() -> None:
    assert paths(pytorch(plugins={"env": ["--x"]}), "dropped-plugin-argument") == [
        ("spec", "plugins", "env", 0)
    ]
    assert "dropped-plugin-argument" not in rules_with_problems(
        pytorch(plugins={"big_plugin": ["--x"]})
    )  # the webhook rejects this


@pytest.mark.parametrize(
    ("args", "meant"),
    [
        (["--master=mastre"], "--master=master"),
        (["--master=chief"], "--master=master"),
        (["--master="], "--master=master"),
    ],
)
def test_the_fix_suggests_a_master_task(args: list[str], meant: str) -> None:
    (problem,) = run(pytorch(*args), only=["pytorch-plugin-without-master"])
    assert problem.fix is not None
    assert problem.fix.edits[0].value == meant


def test_a_single_task_has_no_suggestion() -> None:
    (problem,) = run(
        volcano(task("node", 4), plugins={"pytorch": []}), only=["pytorch-plugin-without-master"]
    )
    assert problem.fix is None


def test_a_task_that_trains_needs_a_rank() -> None:
    assert "task-without-rank" not in rules_with_problems(pytorch())
    assert paths(pytorch(worker="node"), "task-without-rank") == [("spec", "tasks", 1, "name")]
    assert "task-without-rank" in rules_with_problems(pytorch("--worker=other"))
    other = template(command=["tensorboard"])
    board = volcano(
        task("master"), task("worker"), task("board", pod=other), plugins={"pytorch": []}
    )
    assert "task-without-rank" not in rules_with_problems(
        board
    )  # the task may have another purpose
    second = volcano(task("master"), task("worker"), task("worker-b"), plugins={"pytorch": []})
    assert paths(second, "task-without-rank") == [("spec", "tasks", 2, "name")]


@pytest.mark.parametrize(
    ("args", "is_fixed"),
    [([], True), (["--port=1234", "worker"], False), (["--master"], False)],
)
def test_a_task_is_named_as_the_worker_where_the_plugin_would_read_it(
    args: list[str], is_fixed: bool
) -> None:
    """The plugin stops reading at a word that is no flag, and a flag without a value takes the argument behind it."""
    problems = run(pytorch(*args, worker="node"), only={"task-without-rank"})
    assert [problem.fix is not None for problem in problems] == [is_fixed]


@pytest.mark.parametrize(
    ("release", "command", "expected"),
    [
        ((1, 11), ["python", "t.py"], {"task-without-rank"}),
        ((1, 12), ["python", "t.py"], set()),
        # torchrun does not read WORLD_SIZE
        (
            (1, 11),
            [
                "torchrun",
                "--nnodes=3",
                "--node-rank=$(RANK)",
                "--master-addr=$(MASTER_ADDR)",
                "t.py",
            ],
            set(),
        ),
    ],
)
def test_only_old_releases_count_every_task_in_world_size(
    release: tuple[int, int], command: list[str], expected: set[str]
) -> None:
    trains, watches = template(command=command), template(command=["tensorboard"])
    tasks = (task("master", pod=trains), task("worker", 2, pod=trains), task("board", pod=watches))
    job = volcano(*tasks, plugins={"pytorch": []})
    assert (
        rules_with_problems(job, versions=Versions(volcano=release)) & {"task-without-rank"}
        == expected
    )


def test_readiness_matters_if_other_pods_resolve_the_name() -> None:
    probe = template(container={"readinessProbe": {"tcpSocket": {"port": 1}}})
    by_worker = volcano(task("master"), task("worker", pod=probe), plugins={"pytorch": []})
    by_master = volcano(task("master", pod=probe), task("worker"), plugins={"pytorch": []})
    assert "unready-hosts" not in rules_with_problems(by_worker)
    assert "unready-hosts" in rules_with_problems(by_master)
    by_master["spec"]["plugins"]["svc"] = ["--publish-not-ready-addresses=true"]
    assert "unready-hosts" not in rules_with_problems(by_master)
    alone = volcano(task("master", pod=probe), plugins={"pytorch": []})
    assert "unready-hosts" not in rules_with_problems(alone)


@pytest.mark.parametrize(("args", "is_fixed"), [([], True), (["word"], False)])
def test_addresses_are_published_where_the_plugin_would_read_it(
    args: list[str], is_fixed: bool
) -> None:
    probe = template(container={"readinessProbe": {"tcpSocket": {"port": 1}}})
    plugins = {"pytorch": [], "svc": args}
    job = volcano(task("master", pod=probe), task("worker"), plugins=plugins)
    problems = run(job, only={"unready-hosts"})
    assert [problem.fix is not None for problem in problems] == [is_fixed]


def test_a_separate_service_may_serve_the_subdomain() -> None:
    job = volcano(task("a", pod=template(subdomain="ranks")), plugins={"svc": []})
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "ranks"}}
    assert "unserved-subdomain" in rules_with_problems(job)
    assert "unserved-subdomain" not in rules_with_problems(job, others=[service])
    assert "unserved-subdomain" in rules_with_problems(
        job, others=[{**service, "metadata": {"name": "ranks", "namespace": "b"}}]
    )
    assert "unserved-subdomain" not in rules_with_problems(
        volcano(task("a", pod=template(subdomain="ranks")))
    )


@pytest.mark.parametrize(
    ("argument", "corrected"),
    [
        ("--prot=123", "--port=123"),
        ("--prot 123", "--port=123"),
        ("--prot=abc", None),
        ("--banana=1", None),
    ],
)
def test_an_argument_is_corrected_to_one_that_the_plugin_reads(
    argument: str, corrected: str | None
) -> None:
    (problem,) = run(pytorch(argument), only=["dropped-plugin-argument"])
    assert (problem.fix and problem.fix.edits[0].value) == corrected
    assert (problem.help == f"write {corrected}") is (corrected is not None)
