"""Where the rules about launches begin and end, and which of their findings has a fix."""

from __future__ import annotations

from typing import Any

import pytest

from tests.linter.asking import problems_of
from tests.linter.rules.launch.making import job, pod, pytorchjob

Json = dict[str, Any]

C10D = ("torchrun", "--nnodes=2", "--rdzv-backend=c10d", "--rdzv-endpoint=train-0.train:29400")
STATIC = (
    "torchrun",
    "--nnodes=2",
    "--node-rank=$(JOB_COMPLETION_INDEX)",
    "--master-addr=train-0.train",
)


def _env(*pairs: str) -> Json:
    return {
        "env": [dict(zip(("name", "value"), pair.split("=", 1), strict=True)) for pair in pairs]
    }


def _with_pod(manifest: Json, *, annotations: Json | None = None, **spec: Any) -> Json:
    """Return a Job or Pod whose pod has these fields too."""
    inner = manifest["spec"].get("template", manifest)
    inner["spec"].update(spec)
    inner.setdefault("metadata", {})["annotations"] = annotations or {}
    return manifest


def _with_limit(manifest: Json, limit: int) -> Json:
    """Return a Job that retries this many failed pods."""
    manifest["spec"]["backoffLimit"] = limit
    return manifest


CASES: list[tuple[str, str, Json, bool]] = [
    ("a restart count of 64 bits", "bad-launch-number", pod("torchrun", f"--max-restarts={2**63 - 1}", "t.py"), False),
    ("a restart count of more", "bad-launch-number", pod("torchrun", f"--max-restarts={2**63}", "t.py"), True),
    ("the last port", "bad-launch-number", job(*STATIC, "--master-port=65535", "t.py"), False),
    ("a port above", "bad-launch-number", job(*STATIC, "--master-port=65536", "t.py"), True),
    ("a world size of 32 bits", "bad-launch-number", pod("python", "t.py", **_env("WORLD_SIZE=2147483648",
     "RANK=0", "MASTER_ADDR=localhost", "MASTER_PORT=1")), True),
    ("a switch that is a word", "bad-pet-switch", pod("torchrun", "t.py", **_env("PET_STANDALONE=true")), True),
    ("a switch that is a number", "bad-pet-switch", pod("torchrun", "t.py", **_env("PET_STANDALONE=2")), False),
    ("a configuration without a value", "bad-rdzv-conf", job(*C10D, "--rdzv-conf=timeout", "t.py"), True),
    ("a configuration of another program", "bad-rdzv-conf", job("deepspeed", "--rdzv-conf=timeout", "t.py"), False),
    ("a configuration from a variable", "bad-rdzv-conf", job(*C10D, "--rdzv-conf=$(CONF)", "t.py"), False),
    ("an option that no backend reads", "unknown-rdzv-option", job(*C10D, "--rdzv-conf=frobnicate=1", "t.py"), True),
    ("an option that a backend reads", "unknown-rdzv-option", job(*C10D, "--rdzv-conf=read_timeout=9", "t.py"), False),
    ("an unknown option from a variable", "unknown-rdzv-option",
     job(*C10D, "--rdzv-conf=$(NAME)=1,frobnicate=1", "t.py"), False),
    ("an unknown option of another backend", "unknown-rdzv-option",
     job("torchrun", "--nnodes=2", "--rdzv-backend=mine", "--rdzv-endpoint=train-0.train:29400",
         "--rdzv-conf=frobnicate=1", "t.py"), False),
    ("an unknown option of another program", "unknown-rdzv-option",
     job("python", "t.py", "--rdzv-conf=frobnicate=1"), False),
    ("an unknown option next to a bad value", "unknown-rdzv-option",
     job(*C10D, "--rdzv-conf=frobnicate=1,read_timeout=x", "t.py"), False),
    ("an interface of nodes", "host-interface", pod("torchrun", "t.py", **_env("NCCL_SOCKET_IFNAME=ens5")), True),
    ("one interface of two", "host-interface", pod("torchrun", "t.py", **_env("NCCL_SOCKET_IFNAME=ens5,eth0")), False),
    ("the node's network", "host-interface",
     _with_pod(pod("torchrun", "t.py", **_env("NCCL_SOCKET_IFNAME=ens5")), hostNetwork=True), False),
    ("not the node's network", "host-interface",
     _with_pod(pod("torchrun", "t.py", **_env("NCCL_SOCKET_IFNAME=ens5")), hostNetwork=False), True),
    ("a second network", "host-interface", _with_pod(pod("torchrun", "t.py", **_env("NCCL_SOCKET_IFNAME=ens5")),
     annotations={"k8s.v1.cni.cncf.io/networks": "rdma"}), False),
    ("another annotation", "host-interface", _with_pod(pod("torchrun", "t.py", **_env("NCCL_SOCKET_IFNAME=ens5")),
     annotations={"team": "a"}), True),
    ("a claimed device", "host-interface", _with_pod(pod("torchrun", "t.py", **_env("NCCL_SOCKET_IFNAME=ens5")),
     resourceClaims=[{"name": "nic"}]), False),
    ("NCCL as an option", "nccl-without-gpu", pod("python", "t.py", "--backend", "nccl", resources={}), True),
    ("NCCL in an option", "nccl-without-gpu", pod("python", "t.py", "--dist_backend=nccl", resources={}), True),
    ("NCCL with GPUs", "nccl-without-gpu", pod("python", "t.py", "--backend", "nccl"), False),
    ("gloo as an option", "nccl-without-gpu", pod("python", "t.py", "--backend", "gloo", resources={}), False),
    ("NCCL of another option", "nccl-without-gpu", pod("python", "t.py", "--name", "nccl", resources={}), False),
    ("NCCL of a word", "nccl-without-gpu", pod("python", "t.py", "backend", "nccl", resources={}), False),
    ("NCCL by variable", "nccl-without-gpu", pod("python", "t.py", resources={}, **_env("BACKEND=NCCL")), True),
    ("gloo by variable", "nccl-without-gpu", pod("python", "t.py", resources={}, **_env("BACKEND=gloo")), False),
    ("NCCL in another variable", "nccl-without-gpu", pod("python", "t.py", resources={}, **_env("NAME=nccl")), False),
    ("Lightning's variable", "nccl-without-gpu",
     pod("python", "t.py", resources={}, **_env("PL_PROCESS_GROUP_BACKEND=nccl")), True),
    ("NCCL in a variable of another name", "nccl-without-gpu",
     pod("python", "t.py", resources={}, **_env("DDP_BACKEND=NCCL")), True),
    ("a hundred attempts", "restarts-multiply", _with_limit(job(*STATIC, "--max-restarts=9", "t.py"), 9), True),
    ("99 attempts", "restarts-multiply", _with_limit(job(*STATIC, "--max-restarts=8", "t.py"), 10), False),
    ("restarts by the Job alone", "restarts-multiply",
     _with_limit(job(*STATIC, "--max-restarts=0", "t.py"), 200), False),
    ("restarts by torchrun alone", "restarts-multiply",
     _with_limit(job(*STATIC, "--max-restarts=200", "t.py"), 0), False),
    ("a failure of both nodes at once", "restarts-multiply",
     _with_limit(job(*C10D, "--max-restarts=9", "t.py"), 18), True),
    ("fewer failures of both nodes", "restarts-multiply",
     _with_limit(job(*C10D, "--max-restarts=9", "t.py"), 17), False),
    ("a range of nodes", "restarts-multiply",
     _with_limit(job("torchrun", "--nnodes=1:2", *C10D[2:], "--max-restarts=9", "t.py"), 200), False),
    ("names on the node's network", "node-names-handed-out", _with_pod(job(*C10D, "t.py"), hostNetwork=True), True),
    ("names in the pod's network", "node-names-handed-out", _with_pod(job(*C10D, "t.py"), hostNetwork=False), False),
    ("a single pod", "node-names-handed-out", _with_pod(job(*C10D, "t.py", pods=1), hostNetwork=True), False),
    ("an address", "node-names-handed-out",
     _with_pod(job(*C10D, "t.py", **_env("PET_LOCAL_ADDR=1.2.3.4")), hostNetwork=True), False),
    ("the static backend", "node-names-handed-out", _with_pod(job(*STATIC, "t.py"), hostNetwork=True), False),
    ("standalone on one pod", "ignored-rendezvous-option",
     pod("torchrun", "--standalone", "--rdzv-id=1", "t.py"), True),
    ("standalone on two pods", "ignored-rendezvous-option",
     job("torchrun", "--standalone", "--rdzv-id=1", "t.py"), False),
    ("an id from the index", "rendezvous-id-differs", job(*C10D, "--rdzv-id=$(JOB_COMPLETION_INDEX)", "t.py"), True),
    ("one id", "rendezvous-id-differs", job(*C10D, "--rdzv-id=train", "t.py"), False),
    ("an id from the index, one pod", "rendezvous-id-differs",
     job(*C10D, "--rdzv-id=$(JOB_COMPLETION_INDEX)", "t.py", pods=1), False),
    ("an id that a shell takes from the index", "rendezvous-id-differs",
     job("bash", "-c", " ".join([*C10D, "--rdzv-id=$JOB_COMPLETION_INDEX t.py"])), True),
    ("slices with two processes", "processes-on-mig", pod("torchrun", "--nproc-per-node=2", "t.py",
     resources={"limits": {"nvidia.com/mig-1g.5gb": 2}}), True),
    ("slices with one process", "processes-on-mig", pod("torchrun", "--nproc-per-node=1", "t.py",
     resources={"limits": {"nvidia.com/mig-1g.5gb": 2}}), False),
    ("slices with another launcher", "processes-on-mig",
     job("accelerate", "launch", "--num_processes=4", "--num_machines=2", "--machine_rank=$(JOB_COMPLETION_INDEX)",
         "--main_process_ip=train-0.train", "--main_process_port=29500", "t.py",
         resources={"limits": {"nvidia.com/mig-1g.5gb": 2}}), True),
    ("more processes than GPUs", "more-processes-than-gpus", pod("torchrun", "--nproc-per-node=2", "t.py"), True),
    ("as many processes as GPUs", "more-processes-than-gpus", pod("torchrun", "--nproc-per-node=1", "t.py"), False),
    ("more processes by option, other variables unknown", "more-processes-than-gpus",
     pod("torchrun", "--nproc-per-node=2", "t.py", envFrom=[{"configMapRef": {"name": "c"}}]), True),
    ("more processes by variable, next to unknown ones", "more-processes-than-gpus",
     pod("torchrun", "t.py", envFrom=[{"configMapRef": {"name": "c"}}], **_env("PET_NPROC_PER_NODE=2")), False),
    ("a number that a shell computes", "more-processes-than-gpus",
     pod("bash", "-c", "torchrun --nproc-per-node=2 t.py", envFrom=[{"configMapRef": {"name": "c"}}]), False),
    ("another launcher's processes", "more-processes-than-gpus",
     job("accelerate", "launch", "--num_processes=4", "--num_machines=2", "--machine_rank=$(JOB_COMPLETION_INDEX)",
         "--main_process_ip=train-0.train", "--main_process_port=29500", "t.py"), True),
    ("an option in two values", "contradicting-launch-option",
     pod("torchrun", "--nnodes=1", "t.py", **_env("PET_NNODES=2")), True),
    ("a number and its range", "contradicting-launch-option",
     pod("torchrun", "--nnodes=1:1", "t.py", **_env("PET_NNODES=1")), False),
    ("an option and an unknown value", "contradicting-launch-option",
     pod("torchrun", "--nnodes=1", "t.py", **_env("PET_NNODES=$(NODES)")), False),
    ("an unknown option and a value", "contradicting-launch-option",
     pod("torchrun", "--nnodes=$(NODES)", "t.py", **_env("PET_NNODES=2")), False),
    ("a rank that torchrun sets", "env-that-torchrun-sets", pod("torchrun", "t.py", **_env("RANK=0")), True),
    ("a rank that the command uses", "env-that-torchrun-sets",
     pod("torchrun", "--node-rank=$(RANK)", "t.py", **_env("RANK=0")), False),
    ("a rank for a script", "env-that-torchrun-sets",
     pod("bash", "-c", "torchrun t.py", **_env("RANK=0")), False),
    ("counts of nodes for every reader", "env-that-torchrun-sets", pod("torchrun", "t.py",
     **_env("RANK=0", "WORLD_SIZE=1", "MASTER_ADDR=localhost", "MASTER_PORT=1")), False),
    ("a wrong size", "env-that-torchrun-sets", pod("torchrun", "t.py",
     **_env("RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=localhost", "MASTER_PORT=1")), True),
    ("a wrong rank", "env-that-torchrun-sets", pod("torchrun", "t.py",
     **_env("RANK=1", "WORLD_SIZE=1", "MASTER_ADDR=localhost", "MASTER_PORT=1")), True),
    ("counts without a port", "env-that-torchrun-sets", pod("torchrun", "t.py",
     **_env("RANK=0", "WORLD_SIZE=1", "MASTER_ADDR=localhost")), True),
    ("counts of nodes and a local rank", "env-that-torchrun-sets", pod("torchrun", "t.py",
     **_env("RANK=0", "WORLD_SIZE=1", "MASTER_ADDR=localhost", "MASTER_PORT=1", "LOCAL_RANK=0")), True),
    ("an option once", "repeated-launch-option", pod("torchrun", "--nnodes=1", "t.py"), False),
    ("more nodes than pods", "range-above-pods", job("torchrun", "--nnodes=2:4", *C10D[2:], "t.py"), True),
    ("as many nodes as pods", "range-above-pods", job("torchrun", "--nnodes=1:2", *C10D[2:], "t.py"), False),
    ("a single pod of a range", "range-above-pods", job("torchrun", "--nnodes=1:4", *C10D[2:], "t.py", pods=1), False),
    ("the default range", "range-above-pods", job("torchrun", *C10D[2:], "t.py"), False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "manifest", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_a_rule_reports_its_case_and_no_near_miss(
    rule: str, manifest: Json, expected: bool
) -> None:
    assert bool(problems_of(rule, manifest)) is expected


@pytest.mark.parametrize(
    ("script", "fields", "variable"),
    [
        ("torchrun --nnodes=$NNODES t.py", {}, "NNODES"),
        ("torchrun --nnodes=$COUNT t.py", {}, None),  # no variable of an operator
        ("torchrun --nnodes=${NNODES} t.py", {}, "NNODES"),
        ("torchrun --nnodes=$NNODES t.py", _env("NNODES=1"), None),
        ("torchrun --nnodes=$NNODES t.py", {"envFrom": [{"configMapRef": {"name": "c"}}]}, None),
        ("torchrun --nnodes=1 t.py --lr=$LR", {}, None),
        ("echo $NNODES", {}, None),
    ],
)
def test_an_option_from_a_variable_that_nothing_sets_is_reported(
    script: str, fields: Json, variable: str | None
) -> None:
    messages = [
        problem.message
        for problem in problems_of("unset-shell-variable", pod("bash", "-c", script, **fields))
    ]
    assert [
        f"nothing sets {variable}, so it is empty in --nnodes" in message for message in messages
    ] == ([] if variable is None else [True])


@pytest.mark.parametrize(
    ("rule", "manifest", "safe"),
    [
        ("bad-pet-switch", pod("torchrun", "t.py", **_env("PET_STANDALONE=true")), True),
        ("bad-pet-switch", pod("torchrun", "t.py", **_env("PET_STANDALONE=maybe")), None),
        ("python-as-script", pod("torchrun", "python", "t.py"), True),
        ("python-as-script", pod("torchrun", "python", "run"), None),
        ("python-as-script", pod("torchrun", "python"), None),
        ("python-as-script", pod("bash", "-c", "torchrun python t.py"), None),
        ("range-above-pods", job("torchrun", "--nnodes=2:4", *C10D[2:], "t.py"), False),
        (
            "node-names-handed-out",
            _with_pod(job(*C10D, "t.py", **_env("A=1")), hostNetwork=True),
            False,
        ),
        ("node-names-handed-out", _with_pod(job(*C10D, "t.py"), hostNetwork=True), None),
        ("etcd-without-id", job("torchrun", "--nnodes=2", "--rdzv-backend=etcd-v2", "t.py"), None),
        (
            "etcd-without-id",
            pytorchjob(
                worker=["torchrun", "t.py"],
                elasticPolicy={"rdzvBackend": "etcd-v2", "maxReplicas": 2},
            ),
            False,
        ),
    ],
)
def test_each_fix_is_safe_or_unsafe(rule: str, manifest: Json, safe: bool | None) -> None:
    (problem,) = problems_of(rule, manifest)
    assert (None if problem.fix is None else problem.fix.safe) is safe


@pytest.mark.parametrize(
    ("words", "help"),
    [
        (
            ("/usr/bin/torchrun", "t.py"),
            "remove /usr/bin/torchrun, and start the script with torchrun alone",
        ),
        (("bash", "t.sh"), "add --no-python before it, or start a Python script"),
    ],
)
def test_python_as_script_has_a_help_for_each_program(words: tuple[str, ...], help: str) -> None:
    (problem,) = problems_of("python-as-script", pod("torchrun", *words))
    assert problem.help == help


def test_the_first_ignored_option_is_reported_with_the_others() -> None:
    (problem,) = problems_of(
        "ignored-rendezvous-option",
        pod("torchrun", "--standalone", "--rdzv-id=1", "--node-rank=0", "t.py"),
    )
    assert "does not read --rdzv-id, --node-rank" in problem.message


@pytest.mark.parametrize(
    ("master", "worker", "difference"),
    [
        ([], [], None),
        (["--master-port=1"], ["--master-port=2"], "the master-port"),
        (["--master-addr=a"], ["--master-addr=b"], "the master-addr"),
        (["--master-port=$(PORT)"], ["--master-port=2"], None),
        (["--rdzv-id=a"], ["--rdzv-id=b"], None),  # the static backend reads no id
        ([*C10D[2:], "--rdzv-id=a"], [*C10D[2:], "--rdzv-id=b"], "the rdzv-id"),
        (C10D[2:], [C10D[2], "--rdzv-endpoint=other:29400"], "the rdzv-endpoint"),
        (["--rdzv-endpoint=a:1"], ["--rdzv-endpoint=b:1"], "the rdzv-endpoint"),
        (C10D[2:], [], "the rdzv-backend"),
        (["--nnodes=2"], ["--nnodes=3"], "the nnodes"),
        (
            ["--nnodes=1"],
            ["--nnodes=1", "--master-port=2"],
            None,
        ),  # each trains alone, which another rule reports
        ([*C10D[2:], "--nnodes=1"], [*C10D[2:], "--nnodes=1", "--rdzv-id=b"], "the rdzv-id"),
    ],
)
def test_roles_that_differ_in_an_option_are_reported(
    master: list[str], worker: list[str], difference: str | None
) -> None:
    commands = {
        name: ["torchrun", *words, "t.py"]
        for name, words in (("master", master), ("worker", worker))
    }
    problems = problems_of("roles-disagree", pytorchjob(workers=1, **commands))
    assert [str(difference) in problem.message for problem in problems] == (
        [] if difference is None else [True]
    )


def _service(name: str, selector: dict[str, str], *, headless: bool = False) -> Json:
    spec = {
        "selector": selector,
        "ports": [{"port": 29400}],
        **({"clusterIP": "None"} if headless else {}),
    }
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ({"app": "other"}, True),
        ({"job-name": "train"}, False),
        ({"batch.kubernetes.io/job-completion-index": "0"}, False),
        ({"batch.kubernetes.io/job-completion-index": "1"}, False),
        ({"batch.kubernetes.io/job-completion-index": "2"}, False),
        ({"batch.kubernetes.io/job-completion-index": "4"}, True),
        ({"batch.kubernetes.io/job-completion-index": "1234567890"}, True),
    ],
)
def test_the_service_of_an_endpoint_must_select_a_pod(
    selector: dict[str, str], expected: bool
) -> None:
    command = (
        "torchrun",
        "--nnodes=4",
        "--rdzv-backend=c10d",
        "--rdzv-endpoint=entry:29400",
        "t.py",
    )
    entry = _service("entry", selector, headless=True)
    assert bool(problems_of("endpoint-misses-pods", job(*command, pods=4), entry)) is expected


