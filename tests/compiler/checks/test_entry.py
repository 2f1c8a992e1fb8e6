"""Command lines in `script` and `module`: an error whose help shows the right fields, with a safe fix."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

import ptcompile
from ptcompile.diagnostics import Diagnostic
from tests.making import text

Fields = dict[str, Any]


def finding(body: str) -> Diagnostic:
    """Return the only finding of a spec, which must not compile."""
    diagnostics = ptcompile.compile(text(f"image: i\n{body}\n"), select=["PTC460"]).diagnostics
    (diagnostic,) = [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]
    assert (diagnostic.code, diagnostic.name) == ("PTC460", "command-as-script")
    return diagnostic


def fixed(body: str, *, unsafe: bool = False) -> Fields:
    """Return the fixed spec without its image; it must compile."""
    result = ptcompile.fix(text(f"image: i\n{body}\n"), select=["PTC460"], unsafe=unsafe)
    assert result.text is not None
    assert ptcompile.compile(result.text).ok
    return {
        key: value for key, value in yaml.safe_load(result.text)["spec"].items() if key != "image"
    }


LINES: list[tuple[str, Fields]] = [
    ("script: train.py --lr 1e-4", {"script": "train.py", "args": ["--lr", "1e-4"]}),
    ('script: "train.py "', {"script": "train.py"}),
    ('script: "python train.py"', {"script": "train.py"}),
    ("script: python3 -u train.py conf.yaml", {"script": "train.py", "args": ["conf.yaml"]}),
    ("script: python -m pkg.train", {"module": "pkg.train"}),
    ("script: -m pkg.train --lr 1", {"module": "pkg.train", "args": ["--lr", "1"]}),
    ('module: "pkg.train --lr 1"', {"module": "pkg.train", "args": ["--lr", "1"]}),
    ("module: python -m pkg.train", {"module": "pkg.train"}),
    ("module: train.py --lr 1", {"script": "train.py", "args": ["--lr", "1"]}),
    ("script: torchrun train.py", {"script": "train.py"}),
    ("script: torchrun python train.py", {"script": "train.py"}),
    (
        'script: "torchrun --nproc_per_node=8 train.py"',
        {"script": "train.py", "elastic": {"nprocPerNode": 8}},
    ),
    (
        "script: python -m torch.distributed.run --standalone --nproc-per-node gpu -m pkg.train\nresources: {gpu: 2}",
        {"module": "pkg.train", "elastic": {"nprocPerNode": "gpu"}, "resources": {"gpu": 2}},
    ),
    (
        "script: torchrun --nnodes=2:4 --max-restarts=3 --rdzv-backend=c10d --monitor-interval=0.5 train.py",
        {
            "script": "train.py",
            "elastic": {
                "nnodes": "2:4",
                "maxRestarts": 3,
                "rdzvBackend": "c10d",
                "monitorInterval": 0.5,
            },
        },
    ),
    ("script: torchrun --nnodes=2 train.py\nnodes: 2", {"script": "train.py", "nodes": 2}),
    ("script: accelerate launch train.py --lr 1", {"script": "train.py", "args": ["--lr", "1"]}),
    (
        "script: train.py --a 1\nargs: [--b, x]",
        {"script": "train.py", "args": ["--a", "1", "--b", "x"]},
    ),
    (
        "script: train.py --a 1\nmaster: {args: [m]}\nworker: {replicas: 1}",
        {
            "script": "train.py",
            "args": ["--a", "1"],
            "master": {"args": ["--a", "1", "m"]},
            "worker": {"replicas": 1},
        },
    ),
    (
        "script: torchrun --nproc-per-node=2 train.py\nelastic: {maxRestarts: 3, nprocPerNode: 2}",
        {"script": "train.py", "elastic": {"maxRestarts": 3, "nprocPerNode": 2}},
    ),
    ("script: |\n  train.py \\\n    --lr 1", {"script": "train.py", "args": ["--lr", "1"]}),
    ("script: train.py \\\n  --lr 1", {"script": "train.py", "args": ["--lr", "1"]}),
    (
        """script: "train.py --cfg '{\\"a\\": 1}' --name 'a b' ''\"""",
        {"script": "train.py", "args": ["--cfg", '{"a": 1}', "--name", "a b", ""]},
    ),
]


