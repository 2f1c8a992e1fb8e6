"""Words that a launcher takes for something else than was meant, however the container is told to start it."""

from __future__ import annotations

import json
import shlex

import pytest

import ptcompile
from tests.linter.rules.launch.test_launchers import JOB
from tests.linter.test_hosts import BY_APP, SERVICE

TORCHRUN = "torchrun --nnodes=4 --nproc_per_node=2 --node_rank=$(JOB_COMPLETION_INDEX) --master_addr=train-0.train t.py"
ACCELERATE = (
    "accelerate launch --num_machines 4 --num_processes 8 --machine_rank $(JOB_COMPLETION_INDEX)"
    " --main_process_ip train-0.train t.py"
)
DEEPSPEED = (
    "deepspeed --num_gpus 2 --num_nodes 4 --hostfile /hosts --no_ssh --node_rank $(JOB_COMPLETION_INDEX)"
    " --master_addr train-0.train t.py"
)
TUNE = "tune run --nproc_per_node 2 full_finetune_distributed --config llama3_2/3B_full"
_RULES = ("misread-launch-word", "refused-tune-run", "refused-launch-option")


def findings_of(command: list[str]) -> list[tuple[str, str, str]]:
    """Return rule, severity and whole text of what these rules say about a command."""
    text = SERVICE % ("", BY_APP) + JOB % {
        "command": json.dumps(command),
        "env": "[]",
        "name": "train",
    }
    findings = [
        diagnostic for diagnostic in ptcompile.lint(text).diagnostics if diagnostic.name in _RULES
    ]
    return [
        (finding.name, finding.severity, f"{finding.message} | {finding.help}")
        for finding in findings
    ]


def spellings(line: str) -> list[list[str]]:
    """Return a command line as a list of words, as the script of a shell, and after `exec`."""
    script = line.replace("$(JOB_COMPLETION_INDEX)", "$JOB_COMPLETION_INDEX")
    return [
        shlex.split(line),
        ["bash", "-c", script],
        ["sh", "-ec", f"pip install .\n# a \u2013 dash\nexec {script}"],
    ]


@pytest.mark.parametrize("line", [TORCHRUN, ACCELERATE, DEEPSPEED])
def test_right_launches_have_no_finding(line: str) -> None:
    for command in spellings(line):
        assert findings_of(command) == []


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (TORCHRUN.replace("--nproc", "\u2013nproc"), "U+2013 (en dash)"),
        (TORCHRUN.replace("--nproc", "\u2014nproc"), "U+2014 (em dash)"),
        (
            TORCHRUN.replace("--nproc_per_node=", "\u2212\u2212nproc_per_node "),
            "U+2212 (minus sign)",
        ),
        (TORCHRUN.replace("--nproc", "-\u2010nproc"), "U+2010 (hyphen)"),
        (TORCHRUN.replace(" --nproc", "\u00a0--nproc"), "U+00A0 (no-break space)"),
        (TORCHRUN.replace("torchrun ", "torchrun\u00a0"), "no program is called"),
        (TORCHRUN.replace("t.py", "\u201ct.py\u201d"), "does not quote"),
        (
            TORCHRUN.replace("torchrun", "torchrun --standalone false"),
            "--standalone takes no value",
        ),
        (TORCHRUN.replace("torchrun", "torchrun --no-python true"), "takes 'true' as the script"),
        (TORCHRUN.replace("torchrun", "torchrun 2"), "torchrun takes '2' as the script"),
        (TORCHRUN.replace("2 --node", "2--node"), "one word: torchrun reads no --node_rank in it"),
        (
            TORCHRUN.replace(".train t.py", ".train--master_port=29400 t.py"),
            "reads no --master_port in it",
        ),
        (TORCHRUN.replace("torchrun", "python -m torchrun"), "no module torchrun"),
        (TORCHRUN.replace("torchrun", "python3 torchrun"), "no file torchrun"),
        (ACCELERATE.replace("--num_machines", "\u2013num_machines"), "U+2013"),
        (
            ACCELERATE.replace("launch", "launch --same_network true"),
            "--same_network takes no value",
        ),
        (ACCELERATE.replace("launch", "launch --multi_gpu=true"), "--multi_gpu: it takes no value"),
        (
            ACCELERATE.replace("launch", "launch --use_deepspeed zero3"),
            "takes 'zero3' as the script",
        ),
        (ACCELERATE.replace("4 --num", "4--num"), "reads no --num_processes in it"),
        (ACCELERATE.replace("accelerate", "python -m accelerate"), "no module accelerate"),
        (DEEPSPEED.replace("--num_gpus", "\u2013num_gpus"), "U+2013"),
        (DEEPSPEED.replace("--no_ssh", "--no_ssh yes"), "--no_ssh takes no value"),
        (DEEPSPEED.replace("deepspeed", "python -m deepspeed", 1), "no module deepspeed"),
        (TUNE.replace("--nproc", "\u2013nproc"), "U+2013"),
    ],
)
def test_misread_words_are_errors(line: str, words: str) -> None:
    for command in spellings(line):
        [(rule, severity, text)] = findings_of(command)
        assert (rule, severity) == ("misread-launch-word", "error")
        assert words in text


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (
            "torchrun t.py --nnodes=4 --nproc_per_node=2 --rdzv_backend=c10d",
            "--nnodes, --nproc_per_node, --rdzv_backend",
        ),
        ("torchrun --nproc_per_node=2 t.py --nnodes 4", "--nnodes"),
        (
            "accelerate launch t.py --num_machines 4 --machine_rank 0",
            "--num_machines, --machine_rank",
        ),
        ("deepspeed t.py --num_gpus 2 --deepspeed ds.json", "--num_gpus"),
    ],
)
def test_options_after_the_script_are_misread(line: str, names: str) -> None:
    for command in spellings(line):
        [(rule, severity, text)] = findings_of(command)
        assert (rule, severity) == ("misread-launch-word", "warning")
        assert text.endswith(f"does not read them: {names} | write them before t.py")


