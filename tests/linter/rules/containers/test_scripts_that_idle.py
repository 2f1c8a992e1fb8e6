"""Scripts that keep accelerators after or instead of the training, and what the same rule does not report."""

from __future__ import annotations

import pytest

from tests.linter.asking import Json, container, problems_of

_GPUS: Json = {"resources": {"limits": {"nvidia.com/gpu": 8}}}
TRAIN = "torchrun --nproc_per_node=8 train.py"


def _texts(script: str) -> list[str]:
    problems = problems_of(
        "idle-main-container", container(command=["bash", "-c", script], **_GPUS)
    )
    return [problem.text for problem in problems]


@pytest.mark.parametrize(
    ("end", "program"),
    [
        ("\necho done\nsleep infinity", "sleep infinity"),
        ("; tail -f /dev/null", "tail -f"),
        (" && while true; do sleep 60; done", "the loop `while true`"),
        (" > log 2>&1 &\ntail -f log", "tail -f"),
        (" & wait; sleep infinity", "sleep infinity"),
        ("; sleep 86400000", "sleep 86400000"),
    ],
)
def test_an_endless_command_after_the_training_is_reported(end: str, program: str) -> None:
    # a command of a loop may fail, which ends it with `set -e`
    for start in ("", "# sleep\n", *(() if "while" in end else ("set -e\n",))):
        assert _texts(start + TRAIN + end) == [
            f"{program} after the training never ends: the job never completes, and keeps 8 accelerators"
        ]


@pytest.mark.parametrize(
    "script", [f"{TRAIN} || sleep infinity", f"if ! {TRAIN}; then sleep infinity; fi"]
)
def test_an_endless_command_after_a_failure_is_reported(script: str) -> None:
    assert _texts(script) == [
        "if the training fails, sleep infinity never ends: the job keeps 8 accelerators"
    ]


@pytest.mark.parametrize(
    ("start", "cause"),
    [
        ("sleep infinity\n", "sleep infinity never ends"),
        ("tensorboard --logdir /x; ", "tensorboard never ends"),
        ("exit 0\n", "the script ends before it"),
        ("exec sleep 3d\n", "the script ends before it"),
    ],
)
def test_a_training_that_never_starts_is_reported(start: str, cause: str) -> None:
    assert _texts(start + TRAIN) == [f"the training never starts: {cause}"]


@pytest.mark.parametrize(
    "script",
    [
        TRAIN,
        f"tensorboard --logdir /x & {TRAIN}",
        f"{TRAIN}; sleep 60",
        f"while true; do {TRAIN} && break; done",
        f'{TRAIN}\n[ -n "$KEEP" ] && sleep infinity',
        f"run() {{ {TRAIN}; }}\nsetup.sh",
        f"[ -z $DEBUG ] || exec sleep infinity\n{TRAIN}",
        f"echo 'sleep infinity' # sleep infinity\n{TRAIN}",
    ],
)
def test_scripts_that_end_have_no_finding(script: str) -> None:
    assert _texts(script) == []


@pytest.mark.parametrize(
    ("resources", "command", "words"),
    [
        (_GPUS, ["sleep", "60"], ["all ranks check every collective first"]),
        ({}, ["torchrun", "t.py"], ["ends all ranks with SIGSEGV"]),
        ({}, ["bash", "-c", "python t.py"], ["ends all ranks with SIGSEGV"]),
        ({}, ["sleep", "60"], []),
    ],
)
def test_detailed_debugging_is_reported(
    resources: Json, command: list[str], words: list[str]
) -> None:
    env = [{"name": "TORCH_DISTRIBUTED_DEBUG", "value": "DETAIL"}]
    problems = problems_of("debug-left-on", container(command=command, env=env, **resources))
    assert [word in problem.text for problem, word in zip(problems, words, strict=True)] == [
        True
    ] * len(words)