@pytest.mark.parametrize(("body", "fields"), LINES, ids=[body for body, _ in LINES])
def test_a_command_line_is_an_error_with_a_safe_fix(body: str, fields: Fields) -> None:
    assert finding(body).fix is not None
    assert fixed(body) == fields


def test_the_message_shows_the_line_and_the_help_shows_the_fields() -> None:
    diagnostic = finding("script: torchrun --nproc_per_node=8 train.py --lr 1e-4")
    assert diagnostic.message.startswith(
        'spec.script: torchrun would start one file named "torchrun --nproc_per_node'
    )
    assert (
        diagnostic.help
        == 'write script: train.py, args: [--lr, "1e-4"] and elastic: {nprocPerNode: 8}'
    )


def test_the_message_shows_other_alphabets() -> None:
    assert 'named "träning.py --lr 1", spaces' in finding("script: träning.py --lr 1").message


UNSAFE = ["script: deepspeed train.py", "script: train --lr 1", "script: /opt/bin/python train.py"]


@pytest.mark.parametrize("body", UNSAFE)
def test_an_ambiguous_fix_is_unsafe(body: str) -> None:
    fix = finding(body).fix
    assert fix is not None
    assert not fix.safe


WITHOUT_FIX = [
    ("script: ./run.sh arg", "command: [./run.sh, arg]"),
    ("script: bash run.sh", "command: [bash, run.sh]"),
    ("script: uv run train.py", "command: [uv, run, train.py]"),
    ("script: mpirun -np 8 python train.py", 'command: [mpirun, -np, "8", python, train.py]'),
    ("script: torchrun --no-python ./x a", "command: [torchrun, --no-python, ./x, a]"),
    ("script: my train.py", "rename the file"),
    ("""script: "'my train.py' --lr 1\"""", "rename the file"),
    ("script: python -O train.py", "remove python and its options"),
    ("script: train.py --out $OUT", "args: [--out, $(OUT)]; Kubernetes fills in"),
    ("script: train.py --out ${OUT}/x", "args: [--out, $(OUT)/x]; Kubernetes fills in"),
    ("script: cd /x && torchrun train.py", 'command: [bash, -c, "cd /x && torchrun train.py"]'),
    ("script: train.py | tee log", 'command: [bash, -c, "torchrun train.py | tee log"]'),
    ("script: |\n  pip install x\n  torchrun train.py", 'command: [bash, -c, "..."]'),
    ("""script: "train.py --a 'x\"""", "close the quotation mark"),
    ("script: FOO=1 python train.py", 'add env: {FOO: "1"}, and write script: train.py'),
    ("script: python -m torch.distributed.launch train.py", "LOCAL_RANK"),
    ("script: deepspeed --num_gpus=8 train.py", "instead of deepspeed, whose options do not apply"),
    ("script: torchrun --tee=3 train.py", "set PET_TEE in env"),
    (
        "script: torchrun --rdzv-endpoint=h:1 train.py",
        "remove --rdzv-endpoint, which ptcompile writes",
    ),
    ("script: torchrun --rdzv-conf=timeout=9 train.py", "elastic.rdzvConfigs"),
    ("script: torchrun --master-port=9 train.py", "masterPort: 9"),
    ("script: torchrun --epochs=3 train.py", "remove --epochs, which torchrun does not have"),
    ("script: torchrun --nnodes=4 train.py\nnodes: 2", "in one place instead of --nnodes=4"),
    ("script: torchrun --standalone train.py\nnodes: 2", "remove --standalone"),
    (
        "script: torchrun --nproc-per-node=4 train.py\nelastic: {nprocPerNode: 8}\nresources: {gpu: 8}",
        "set elastic.nprocPerNode to the value you want instead of --nproc-per-node=4",
    ),
]


