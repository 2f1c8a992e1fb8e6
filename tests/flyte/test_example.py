"""The examples: they run, their output compiles, and the described image contains what its job starts."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

import pytest

import ptcompile

EXAMPLES = Path(__file__).parents[2] / "examples"
EXAMPLE = EXAMPLES / "flyte_to_spec.py"
FLYTE = EXAMPLES / "flyte"


def test_the_example_prints_a_spec_that_compiles(capsys: pytest.CaptureFixture[str]) -> None:
    example = runpy.run_path(str(EXAMPLE))
    assert example["main"]() == 0
    out, err = capsys.readouterr()
    result = ptcompile.compile(out, cluster=example["PLATFORM"].profile)
    assert [one["kind"] for one in result.unwrap()] == ["PyTorchJob"]
    assert [diagnostic.name for diagnostic in result.diagnostics] == ["node-0-fails-all"], (
        "an interruptible task of several nodes"
    )
    assert err.startswith("warning: cache: ")


def instructions() -> dict[str, list[str]]:
    """Return the lines of the Dockerfile by instruction."""
    lines = re.sub(r"\\\n\s*", "", (FLYTE / "Dockerfile").read_text("utf-8")).splitlines()
    by_kind: dict[str, list[str]] = {}
    for line in lines:
        if line and not line.startswith("#"):
            word, _, rest = line.partition(" ")
            by_kind.setdefault(word, []).append(rest)
    return by_kind


def test_the_image_contains_what_the_job_starts() -> None:
    made = instructions()
    env = dict(re.findall(r'(\w+)="?([^\s"]+)', " ".join(made["ENV"])))
    assert re.fullmatch(r"pytorch/pytorch:[\w.-]+-cuda[\w.-]+-runtime", made["FROM"][0])
    assert made["RUN"][0] == "python3 -m venv --system-site-packages ${VENV}"
    assert (env["VENV"], env["PATH"]) == ("/opt/venv", "${VENV}/bin:$PATH")
    assert made["RUN"][1] == "pip install --no-cache-dir -r /tmp/requirements.txt"
    assert made["COPY"] == ["requirements.txt /tmp/requirements.txt", "--chmod=0444 train.py /app/"]
    assert made["WORKDIR"] == [env["PYTHONPATH"]] == ["/app"]
    assert (made["ARG"], env["FLYTE_INTERNAL_IMAGE"]) == (["tag"], "$tag")
    needed = {"flytekit", "flytekitplugins-kfpytorch", "ptcompile"}
    assert {re.split("[^a-z-]", line)[0] for line in requirements()} == needed
    assert {path.name for path in FLYTE.iterdir()} - {"__pycache__"} == {
        "Dockerfile",
        "requirements.txt",
        "train.py",
    }


def requirements() -> list[str]:
    text = (FLYTE / "requirements.txt").read_text("utf-8")
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_the_example_uses_the_tested_versions() -> None:
    project = tomllib.loads((EXAMPLES.parent / "pyproject.toml").read_text("utf-8"))["project"]
    assert {*project["optional-dependencies"]["flyte"]} <= {*requirements()}