@pytest.mark.parametrize(
    "line",
    [
        TORCHRUN + " --nnodes=4 --master_port=1234",
        TORCHRUN + " --epochs 3 --title 'it\u2019s \u2013 new'",
        "torchrun t.py --node_rank=0 --master_addr=localhost",
        "torchrun --nproc_per_node=2 --no-python true",
        "torchrun --nproc_per_node=2 -m train --standalone-tokenizer",
        "deepspeed --num_gpus 2 t.py --num_gpus 2",
    ],
)
def test_options_of_the_script_have_no_finding(line: str) -> None:
    for command in spellings(line):
        assert findings_of(command) == []


def test_a_dash_is_no_hyphen_of_a_script_s_option() -> None:
    for command in spellings(TORCHRUN + " \u2013epochs 3"):
        [(_, severity, text)] = findings_of(command)
        assert severity == "warning"
        assert "'\u2013epochs' does not begin with a hyphen" in text


def test_escaped_blanks_of_a_folded_scalar_are_reported() -> None:
    line = TORCHRUN.replace("$(", "$").replace("INDEX)", "INDEX").replace(" --nproc", " \\ --nproc")
    [(_, _, text)] = findings_of(["bash", "-c", line])
    assert "remove the backslash" in text


@pytest.mark.parametrize(
    ("line", "severity", "words"),
    [
        (
            "tune run --nproc_per_node 2 lora_finetune_single_device --config a.yaml",
            "error",
            "does not support",
        ),
        (TUNE.replace("--nproc_per_node 2 ", ""), "error", "as one process without torchrun"),
        (TUNE.replace("--config ", "--config="), "error", "--config as a separate word"),
        (TUNE.partition("--config")[0], "error", "requires --config"),
        (TUNE.replace("finetune", "fintune"), "warning", "did you mean full_finetune_distributed?"),
        (TUNE.replace("3B_full", "3B_ful"), "warning", "did you mean llama3_2/3B_full?"),
        (
            "tune run --nproc_per_node 2 mine.py --config conf/seven",
            "warning",
            "no configuration conf/seven",
        ),
    ],
)
def test_a_refused_tune_run_is_reported(line: str, severity: str, words: str) -> None:
    for command in spellings(line):
        [(rule, found_severity, text)] = findings_of(command)
        assert (rule, found_severity) == ("refused-tune-run", severity)
        assert words in text


@pytest.mark.parametrize(
    "line",
    [
        TUNE,
        TUNE.replace("llama3_2/3B_full", "my.yaml"),
        "tune run mine.recipe --config my.yaml",
        "tune run",
    ],
)
def test_right_recipes_have_no_finding(line: str) -> None:
    for command in spellings(line):
        assert findings_of(command) == []


def test_options_after_the_recipe_are_misread() -> None:
    for command in spellings(
        "tune run full_finetune_distributed --nproc_per_node 2 --config llama3_2/3B_full"
    ):
        [(rule, severity, text)] = findings_of(command)
        assert (rule, severity) == ("misread-launch-word", "error")
        assert "write them before full_finetune_distributed" in text
