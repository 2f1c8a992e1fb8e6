"""Where the rules about containers begin and end: values just inside and just outside of what each reports."""

from __future__ import annotations

import pytest

from tests.linter.asking import Json, container, fires, problems_of

GPU = "nvidia.com/gpu"


def _env(*values: str) -> Json:
    return {
        "env": [
            {"name": name, "value": value}
            for name, value in [pair.split("=", 1) for pair in values]
        ]
    }


def _limits(**amounts: object) -> Json:
    return {
        "resources": {
            "limits": {GPU if name == "gpu" else name: amount for name, amount in amounts.items()}
        }
    }


def _script(text: str, shell: str = "bash", flag: str = "-c") -> Json:
    return {"command": [shell, flag, text]}


REPORTED: list[tuple[str, Json]] = [
    ("cuda-visible-devices", {**_env("CUDA_VISIBLE_DEVICES=0,2"), **_limits(gpu=2)}),
    ("cuda-visible-devices", {**_env("CUDA_VISIBLE_DEVICES=0,99999999"), **_limits(gpu=2)}),
    ("cuda-visible-devices", {**_env("CUDA_VISIBLE_DEVICES=0,0"), **_limits(gpu=2)}),
    (
        "impatient-liveness",
        {"livenessProbe": {"periodSeconds": 10, "failureThreshold": 29}, **_limits(gpu=1)},
    ),
    ("impatient-liveness", {"livenessProbe": {"periodSeconds": 99}, **_limits(gpu=1)}),
    ("impatient-liveness", {"livenessProbe": {"failureThreshold": 29}, **_limits(gpu=1)}),
    (
        "impatient-liveness",
        {"livenessProbe": {"periodSeconds": 99, "failureThreshold": 0}, **_limits(gpu=1)},
    ),
    ("invalid-env-value", _env("NCCL_DEBUG=LOUD")),
    ("invalid-env-value", _env("NCCL_IB_DISABLE=true")),
    ("invalid-env-value", _env("OMP_NUM_THREADS=0")),
    ("invalid-env-value", _env("OMP_NUM_THREADS=4,x")),
    ("invalid-env-value", _env("OMP_NUM_THREADS=1234567890")),
    ("larger-than-any-node", {"resources": {"requests": {"cpu": 4000}}}),
    (
        "powerful-capability",
        {"securityContext": {"capabilities": {"add": ["NET_ADMIN", "CAP_SYS_ADMIN"]}}},
    ),
    (
        "powerful-capability",
        {"securityContext": {"privileged": False, "capabilities": {"add": ["ALL"]}}},
    ),
    ("threads-above-cpus", {**_env("OMP_NUM_THREADS=999999"), **_limits(cpu=8)}),
    ("shell-variable-in-env", _env("URL=http://${HOST}")),
    ("ulimit-without-capability", _script("set -e\nulimit -l unlimited\npython train.py")),
    ("ulimit-without-capability", _script("ulimit -l unlimited && python train.py")),
    ("ulimit-without-capability", _script("ulimit -l unlimited\npython train.py", flag="-ec")),
    ("option-in-one-word", {"command": ["python", "train.py", "--lr 0.1"]}),
    ("inverted-python-switch", _env("PYTHONFAULTHANDLER=0")),
    ("lost-arguments", {"command": ["bash", "-c", "python", "train.py"]}),
    ("lost-arguments", {"command": ["bash", "-c", "python", "bash", "train.py"]}),
]
SILENT: list[tuple[str, Json]] = [
    ("cuda-visible-devices", {**_env("CUDA_VISIBLE_DEVICES=0,1"), **_limits(gpu=2)}),
    ("cuda-visible-devices", {**_env("CUDA_VISIBLE_DEVICES=0,999999999"), **_limits(gpu=2)}),  # no index of a device
    ("cuda-visible-devices", {**_env("CUDA_VISIBLE_DEVICES=GPU-1,GPU-2"), **_limits(gpu=2)}),
    ("impatient-liveness", {"livenessProbe": {"periodSeconds": 10, "failureThreshold": 30}, **_limits(gpu=1)}),
    ("impatient-liveness", {"livenessProbe": {"periodSeconds": 100}, **_limits(gpu=1)}),  # 3 failures by default
    ("impatient-liveness", {"livenessProbe": {"failureThreshold": 30}, **_limits(gpu=1)}),  # every 10 seconds
    ("impatient-liveness", {"livenessProbe": {"initialDelaySeconds": 270}, **_limits(gpu=1)}),
    ("impatient-liveness", {"livenessProbe": {}, "command": ["nginx"]}),
    ("invalid-env-value", _env("NCCL_DEBUG= info ")),
    ("invalid-env-value", _env("NCCL_DEBUG=$(LEVEL)")),
    ("invalid-env-value", _env("NCCL_DEBUG=")),
    ("invalid-env-value", _env("NCCL_IB_DISABLE=-1")),
    ("invalid-env-value", _env("OMP_NUM_THREADS=4, 2")),
    ("invalid-env-value", _env("OMP_NUM_THREADS=123456789")),
    ("invalid-env-value", _env("MY_LEVEL=LOUD")),
    ("powerful-capability", {"securityContext": {"privileged": True, "capabilities": {"add": ["SYS_ADMIN"]}}}),
    ("powerful-capability", {"securityContext": {"capabilities": {"add": "SYS_ADMIN"}}}),
    ("powerful-capability", {"securityContext": {"capabilities": {"add": ["IPC_LOCK"]}}}),
    ("threads-above-cpus", {**_env("OMP_NUM_THREADS=1234567"), **_limits(cpu=8)}),
    ("threads-above-cpus", {**_env("OMP_NUM_THREADS=8"), **_limits(cpu=8)}),
    ("shell-variable-in-env", _env("SCRIPT=echo\n$HOST")),
    ("shell-variable-in-env", _env("URL=http://$$HOST")),
    ("ulimit-without-capability", _script("ulimit -l unlimited; python train.py")),
    ("ulimit-without-capability", _script("set -e\nulimit -l unlimited || true")),
    ("ulimit-without-capability", _script("set -e\nulimit -l unlimited; true")
     | {"securityContext": {"capabilities": {"add": ["CAP_SYS_RESOURCE"]}}}),
    ("ulimit-without-capability", _script("ulimit -l unlimited && true") | {"securityContext": {"privileged": True}}),
    ("option-in-one-word", {"command": ["--lr 0.1", "train.py"]}),  # the program itself
    ("option-in-one-word", {"command": ["bash", "-c", "python --lr 0.1"]}),
    ("inverted-python-switch", _env("PYTHONUNBUFFERED=0")),
    ("inverted-python-switch", _env("MY_SWITCH=false")),
    ("lost-arguments", {"command": ["bash", "-c", "python $1", "train.py"]}),
    ("lost-arguments", {"command": ["bash", "-c", "python", "bash"]}),
    ("unwritable-tmp", {"command": ["torchrun", "train.py"], "securityContext": {"readOnlyRootFilesystem": True},
                        **_env("TMPDIR=/scratch")}),
    ("unwritable-tmp", {"command": ["torchrun", "train.py"], "securityContext": {"readOnlyRootFilesystem": True},
                        "envFrom": [{"configMapRef": {"name": "folders"}}]}),
]  # fmt: skip


