"""`ptcompile init`: a starter spec that is valid as written and with every line uncommented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ptcompile
from ptcompile.api.reference import init
from ptcompile.operators.targets import TARGETS
from tests.cli.running import here

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("target", [None, *TARGETS])
def test_the_starter_compiles_without_findings(target: str | None, capsys: Capture) -> None:
    ran = here(capsys, "init", *(("--target", target) if target else ()))
    assert (ran.status, ran.err) == (0, "")
    result = ptcompile.compile(ran.out)
    assert result.diagnostics == ()
    assert result.yaml() == ptcompile.compile(ran.out, target=target or "job").yaml()
    assert ran.out.startswith("# yaml-language-server: $schema=")


@pytest.mark.parametrize("target", [None, *TARGETS])
def test_the_starter_compiles_with_every_line_uncommented(target: str | None) -> None:
    lines = [line for line in init(target).splitlines() if not line.startswith("  #target")]
    taken = [re.sub(r"^( +)#(?! )", r"\1", line) for line in lines]
    assert taken != lines
    result = ptcompile.compile("\n".join(taken))
    assert result.diagnostics == ()
    assert "persistentVolumeClaim" in result.yaml()


def test_every_line_can_be_read() -> None:
    assert all(
        len(line) <= 120 for target in (None, *TARGETS) for line in init(target).splitlines()
    )


def test_init_writes_a_new_file_and_never_overwrites(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "new" / "spec.yaml"
    ran = here(capsys, "init", "--target", "volcano", "-o", path)
    assert (ran.status, ran.out) == (0, "")
    assert path.read_text(encoding="utf-8") == init("volcano")
    path.write_text("mine", encoding="utf-8")
    ran = here(capsys, "init", "-o", path)
    assert (ran.status, ran.out, path.read_text(encoding="utf-8")) == (2, "", "mine")
    (tmp_path / "link.yaml").symlink_to(tmp_path / "nowhere")
    assert here(capsys, "init", "-o", tmp_path / "link.yaml").status == 2


def test_an_unknown_target_is_a_usage_error(capsys: Capture) -> None:
    ran = here(capsys, "init", "--target", "slurm")
    assert (ran.status, ran.out) == (2, "")
    assert "pytorchjob" in ran.err
