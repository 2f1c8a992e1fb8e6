"""Starter profiles: what `init --profile` writes, and `--cluster` reads by the name of a cloud."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptcompile.api.reference import CLOUDS, starter_profile
from ptcompile.cli import main
from ptcompile.compiler.reader import load_profile
from tests.cli.running import here

Capture = pytest.CaptureFixture[str]

SPOT = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: a}
spec:
  image: ghcr.io/acme/train:1
  script: train.py
  spot: true
  elastic: {nnodes: 2, maxRestarts: 3}
  accelerator: nvidia-h100
  resources: {gpu: 8, cpu: 90, memory: 500Gi}
"""
"""A job that needs a profile with a cloud."""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.yaml").write_text(SPOT, encoding="utf-8")


@pytest.mark.parametrize("cloud", [*CLOUDS, None])
def test_a_starter_is_a_profile_also_without_its_comment_marks(cloud: str | None) -> None:
    text = starter_profile(cloud)
    body = [
        line.replace("#", "", 1) if line.startswith("  ") and line.lstrip()[0] == "#" else line
        for line in text.splitlines()
    ]
    for profile in (text, "\n".join(body)):
        read, diagnostics = load_profile(profile)
        assert read is not None, diagnostics
        assert not diagnostics
        assert read.spec.cloud == cloud


def test_a_job_walks_from_the_error_to_the_starter_and_to_its_file(capsys: Capture) -> None:
    assert main(["spec.yaml", "--target", "job"]) == 1
    assert "ptcompile init --profile" in capsys.readouterr().err

    assert main(["init", "--profile", "--cloud", "aws", "-o", "cluster.yaml"]) == 0
    assert capsys.readouterr().err == "ptcompile: wrote cluster.yaml; --cluster takes it\n"
    assert main(["spec.yaml", "--target", "job", "--cluster", "cluster.yaml"]) == 0
    of_file = capsys.readouterr().out
    assert main(["spec.yaml", "--target", "job", "--cluster", "eks"]) == 0
    built_in = capsys.readouterr()
    assert built_in.out == of_file
    assert (
        "ptcompile: eks is a built-in starter; ptcompile init --profile --cloud eks writes it"
        in built_in.err
    )


def test_a_file_of_the_name_wins(capsys: Capture) -> None:
    Path("eks").write_text(
        "apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {clod: eks}\n", encoding="utf-8"
    )
    assert main(["spec.yaml", "--cluster", "eks"]) == 1
    assert "spec.clod: unknown field" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["spec.yaml", "--cluster", "prod"],
            "no file and no cloud 'prod'; the starters are eks, gke, aks, oke",
        ),
        (["init", "--profile", "--cloud", "ibm"], "ptcompile init --profile writes one"),
    ],
)
def test_an_unknown_cloud_names_the_starters(
    words: list[str], message: str, capsys: Capture
) -> None:
    ran = here(capsys, *words)
    assert ran.status == 2
    assert message in ran.err


def test_a_cloud_is_of_a_profile(capsys: Capture) -> None:
    ran = here(capsys, "init", "--cloud", "eks")
    assert ran.status == 2
    assert "give --profile too" in ran.err


def test_a_profile_of_a_dump_is_the_one_that_platform_writes(capsys: Capture) -> None:
    Path("dump.yaml").write_text("apiVersion: v1\nkind: List\nitems: []\n", encoding="utf-8")
    assert main(["init", "--profile", "--from-dump", "dump.yaml"]) == 0
    from_init = capsys.readouterr().out
    assert main(["platform", "--from-dump", "dump.yaml"]) == 0
    assert capsys.readouterr().out == from_init
    assert "kind: ClusterProfile" in from_init


def test_the_configuration_may_name_a_starter(capsys: Capture) -> None:
    of_option = here(capsys, "spec.yaml", "--target", "job", "--cluster", "eks").out
    Path(".git").mkdir()
    Path("ptcompile.toml").write_text('cluster = "aws"\n', encoding="utf-8")
    assert here(capsys, "spec.yaml", "--target", "job").out == of_option
    for _ in ("checked", "from the cache"):
        linted = here(capsys, "lint", "spec.yaml")
        assert linted.status == 0, linted.err
        assert "1 file, 1 document, 0 errors" in linted.err, linted.err

    Path("aws").write_text(
        "apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {clod: eks}\n", encoding="utf-8"
    )
    assert "spec.clod: unknown field" in here(capsys, "spec.yaml").err
