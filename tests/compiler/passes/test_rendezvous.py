"""The pass `rendezvous`: torchrun's options on each target, without those that the operator passes itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ptcompile.compiler.passes.rendezvous import rendezvous
from ptcompile.ir.job import JOIN_TIMEOUT_SECONDS, Job, Launch, RunPolicy
from tests import making

if TYPE_CHECKING:
    from ptcompile.ir.job import RestartPolicy

WAIT = str(JOIN_TIMEOUT_SECONDS)
WAITS = {"timeout": WAIT, "join_timeout": WAIT}
STATIC = making.LAUNCH._replace(rdzv_conf=WAITS)
C10D = STATIC._replace(
    rdzv_backend="c10d", max_restarts=3, rdzv_conf={**WAITS, "read_timeout": WAIT}
)
ETCD = STATIC._replace(rdzv_backend="etcd-v2", rdzv_endpoint="etcd.infra:2379")
CONF, WATCH = f"--rdzv-conf=timeout={WAIT},join_timeout={WAIT}", "--monitor-interval=5"
LONGER = f"{CONF},read_timeout={WAIT}"


def run(target: str, job: Job) -> Job:
    where = making.context(target=target)
    after = rendezvous(job, where)
    assert rendezvous(after, where) == after
    return after


def command(target: str, launch: Launch, replicas: int, least: int | None = None) -> list[str]:
    after = run(target, making.job(replicas=replicas, launch=launch, min_nodes=least or replicas))
    return list(after.roles[0].template.main.command or ())


TABLE: dict[str, tuple[str, Launch, tuple[int, int], list[str]]] = {
    "one node meets nobody": (
        "pod", making.LAUNCH, (1, 1), ["--standalone", "--nproc-per-node=2", WATCH],
    ),
    "one node that restarts its processes": (
        "pod", making.LAUNCH._replace(max_restarts=3), (1, 1),
        ["--standalone", "--nproc-per-node=2", "--max-restarts=3", WATCH],
    ),
    "one node as an Indexed Job": ("job", making.LAUNCH, (1, 1), ["--standalone", "--nproc-per-node=2", WATCH]),
    "Indexed Job, static: rank by completion index (docs/facts/kubernetes.md#indexed-jobs)": (
        "job", STATIC, (4, 4),
        ["--nnodes=4", "--nproc-per-node=2", "--node-rank=$(JOB_COMPLETION_INDEX)", "--master-addr=train-0.train",
         "--master-port=23456", CONF, WATCH],
    ),
    "Indexed Job, a range": (
        "job", C10D, (4, 2),
        ["--nnodes=2:4", "--nproc-per-node=2", "--rdzv-backend=c10d", "--rdzv-endpoint=train-0.train:23456",
         "--rdzv-id=train", LONGER, "--max-restarts=3", WATCH],
    ),
    "Indexed Job, a fixed number that meets again": (
        "job", C10D, (4, 4),
        ["--nnodes=4", "--nproc-per-node=2", "--rdzv-backend=c10d", "--rdzv-endpoint=train-0.train:23456",
         "--rdzv-id=train", LONGER, "--max-restarts=3", WATCH],
    ),
    "etcd keeps its own endpoint": (
        "job", ETCD, (2, 2),
        ["--nnodes=2", "--nproc-per-node=2", "--rdzv-backend=etcd-v2", "--rdzv-endpoint=etcd.infra:2379",
         "--rdzv-id=train", CONF, WATCH],
    ),
    # docs/facts/training-operator.md#environment, also for the next two rows
    "PyTorchJob, static: all but the waits and the watch are PET_ variables": (
        "pytorchjob", STATIC, (4, 4), [CONF, WATCH],
    ),
    "PyTorchJob, a fixed number over c10d: the operator gives no rdzv without elasticPolicy": (
        "pytorchjob", C10D, (4, 4),
        ["--rdzv-backend=c10d", "--rdzv-endpoint=train-master-0:23456", "--rdzv-id=train", LONGER, "--max-restarts=3",
         WATCH],
    ),
    "PyTorchJob, a range: all of the meeting is in elasticPolicy": (
        "pytorchjob", C10D, (4, 2), [WATCH],
    ),
    "PyTorchJob, one node": ("pytorchjob", making.LAUNCH, (1, 1), [WATCH]),
    "Volcano, static: the plugin's variables are not torchrun's (docs/facts/volcano.md#the-pytorch-plugin)": (
        "volcano", STATIC, (4, 4),
        ["--nnodes=4", "--nproc-per-node=2", "--node-rank=$(RANK)", "--master-addr=$(MASTER_ADDR)",
         "--master-port=23456", CONF, WATCH],
    ),
    "Volcano, a range": (
        "volcano", C10D, (4, 2),
        ["--nnodes=2:4", "--nproc-per-node=2", "--rdzv-backend=c10d", "--rdzv-endpoint=$(MASTER_ADDR):23456",
         "--rdzv-id=train", LONGER, "--max-restarts=3", WATCH],
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", TABLE.values(), ids=TABLE)
def test_each_target_has_its_torchrun_options(
    row: tuple[str, Launch, tuple[int, int], list[str]],
) -> None:
    target, launch, (replicas, least), wanted = row
    assert command(target, launch, replicas, least) == ["torchrun", *wanted, "train.py"]


def test_a_module_is_launched_with_its_start_method() -> None:
    launch = making.LAUNCH._replace(
        entry=("-m", "pkg.train"), start_method="forkserver", nproc_per_node="auto"
    )
    wanted = [
        "torchrun",
        "--standalone",
        "--nproc-per-node=auto",
        WATCH,
        "--start-method=forkserver",
    ]
    assert command("pod", launch, 1) == [*wanted, "-m", "pkg.train"]


def test_torchrun_gets_a_custom_master_port() -> None:
    after = run("job", making.job(replicas=2, launch=STATIC, master_port=29500))
    assert "--master-port=29500" in (after.roles[0].template.main.command or ())


@pytest.mark.parametrize("script", ["my-train.py", "my train.py", "a;b.py", "$(X).py"])
def test_a_script_s_name_is_an_argument_without_a_shell(script: str) -> None:
    """In TorchX, a hyphen broke every multi-node job: docs/facts/torchx.md#defects-of-torchx 1."""
    words = command("volcano", STATIC._replace(entry=(script,)), 2)
    assert words[-1] == script
    assert not {"sh", "bash", "-c"} & set(words)