def _name(value: object) -> str | None:
    return value if isinstance(value, str) else None


@pytest.mark.parametrize(("rule", "fields"), REPORTED, ids=_name)
def test_a_rule_reports_its_case(rule: str, fields: Json) -> None:
    assert fires(rule, container(**fields))


@pytest.mark.parametrize(("rule", "fields"), SILENT, ids=_name)
def test_a_rule_accepts_its_near_miss(rule: str, fields: Json) -> None:
    assert not fires(rule, container(**fields))


def test_a_variable_like_another_does_not_excuse_a_folder_that_is_not_writable() -> None:
    fields = {
        "command": ["torchrun", "train.py"],
        "securityContext": {"readOnlyRootFilesystem": True},
    }
    assert fires("unwritable-tmp", container(**fields, **_env("TMP_FOLDER=/scratch")))


@pytest.mark.parametrize(
    ("devices", "gpus", "processes", "severity"),
    [
        ("0", 2, 2, "error"),
        ("0", 2, 1, "warning"),
        ("0,1,5", 2, 2, "warning"),
        ("0,5,1", 2, 2, "error"),
        ("1,2", 2, 2, "error"),
    ],
)
def test_too_few_visible_gpus_are_an_error_if_torchrun_starts_more_processes(
    devices: str, gpus: int, processes: int, severity: str
) -> None:
    """CUDA stops at the first index that does not exist."""
    command = ["torchrun", f"--nproc-per-node={processes}", "train.py"]
    pod = container(command=command, **_env(f"CUDA_VISIBLE_DEVICES={devices}"), **_limits(gpu=gpus))
    assert [problem.severity for problem in problems_of("cuda-visible-devices", pod)] == [severity]