@pytest.mark.parametrize(
    ("options", "headless", "expected"),
    [
        (("--rdzv-backend=c10d",), False, True),
        (("--rdzv-backend=c10d",), True, False),
        (("--rdzv-backend=c10d", "--rdzv-conf=is_host=true"), False, False),
        (("--node-rank=$(JOB_COMPLETION_INDEX)",), False, False),
    ],
)
def test_no_pod_has_a_cluster_ip(options: tuple[str, ...], headless: bool, expected: bool) -> None:
    command = ("torchrun", "--nnodes=4", *options, "--rdzv-endpoint=entry:29400", "t.py")
    entry = _service("entry", {"batch.kubernetes.io/job-completion-index": "0"}, headless=headless)
    assert bool(problems_of("endpoint-misses-pods", job(*command, pods=4), entry)) is expected


def test_the_headless_service_of_the_subdomain_is_checked_elsewhere() -> None:
    command = (
        "torchrun",
        "--nnodes=2",
        "--rdzv-backend=c10d",
        "--rdzv-endpoint=train:29400",
        "t.py",
    )
    assert not problems_of(
        "endpoint-misses-pods", job(*command), _service("train", {"app": "x"}, headless=True)
    )
    assert problems_of("endpoint-misses-pods", job(*command), _service("train", {"app": "x"}))
    other = ("torchrun", "--nnodes=2", "--rdzv-backend=c10d", "--rdzv-endpoint=entry:29400", "t.py")
    assert problems_of(
        "endpoint-misses-pods", job(*other), _service("entry", {"app": "x"}, headless=True)
    )