def test_the_user_s_command_is_unchanged() -> None:
    job = making.job(making.template(main={"command": ("python", "x.py")}))
    assert run("pod", job) == job


NAMES = ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK")


@pytest.mark.parametrize(
    ("target", "replicas", "values"),
    [
        (
            "pod",
            1,
            {"MASTER_ADDR": "localhost", "MASTER_PORT": "23456", "WORLD_SIZE": "1", "RANK": "0"},
        ),
        (
            "job",
            4,
            {
                "MASTER_ADDR": "train-0.train",
                "MASTER_PORT": "23456",
                "WORLD_SIZE": "4",
                "RANK": None,
            },
        ),
        (
            "pytorchjob",
            4,
            {},
        ),  # docs/facts/training-operator.md#environment: the operator appends them
        ("volcano", 4, {}),  # docs/facts/volcano.md#the-pytorch-plugin: the plugin appends them
    ],
)
def test_a_plain_command_gets_the_rendezvous_as_variables(
    target: str, replicas: int, values: dict[str, str | None]
) -> None:
    own = {"name": "X", "value": "1"}
    template = making.template(main={"command": ("python", "x.py"), "env": (own,)})
    after = run(target, making.job(template, replicas=replicas, launch=None)).roles[0].template.main
    assert after.command == ("python", "x.py"), "no torchrun"
    assert after.env[0] == own
    assert {entry["name"]: entry.get("value") for entry in after.env[1:]} == values


@pytest.mark.parametrize("name", NAMES)
def test_the_user_s_variable_is_unchanged(name: str) -> None:
    own: dict[str, Any] = {"name": name, "value": "mine"}
    template = making.template(main={"command": ("python",), "env": (own,)})
    after = run("job", making.job(template, replicas=2, launch=None)).roles[0].template.main
    assert [entry for entry in after.env if entry["name"] == name] == [own]
    assert {entry["name"] for entry in after.env} == set(NAMES)


OWN_STORE = ("TORCH_DISABLE_SHARE_RDZV_TCP_STORE", "1")


def variables(
    launch: Launch, least: int = 2, torch: str | None = None, **fields: Any
) -> list[tuple[str, Any]]:
    """Return the environment variables that torchrun gets on three nodes, as pairs."""
    cluster = making.profile({"versions": {"torch": torch}}) if torch else making.DEFAULT_CLUSTER
    job = making.job(making.template(**fields), replicas=3, launch=launch, min_nodes=least)
    where = making.context(cluster)
    after = rendezvous(job, where)
    assert rendezvous(after, where) == after
    main = after.roles[0].template.main
    return [(entry["name"], entry.get("value", entry.get("valueFrom"))) for entry in main.env]


@pytest.mark.parametrize(
    ("launch", "least", "wanted"),
    [
        (C10D, 2, [OWN_STORE]),
        (C10D, 3, [OWN_STORE]),
        (C10D._replace(max_restarts=0), 2, [OWN_STORE]),  # a late pod joins a later rendezvous
        (C10D._replace(max_restarts=0), 3, []),  # no later rendezvous
        (STATIC, 3, []),
        (ETCD, 2, []),
    ],
)
def test_repeated_c10d_rendezvous_use_a_store_each(
    launch: Launch, least: int, wanted: list[tuple[str, str]]
) -> None:
    assert variables(launch, least) == wanted


@pytest.mark.parametrize(
    ("torch", "there"), [("2.3", False), ("2.4", True), ("2.13", True), ("3.0", True)]
)
def test_older_torch_versions_do_not_share_a_store(torch: str, there: bool) -> None:
    assert (OWN_STORE in variables(C10D, torch=torch)) is there


