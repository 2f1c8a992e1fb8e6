"""Launchers other than torchrun, env:// scripts, and how the kubelet expands `$(X)`."""

from __future__ import annotations

import pytest

import ptcompile
from tests.linter.test_hosts import BY_APP, BY_JOB, SERVICE

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: %(name)s}
spec:
  completions: 4
  parallelism: 4
  completionMode: Indexed
  backoffLimit: 0
  template:
    metadata: {labels: {app: train}}
    spec:
      subdomain: train
      restartPolicy: Never
      containers:
        - name: pytorch
          image: ghcr.io/acme/train:1.0
          command: %(command)s
          env: %(env)s
"""
INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
RANK = f'{{name: RANK, valueFrom: {{fieldRef: {{fieldPath: "{INDEX}"}}}}}}'
NAMED = RANK.replace(INDEX, "metadata.name")
FOUR, EIGHT = "{name: WORLD_SIZE, value: '4'}", "{name: WORLD_SIZE, value: '8'}"
HERE = "{name: MASTER_ADDR, value: train-0.train}, {name: MASTER_PORT, value: '29500'}"
POD = "{name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}"


def names_and_severities(
    command: str, env: str = "", *, name: str = "train", more: str = ""
) -> set[tuple[str, str]]:
    """Return the names and severities of findings at stage run, except those of any example without GPUs."""
    text = (
        SERVICE % ("", BY_APP) + JOB % {"command": command, "env": f"[{env}]", "name": name} + more
    )
    return {(d.name, d.severity) for d in ptcompile.lint(text).diagnostics}


def accelerate(*words: str) -> str:
    return f"[accelerate, launch, --multi_gpu, {', '.join(words)}, train.py]"


INDEXED = "$(JOB_COMPLETION_INDEX)"
ALL = (
    "--num_machines=4",
    "--num_processes=32",
    f"--machine_rank={INDEXED}",
    "--main_process_ip=train-0.train",
)
COMPOSER = "[composer, -n, '8', --world_size=%s, --node_rank=%s, --master_addr=train-0.train, t.py]"


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, set()),
        ({0: "--num_machines=8"}, {("too-few-pods", "error")}),
        ({0: "--num_machines=2"}, {("too-many-pods", "error")}),
        ({2: "--machine_rank=0"}, {("same-node-rank", "error")}),
        (
            {2: "--machine_rank, '1'"},
            {("same-node-rank", "error"), ("master-without-rank-0", "error")},
        ),
        ({3: "--main_process_ip=train-9.train"}, {("unresolvable-endpoint", "error")}),
        ({3: "--main_process_ip=localhost"}, {("local-endpoint", "error")}),
    ],
)
def test_accelerate_needs_its_options(
    changed: dict[int, str], expected: set[tuple[str, str]]
) -> None:
    words = [changed.get(i, word) for i, word in enumerate(ALL)]
    assert names_and_severities(accelerate(*words)) == expected
    assert (
        names_and_severities(
            accelerate(*words).replace(
                "accelerate, launch", "python, -m, accelerate.commands.launch"
            )
        )
        == expected
    )
    assert (
        names_and_severities(
            accelerate(*words).replace("[accelerate", "[nsys, profile, -o, /tmp/x, accelerate")
        )
        == expected
    )


def test_accelerate_with_a_machine_file_is_not_reported() -> None:
    assert names_and_severities(accelerate("--config_file=/etc/accelerate.yaml")) == set()


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (COMPOSER % (32, INDEXED), set()),
        (COMPOSER % (64, INDEXED), {("too-few-pods", "error")}),
        (COMPOSER % (32, 0), {("same-node-rank", "error")}),
        (
            "[deepspeed, --hostfile=/h, --no_ssh, --num_nodes=4, --node_rank=0, --master_addr=train-0.train, t.py]",
            {("same-node-rank", "error")},
        ),
        (
            f"[deepspeed, --no_ssh, --num_nodes=4, --node_rank={INDEXED}, --master_addr=train-0.train, t.py]",
            {("launcher-alone", "warning")},
        ),
        (
            "[deepspeed, --num_nodes=4, --master_addr=train-0.train, t.py]",
            {("launcher-alone", "error")},
        ),
        ("[deepspeed, t.py]", {("launcher-alone", "warning")}),
        (f"[deepspeed, t.py, {INDEXED}]", set()),
        ("[colossalai, run, --nproc_per_node, '8', t.py]", {("launcher-alone", "warning")}),
        ("[axolotl, train, a.yml]", {("launcher-alone", "warning")}),
        ("[llamafactory-cli, train, a.yml]", {("launcher-alone", "warning")}),
        (f"[llamafactory-cli, train, 'a-{INDEXED}.yml']", set()),
        ("[llamafactory-cli, chat, a.yml]", set()),
        ("[swift, sft, --model, x]", {("launcher-alone", "warning")}),
        (
            f"[axolotl, train, a.yml, --launcher, torchrun, --, --nnodes=8, --node_rank={INDEXED},"
            " --master_addr=train-0.train]",
            {("too-few-pods", "error")},
        ),
        (
            f"[ft_launcher, --ft-cfg-path=x, --nnodes=8, --node_rank={INDEXED}, --master_addr=train-0.train, t.py]",
            {("too-few-pods", "error")},
        ),
        (
            f"[tune, run, --nnodes=8, --node_rank={INDEXED}, --rdzv_endpoint=train-0.train:29500,"
            " full_finetune_distributed, --config, llama3_2/3B_full]",
            {("too-few-pods", "error")},
        ),
        (
            "[python, -m, torch.distributed.launch, --nnodes=8, --node_rank=$(JOB_COMPLETION_INDEX),"
            " --master_addr=train-0.train, t.py]",
            {("too-few-pods", "error"), ("local-rank-argument", "note")},
        ),
    ],
)
def test_other_launchers_need_their_options(command: str, expected: set[tuple[str, str]]) -> None:
    assert names_and_severities(command) == expected


NODE_RANK = RANK.replace("name: RANK", "name: NODE_RANK")


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ("4", set()),
        ("8", {("too-few-pods", "error")}),
        ("2", {("too-many-pods", "error")}),
        ("1", {("launcher-alone", "warning")}),
    ],
)
@pytest.mark.parametrize(
    "command", ["[llamafactory-cli, train, a.yml]", "[swift, sft, --model, x]"]
)
def test_launchers_that_read_nnodes_need_the_right_number(
    command: str, nodes: str, expected: set[tuple[str, str]]
) -> None:
    assert (
        names_and_severities(command, f"{{name: NNODES, value: '{nodes}'}}, {NODE_RANK}, {HERE}")
        == expected
    )


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        (f"{FOUR}, {RANK}, {HERE}", set()),
        (f"{EIGHT}, {RANK}, {HERE}", {("world-size-differs", "warning")}),
        (f"{FOUR}, {{name: RANK, value: '0'}}, {HERE}", {("same-node-rank", "error")}),
        (
            f"{FOUR}, {RANK}, {HERE.replace('train-0.train', 'localhost')}",
            {("local-endpoint", "error")},
        ),
        (
            f"{FOUR}, {RANK}, {HERE.replace('train-0', 'train-7')}",
            {("unresolvable-endpoint", "error")},
        ),
        (f"{FOUR}, {RANK}", {("half-told-script", "warning")}),
        (f"{FOUR}, {NAMED}, {HERE}", {("bad-launch-number", "error")}),
        ("{name: SEED, value: '4'}", set()),
    ],
)
def test_an_env_script_needs_its_variables(env: str, expected: set[tuple[str, str]]) -> None:
    assert names_and_severities("[python, train.py]", env) == expected
    assert names_and_severities("[/entrypoint.sh, python3, -u, train.py]", env) == expected


C10D = "[torchrun, --nnodes=4, --rdzv-backend=c10d, '--rdzv-endpoint=%s', --rdzv-id=%s, train.py]"


@pytest.mark.parametrize(
    ("command", "env", "expected"),
    [
        (C10D % ("$(HOST):29400", "a"), "{name: HOST, value: train-0.train}", set()),
        (
            C10D % ("$(HOTS):29400", "a"),
            "{name: HOST, value: train-0.train}",
            {("literal-variable", "error")},
        ),
        (
            C10D % ("$(HOST):29400", "a"),
            "{name: HOST, value: $(JOB)-0.train}, {name: JOB, value: train}",
            {("literal-variable", "error")},
        ),
        (
            C10D % ("$(HOST):29400", "a"),
            "{name: JOB, value: train}, {name: HOST, value: $(JOB)-0.train}",
            set(),
        ),
        (
            C10D % ("train-0.train:29400", "a, train.py, --lr=$(LR)"),
            "",
            {("literal-variable", "warning")},
        ),
        (C10D % ("train-0.train:29400", "a, train.py, --db=$(DB_SERVICE_HOST)"), "", set()),
        (C10D % ("train-0.train:29400", "$(POD)"), POD, {("rendezvous-id-differs", "error")}),
        (
            C10D % ("train-0.train:29400", "$(JOB_COMPLETION_INDEX)"),
            "",
            {("rendezvous-id-differs", "error")},
        ),
        (
            "[torchrun, --nnodes=4, --node-rank=$(POD), --master-addr=train-0.train, train.py]",
            POD,
            {("bad-launch-number", "error")},
        ),
    ],
)
def test_variables_can_configure_a_launcher(
    command: str, env: str, expected: set[tuple[str, str]]
) -> None:
    assert names_and_severities(command, env) == expected


def test_only_a_config_map_of_the_stream_settles_its_variables() -> None:
    command = C10D % ("$(HOST):29400", "a")
    config = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cfg}\ndata: {%s: train-0.train}\n---\n"
    )
    job = (
        JOB % {"command": command, "env": "[]", "name": "train"}
        + "          envFrom: [{configMapRef: {name: cfg}}]\n"
    )
    service = SERVICE % ("", BY_JOB)
    rule_names = [{d.name for d in ptcompile.lint(text).diagnostics} for text in (
        service + config % "HOST" + job, service + config % "HOTS" + job, service + job)]  # fmt: skip
    assert rule_names == [set(), {"literal-variable"}, set()]


def test_two_jobs_of_a_stream_that_meet_must_have_different_ranks() -> None:
    """Ranks and nodes are counted over all objects that name the same endpoint."""
    command = "[torchrun, --nnodes=%s, '--node-rank=%s', --master-addr=train-0.train, train.py]"
    other = "---\n" + JOB % {"command": command % (2, 1), "env": "[]", "name": "rest"}
    one = ("completions: 4\n  parallelism: 4", "completions: 1\n  parallelism: 1")

    def lint(nodes: int, rank: int) -> set[str]:
        head = JOB % {"command": command % (nodes, rank), "env": "[]", "name": "train"}
        text = SERVICE % ("", BY_APP) + head + other
        return {d.name for d in ptcompile.lint(text.replace(*one)).diagnostics}

    assert lint(2, 0) == set()
    assert lint(2, 1) == {"same-node-rank"}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("[torchrun, --standalone, t.py]", {("standalone-on-many-pods", "warning")}),
        ("[torchrun, --nproc_per_node=8, t.py]", {("worlds-apart", "warning")}),
        (f"[torchrun, --nnodes=1, t.py, --seed, {INDEXED}]", set()),
        (
            "[tune, run, --nnodes=4, full_finetune_distributed, --config, a.yaml]",
            {("standalone-on-many-pods", "error")},
        ),
    ],
)
def test_pods_with_names_are_intended_to_meet(command: str, expected: set[tuple[str, str]]) -> None:
    assert names_and_severities(command) == expected


@pytest.mark.parametrize(
    ("script", "is_found"),
    [
        ("train.py", True),
        ("/app/sft_train.py", True),
        ("pretrain_gpt.py", True),
        ("prepare.py", False),
        ("x.py", False),
    ],
)
def test_scripts_that_train_alone_are_reported(script: str, is_found: bool) -> None:
    gpus = "\n          resources: {limits: {nvidia.com/gpu: 1}}"
    for command in (f"[python, {script}]", f"[bash, -c, 'exec python3 -u {script} --epochs 3']"):
        text = (
            SERVICE % ("", BY_APP)
            + JOB.rstrip() % {"command": command, "env": "[]", "name": "train"}
            + gpus
        )
        names = {
            diagnostic.name
            for diagnostic in ptcompile.lint(text).diagnostics
            if diagnostic.severity == "warning"
        }
        assert ("launcher-alone" in names) is is_found
        manifest_with_variable = text.replace("env: []", f"env: [{POD}]")
        assert "launcher-alone" not in {
            diagnostic.name for diagnostic in ptcompile.lint(manifest_with_variable).diagnostics
        }


UNTOLD = [word for word in ALL if not word.startswith("--main")]
RANKED_DEEPSPEED = (
    f"[deepspeed, --no_ssh, --hostfile=/job/hostfile, --num_nodes=4, --node_rank={INDEXED}, t.py]"
)


@pytest.mark.parametrize(
    ("command", "env", "expected"),
    [
        (accelerate(*UNTOLD), "", "error"),
        (accelerate(*ALL[:2]), "", "error"),
        (accelerate(*UNTOLD, "--rdzv_backend=c10d"), "", "error"),
        (accelerate(*UNTOLD, "--config_file=/opt/a.yaml"), "", None),
        (accelerate(*ALL[:2], "--config_file=/opt/a.yaml"), "", "warning"),
        (accelerate("--num_machines=1", *ALL[1:3]), "", None),
        ("[composer, -n, '8', --world_size=32, t.py]", "", "error"),
        ("[composer, -n, '8', --world_size=8, t.py]", "", None),
        ("[llamafactory-cli, train, a.yml]", "{name: NNODES, value: '4'}", "error"),
        ("[swift, sft, --model, x]", "{name: NNODES, value: '4'}", "error"),
        (RANKED_DEEPSPEED, "", "warning"),
        ("[deepspeed, --hostfile=/job/hostfile, --num_nodes=4, t.py]", "", None),
    ],
)
def test_a_launcher_without_the_first_pod_s_address_is_reported(
    command: str, env: str, expected: str | None
) -> None:
    severities = [
        severity
        for name, severity in names_and_severities(command, env)
        if name == "local-endpoint"
    ]
    assert severities == ([expected] if expected else [])


def test_what_the_launcher_lacks_is_named_and_simulated() -> None:
    text = SERVICE % ("", BY_APP) + JOB % {
        "command": accelerate(*ALL[:2]),
        "env": "[]",
        "name": "train",
    }
    (reported,) = (d for d in ptcompile.lint(text).diagnostics if d.name == "local-endpoint")
    assert (
        reported.help
        == "set --main_process_ip to the first pod's name and --machine_rank to the pod's own index"
    )
    assert "nothing tells accelerate where the first of 4 pods is" in str(
        ptcompile.simulate(text).to_dict()
    )


@pytest.mark.parametrize(
    "flag", ["--enable_cpu_affinity", "--dynamo_use_fullgraph", "--dynamo_use_dynamic"]
)
def test_a_flag_before_the_script_takes_no_value(flag: str) -> None:
    assert names_and_severities(accelerate(*ALL, flag).replace("--multi_gpu, ", "")) == set()
    assert names_and_severities(accelerate(*ALL[:2], flag, *ALL[2:])) == set()