@pytest.mark.parametrize(("gpus", "text"), [(1, "for 1 GPU:"), (2, "for 2 GPUs:")])
def test_gpus_are_counted_in_singular_and_plural(gpus: int, text: str) -> None:
    (problem,) = problems_of("fewer-cpus-than-gpus", container(**_limits(gpu=gpus, cpu="500m")))
    assert text in problem.message


@pytest.mark.parametrize(
    ("rule", "fields", "help"),
    [
        ("fractional-bytes", _limits(memory="512m"), "write 512Mi"),
        ("fractional-bytes", _limits(memory="512000u"), "write an amount in Mi or Gi"),
        ("fractional-bytes", _limits(memory="1.5m"), "write an amount in Mi or Gi"),
        ("tiny-memory-limit", _limits(memory="64"), "write the unit, such as 64Gi"),
        ("tiny-memory-limit", _limits(memory="4096"), "write the unit, such as 4096Gi"),
        ("tiny-memory-limit", _limits(memory="4097"), "raise the limit"),
        ("tiny-memory-limit", _limits(memory="1k"), "raise the limit"),
        (
            "threads-above-cpus",
            {**_env("OMP_NUM_THREADS=8"), **_limits(cpu="500m")},
            "use at most 1",
        ),
        (
            "threads-above-cpus",
            {**_env("OMP_NUM_THREADS=8"), **_limits(cpu="2500m")},
            "use at most 2",
        ),
        ("shell-variable-in-env", _env("HOST=a", "URL=http://$HOST"), "write $(HOST)"),
        (
            "shell-variable-in-env",
            _env("HOST=a", "URL=http://${HOST}:$PORT"),
            "write the value out",
        ),
        ("shell-variable-in-env", _env("URL=http://$HOST"), "write the value out"),
    ],
)
def test_the_help_suggests_a_value(rule: str, fields: Json, help: str) -> None:
    assert [problem.help for problem in problems_of(rule, container(**fields))] == [help]


def test_both_forms_of_a_shell_variable_are_replaced() -> None:
    (problem,) = problems_of(
        "shell-variable-in-env", container(**_env("HOST=a", "PORT=1", "URL=http://${HOST}:$PORT"))
    )
    assert problem.fix is not None
    assert [edit.value for edit in problem.fix.edits] == ["http://$(HOST):$(PORT)"]
    assert not problem.fix.safe
    command = {"command": ["python", "train.py", "--to=${HOST}:$PORT"], **_env("HOST=a", "PORT=1")}
    (problem,) = problems_of("shell-variable-without-shell", container(**command))
    assert problem.fix is not None
    assert [edit.value for edit in problem.fix.edits] == ["--to=$(HOST):$(PORT)"]


@pytest.mark.parametrize(
    ("command", "severity"),
    [
        (["torchrun", "--rdzv-endpoint=$HOST:29500", "train.py"], "error"),
        (["torchrun", "--nproc-per-node=$PROCESSES", "train.py"], "error"),
        (["torchrun", "train.py", "--out=$FOLDER"], "warning"),
    ],
)
def test_a_variable_in_an_option_of_the_launcher_is_an_error(
    command: list[str], severity: str
) -> None:
    assert [
        problem.severity
        for problem in problems_of("shell-variable-without-shell", container(command=command))
    ] == [severity]


@pytest.mark.parametrize(
    ("add", "edits"),
    [
        (None, ["remove", "set"]),
        ([], ["remove", "append"]),
        (["NET_ADMIN"], ["remove", "append"]),
        (["IPC_LOCK"], ["remove"]),
    ],
)
def test_privileged_becomes_the_capability_that_rdma_needs(
    add: list[str] | None, edits: list[str]
) -> None:
    security = {"privileged": True, **({} if add is None else {"capabilities": {"add": add}})}
    (problem,) = problems_of("privileged-training", container(securityContext=security))
    assert problem.fix is not None
    assert [edit.op for edit in problem.fix.edits] == edits