@pytest.mark.parametrize(
    ("image", "there"),
    [
        ("pytorch/pytorch:2.2.2-cuda12.1-cudnn8-runtime", False),
        ("docker.io/pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel", True),
        ("pytorch/pytorch:latest", False),
        ("pytorch/pytorch", False),
        ("acme/pytorch:2.6", False),  # custom version numbers
    ],
)
def test_an_official_image_determines_the_torch_version(image: str, there: bool) -> None:
    template = making.template()
    named = template._replace(main=template.main._replace(image=image))
    job = making.job(named, replicas=3, launch=C10D)
    where = making.context(making.profile({"versions": {"torch": "2.2"}}))
    names = [entry["name"] for entry in rendezvous(job, where).roles[0].template.main.env]
    assert (OWN_STORE[0] in names) is there


def test_the_user_s_shared_store_is_unchanged() -> None:
    own = {"name": OWN_STORE[0], "value": "0"}
    assert variables(C10D, main={"env": (own,)}) == [(OWN_STORE[0], "0")]


def test_the_user_s_command_gets_the_variables() -> None:
    assert variables(C10D, main={"command": ("torchrun", "x.py")}) == [OWN_STORE]


@pytest.mark.parametrize(("launch", "there"), [(C10D, True), (STATIC, False), (ETCD, False)])
def test_pods_on_the_host_network_advertise_their_address(launch: Launch, there: bool) -> None:
    """c10d advertises the node's host name otherwise (measured: all three pods of three exit with 1)."""
    settings = dict(variables(launch, 3, extra={"hostNetwork": True}))
    assert settings.get("PET_LOCAL_ADDR") == (
        {"fieldRef": {"fieldPath": "status.podIP"}} if there else None
    )
    assert "PET_LOCAL_ADDR" not in dict(variables(launch, 3))


UNSAID = making.LAUNCH._replace(rdzv_backend=None)
CHOICE: list[tuple[Launch, RunPolicy, tuple[int, int], bool, str, dict[str, str]]] = [
    (UNSAID, RunPolicy(), (1, 1), False, "static", {}),
    (UNSAID, RunPolicy(), (2, 2), False, "static", WAITS),
    (UNSAID, RunPolicy(), (4, 2), False, "c10d", {**WAITS, "read_timeout": WAIT}),
    (UNSAID._replace(max_restarts=1), RunPolicy(), (2, 2), False, "c10d", {**WAITS, "read_timeout": WAIT}),
    (UNSAID, RunPolicy(backoff_limit=1), (2, 2), False, "c10d", {**WAITS, "read_timeout": WAIT}),
    (UNSAID, RunPolicy(on_pod_failure="RestartPod"), (2, 2), False, "c10d", {**WAITS, "read_timeout": WAIT}),
    (UNSAID, RunPolicy(on_pod_failure="RestartJob", backoff_limit=1), (2, 2), False, "static", WAITS),
    (UNSAID, RunPolicy(), (2, 2), True, "c10d", {**WAITS, "read_timeout": WAIT}),
    (UNSAID, RunPolicy(on_disruption="Count"), (2, 2), True, "static", WAITS),
    (UNSAID._replace(rdzv_conf={"timeout": None}), RunPolicy(), (4, 2), False, "c10d", {"join_timeout": WAIT}),
    (UNSAID._replace(rdzv_conf={"timeout": "60"}), RunPolicy(), (4, 2), False, "c10d",
     {"timeout": "60", "join_timeout": WAIT, "read_timeout": "60"}),
    (UNSAID._replace(rdzv_backend="static"), RunPolicy(backoff_limit=1), (2, 2), False, "static", WAITS),
]  # fmt: skip


@pytest.mark.parametrize(("launch", "policy", "nodes", "spot", "backend", "settings"), CHOICE)
def test_repeated_rendezvous_default_to_c10d(
    launch: Launch,
    policy: RunPolicy,
    nodes: tuple[int, int],
    spot: bool,
    backend: str,
    settings: dict[str, str],
) -> None:
    """Nodes with a static rendezvous cannot repeat it (PyTorch 2.13)."""
    job = making.job(
        replicas=nodes[0], launch=launch, min_nodes=nodes[1], run_policy=policy, spot=spot
    )
    after = run("job", job).launch
    assert after is not None
    assert (after.rdzv_backend, after.settings) == (backend, settings)


@pytest.mark.parametrize(("restart", "backend"), [("OnFailure", "c10d"), ("Never", "static")])
def test_the_restart_policy_determines_the_default_backend(
    restart: RestartPolicy, backend: str
) -> None:
    job = making.job(replicas=2, launch=UNSAID, min_nodes=2)
    after = run("job", job._replace(roles=(job.roles[0]._replace(restart_policy=restart),))).launch
    assert after is not None
    assert after.rdzv_backend == backend


def test_a_command_of_the_user_that_starts_torchrun_gets_variables() -> None:
    """A switch has the value 1."""
    launch = making.LAUNCH._replace(entry=())
    alone = run(
        "pod", making.job(making.template(main={"command": ("torchrun", "x.py")}), launch=launch)
    )
    env = {entry["name"]: entry.get("value") for entry in alone.roles[0].template.main.env}
    assert env == {"PET_STANDALONE": "1", "PET_NPROC_PER_NODE": "2", "PET_MONITOR_INTERVAL": "5"}