def test_an_empty_option_of_another_launcher_is_reported() -> None:
    options = "--num_machines=2 --num_processes=2 --main_process_ip=a --main_process_port=1"
    (problem,) = problems_of(
        "unset-shell-variable",
        pod("bash", "-c", f"accelerate launch {options} --machine_rank=$RANK t.py"),
    )
    assert "nothing sets RANK, so it is empty in --machine-rank" in problem.message


def test_an_etcd_without_an_id_is_fixed_with_the_job_s_name() -> None:
    policy = {"rdzvBackend": "etcd-v2", "maxReplicas": 2}
    manifest = pytorchjob(worker=["torchrun", "t.py"], elasticPolicy=policy)
    (named,) = problems_of("etcd-without-id", manifest)
    assert named.fix is not None
    assert [(edit.path[-1], edit.value) for edit in named.fix.edits] == [
        ("rdzvId", manifest["metadata"]["name"])
    ]
    (unnamed,) = problems_of(
        "etcd-without-id", {**manifest, "metadata": {"generateName": "train-"}}
    )
    assert unnamed.fix is None


def test_a_range_above_the_pods_is_fixed_to_end_at_them() -> None:
    (problem,) = problems_of(
        "range-above-pods", job("torchrun", "--nnodes=2:9", *C10D[2:], "t.py", pods=3)
    )
    assert (problem.help, problem.fix and problem.fix.title) == ("write 2:3", "set nnodes to 2:3")


@pytest.mark.parametrize(
    ("option", "is_found"),
    [
        ("--rdzv_endpoint=a.b:$PORT", True),
        ("--master_port=${PORT}", True),
        ("--master_addr=$HEAD_NODE", True),
        ("--rdzv_endpoint=a.b:${PORT:-29400}", False),
        ("--master_addr=$(cat /shared/head)", False),
        ("--master_addr=$SLURM_LAUNCH_NODE_IPADDR", False),
        ("--node_rank=$(expr $JOB_COMPLETION_INDEX / 2)", False),
    ],
)
def test_an_endpoint_from_a_variable_that_nothing_sets_is_reported(
    option: str, is_found: bool
) -> None:
    manifest = pod("bash", "-c", f"torchrun --nnodes=2 {option} t.py")
    assert bool(problems_of("unset-shell-variable", manifest)) is is_found
    script = f"export PORT=29400 HEAD_NODE=a.b\nexec torchrun --nnodes=2 {option} t.py"
    assert not problems_of("unset-shell-variable", pod("bash", "-c", script))