@pytest.mark.parametrize(
    ("values", "safe", "message"),
    [
        (["A=1", "A=2"], True, "hides previous definition"),
        (["A=1", "A=$(A):2"], False, "is set again in entry 1, and the last entry wins"),
        (["A=1", "B=x$(A)y", "A=2"], False, "hides previous definition"),
        (["A=1", "B=$(A", "A=2"], True, "hides previous definition"),
        (["A=1", "B=$(C)$(A)", "A=2"], False, "hides previous definition"),
    ],
)
def test_a_repeated_entry_is_removed_safely_unless_another_value_uses_it(
    values: list[str], safe: bool, message: str
) -> None:
    (problem,) = problems_of("repeated-env", container(**_env(*values)))
    assert problem.fix is not None
    assert problem.fix.safe is safe
    assert message in problem.message


def test_a_resource_that_no_node_has_is_reported_once_per_container() -> None:
    resources = {"limits": {GPU: 32, "cpu": 4000}, "requests": {GPU: 32, "cpu": 4000}}
    problems = problems_of("larger-than-any-node", container(resources=resources))
    assert [problem.path[-2:] for problem in problems] == [("limits", GPU), ("limits", "cpu")]


def test_a_lost_argument_is_shortened() -> None:
    (problem,) = problems_of(
        "lost-arguments", container(command=["bash", "-c", "python", "x" * 40])
    )
    assert f"'{'x' * 27}...'" in problem.message


@pytest.mark.parametrize(("cpu", "most"), [("500m", 1), (1, 1), ("2500m", 2), (3, 3)])
def test_threads_are_at_most_the_whole_cpus_but_one(cpu: str | int, most: int) -> None:
    (problem,) = problems_of(
        "threads-above-cpus", container(**_env("OMP_NUM_THREADS=4"), **_limits(cpu=cpu))
    )
    assert problem.help == f"use at most {most}"
    assert problem.fix is not None
    assert problem.fix.edits[0].value == str(most)


@pytest.mark.parametrize(
    ("text", "fixed"), [("--host=$HOST", "--host=$(HOST)"), ("a ${HOST} b", "a $(HOST) b")]
)
def test_a_shell_variable_without_a_shell_is_written_as_kubernetes_expands_it(
    text: str, fixed: str
) -> None:
    (problem,) = problems_of(
        "shell-variable-without-shell", container(command=["serve", text], **_env("HOST=h"))
    )
    assert (problem.help, problem.fix and problem.fix.edits[0].value) == ("write $(HOST)", fixed)
    (unset,) = problems_of("shell-variable-without-shell", container(command=["serve", text]))
    assert unset.fix is None


@pytest.mark.parametrize(
    ("flags", "expected"), [("-ec", True), ("-xec", True), ("-c", False), ("-xc", False)]
)
def test_ulimit_matters_only_in_a_script_that_ends_at_its_first_error(
    flags: str, expected: bool
) -> None:
    assert (
        fires(
            "ulimit-without-capability",
            container(**_script("ulimit -l unlimited\ntrue", flag=flags)),
        )
        is expected
    )


@pytest.mark.parametrize(
    ("roles", "expected"), [(("Launcher", "Worker"), ["Launcher"]), (("Worker",), ["Worker"])]
)
def test_idle_workers_are_left_to_another_rule_where_a_launcher_starts_them(
    roles: tuple[str, ...], expected: list[str]
) -> None:
    body = {"name": "c", "image": "i", "command": ["sleep", "infinity"], **_limits(gpu=2)}
    specs = {role: {"template": {"spec": {"containers": [body]}}} for role in roles}
    job = {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": "a"},
           "spec": {"mpiReplicaSpecs": specs}}  # fmt: skip
    problems = problems_of("idle-main-container", job)
    assert [problem.path[2] for problem in problems] == expected
    assert all(
        "sleep infinity holds 2 accelerators and never ends" in problem.message
        for problem in problems
    )
