"""Causes, tested against a manifest: proven, shown, or ruled out."""

from __future__ import annotations

import ptcompile
from ptcompile.diagnosis.causes import weigh_causes
from ptcompile.diagnosis.messages import messages
from ptcompile.source.documents import read

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  completions: 2
  parallelism: 2
  completionMode: Indexed
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      subdomain: train
      priorityClassName: training-high
      containers:
        - name: pytorch
          image: ghcr.io/acme/train:1.0
          env:
            - {name: RANK, value: "1"}
          command:
            - sh
            - -c
            - |
              set -e
              python prepare.py
              torchrun --nnodes=3 --nproc_per_node=1 --rdzv-endpoint=train-0.train:$PORT \\
                train.py --timeout 10 --x=${LEVEL}
          resources: {limits: {cpu: 2, memory: 4Gi}}
"""


def weighed(id: str, text: str | None = JOB, **values: str) -> list[tuple[str, int]]:
    source = None if text is None else read(text)
    findings = ptcompile.lint(text).diagnostics if text is not None else ()
    causes = weigh_causes(messages()[id], values, source, findings)
    return [(cause.cause.code or cause.cause.text, cause.line) for cause in causes]


def line_of(part: str) -> int:
    return next(number for number, line in enumerate(JOB.splitlines(), 1) if part in line)


def test_without_a_manifest_all_causes_are_offered() -> None:
    assert len(weighed("rdzv-timeout", None)) == len(messages()["rdzv-timeout"].causes)


def test_a_finding_proves_a_cause() -> None:
    (first, line), *_ = weighed("store-clients-joined", joined="2", world="3")
    assert first == "PTC406"
    assert line in range(line_of("command:"), line_of("resources:"))


def test_a_mistake_of_the_launch_is_ruled_out_without_a_finding() -> None:
    assert not {"PTC478", "PTC402"} & {code for code, _ in weighed("rdzv-timeout")}


def test_a_field_that_the_manifest_lacks_is_no_cause() -> None:
    assert {code for code, _ in weighed("elastic-death-signal")} == {
        "the pod was evicted, preempted, drained or scaled away, or its job ended"
    }


def test_causes_point_at_the_field_that_they_name() -> None:
    assert weighed("oomkilled")[0] == ("PTC106", line_of("memory: 4Gi"))
    assert weighed("api-priority-class", name="training-high")[0][1] == line_of("priorityClassName")
    assert weighed("rdzv-bad-endpoint", endpoint="train-0.train:")[0][1] == line_of(
        "--rdzv-endpoint"
    )
    assert ("the timeout of the script is too short", line_of("--timeout 10")) in weighed(
        "gloo-timeout"
    )
    assert weighed("api-required", path="spec.template.spec.containers[0].image")[0][1] == line_of(
        "image:"
    )
    assert weighed("api-vap", "kind: Job") == []


def test_a_cause_points_at_its_line_of_a_longer_text() -> None:
    assert weighed("gloo-timeout")[0][1] == line_of("--timeout 10")


def test_options_are_the_same_with_underscores() -> None:
    text = JOB.replace("--rdzv-endpoint", "--rdzv_endpoint")
    assert weighed("rdzv-bad-endpoint", text, endpoint="") == weighed(
        "rdzv-bad-endpoint", endpoint=""
    )


TWO = "\n---\n".join(
    f"""\
apiVersion: v1
kind: Pod
metadata: {{name: train-{index}}}
spec:
  containers:
    - name: pytorch
      image: ghcr.io/acme/train:{tag}
      command: [torchrun, --nnodes=2, --master-addr=train-0, {port}, train.py]"""
    for index, tag, port in (
        (0, "1.0", "--master-port=29500"),
        (1, "1.1", "--master_port, '29501'"),
    )
)


def test_differing_roles_are_causes_and_equal_ones_are_not() -> None:
    assert ("PTC831", 16) in weighed("nccl-version-mismatch", TWO)
    assert ("PTC405", 17) in weighed("client-timeout", TWO, host="train-0", port="29501")
    assert ("PTC405", 8) in weighed("client-timeout", TWO, host="train-0", port="29500")
    same = TWO.replace("1.1", "1.0").replace("29501", "29500")
    assert not {"PTC831", "PTC405"} & {code for id in ("nccl-version-mismatch", "client-timeout")
                                       for code, _ in weighed(id, same)}  # fmt: skip


def test_a_path_is_found_by_its_last_part() -> None:
    likeliest, *_ = weighed("run-no-script-file", TWO, path="/workspace/train.py")
    _, line = likeliest
    assert "train.py" in TWO.splitlines()[line - 1]


def test_a_cause_points_at_the_text_in_a_command() -> None:
    text = TWO.replace("torchrun,", "python, -m, torch.distributed.launch,")
    assert weighed("run-unrecognized", text, args="--local-rank=0")[0][1] == 8


def test_what_the_message_names_is_compared_with_the_pods() -> None:
    text = JOB.replace("$PORT", "29400")
    line = "The client socket has timed out after 60000ms while trying to connect to (llama-0.llama, 29400)."
    (compared,) = ptcompile.diagnose(line, text).compared
    assert compared.startswith("no pod and no Service of Job/train is called llama-0.llama")
    line = "Timed out after 900 seconds waiting for clients. 2/3 clients joined."
    assert ptcompile.diagnose(line, text).compared == (
        "the message counts 3; Job/train has 2 pods",
    )
    line = line.replace("2/3", "1/2")
    assert ptcompile.diagnose(line, text).compared == ()