@pytest.mark.parametrize(("body", "help"), WITHOUT_FIX, ids=[body for body, _ in WITHOUT_FIX])
def test_a_command_line_beyond_the_fields_has_a_help_and_no_fix(body: str, help: str) -> None:
    diagnostic = finding(body)
    assert diagnostic.fix is None
    assert help in str(diagnostic.help)


def test_two_entry_points_are_not_fixed() -> None:
    diagnostics = ptcompile.compile(
        text("image: i\nscript: train.py x\ncommand: [a]\n")
    ).diagnostics
    assert {
        (diagnostic.code, diagnostic.fix)
        for diagnostic in diagnostics
        if diagnostic.severity == "error"
    } == {
        ("PTC460", None),
        ("PTC025", None),
    }


def test_a_token_is_masked_and_not_moved() -> None:
    diagnostic = finding("script: train.py --token hf_abcdefghijklmnopqrstuvwxyz0123456789")
    assert diagnostic.fix is None
    assert "hf_abc" not in f"{diagnostic.message}{diagnostic.help}"


FILES = [
    ("module: train.py", {"script": "train.py"}),
    ("module: ./src/train.py", {"script": "./src/train.py"}),
    ("module: src/train.py\nargs: [--lr=1]", {"script": "src/train.py", "args": ["--lr=1"]}),
    ("module: pkg/train", {"module": "pkg.train"}),
    ("module: ./pkg/train", {"module": "pkg.train"}),
]


@pytest.mark.parametrize(("body", "fields"), FILES, ids=[body for body, _ in FILES])
def test_a_file_is_not_a_module(body: str, fields: Fields) -> None:
    fix = finding(body).fix
    assert fix is not None
    assert not fix.safe
    assert fixed(body, unsafe=True) == fields


@pytest.mark.parametrize("body", ["module: /opt/pkg/train", "module: pkg-2/train"])
def test_a_file_that_is_not_a_module_may_have_no_fix(body: str) -> None:
    assert finding(body).fix is None


@pytest.mark.parametrize("field", ["script", "module"])
@pytest.mark.parametrize("value", ["''", "' '", '"\\n"'])
def test_an_empty_entry_point_is_an_error(field: str, value: str) -> None:
    diagnostics = ptcompile.compile(text(f"image: i\n{field}: {value}\n")).diagnostics
    assert [
        (diagnostic.code, diagnostic.path)
        for diagnostic in diagnostics
        if diagnostic.severity == "error"
    ] == [("PTC024", ("spec", field))]


@pytest.mark.parametrize(
    "body", ["script: train.py", "script: ./src/train", "module: pkg.train", "module: my-pkg"]
)
def test_a_file_or_a_module_is_valid(body: str) -> None:
    assert ptcompile.compile(text(f"image: i\n{body}\n")).ok


def test_lint_reports_arguments_in_the_script_field() -> None:
    report = ptcompile.lint(text("image: i\nscript: train.py --lr 1\n"))
    assert [
        diagnostic.code for diagnostic in report.diagnostics if diagnostic.severity == "error"
    ] == ["PTC460"]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("script: train.py;ls", "torchrun train.py;ls"),
        ("script: train.py>log", "torchrun train.py>log"),
        ("script: a&&b", "a&&b"),
        ("module: pkg.train|tee", "torchrun -m pkg.train|tee"),
    ],
)
def test_shell_operators_without_spaces_are_found(body: str, line: str) -> None:
    error = finding(body)
    assert error.code == "PTC460"
    assert error.message.endswith(", shell operators included")
    assert f'command: [bash, -c, "{line}"]' in (error.help or "")
    assert error.fix is None
