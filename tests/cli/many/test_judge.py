"""`ptcompile lint` over many files: the same bytes in one process, in several, and from what was kept."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ptcompile import limits
from ptcompile.cli import config, trust
from ptcompile.cli.many import keys, processes
from ptcompile.report import FORMATS
from tests.cli.many.lints import COUNT, Counted
from tests.cli.running import ROOT, Ran, here, process
from tests.making import smallest

Capture = pytest.CaptureFixture[str]

STRICT = """\
apiVersion: v1
kind: Namespace
metadata:
  name: strict
  labels: {pod-security.kubernetes.io/enforce: restricted}
"""
RULE = '[[rule]]\ncode = "ACME101"\nname = "cost-center"\npath = "spec"\nexpression = "false"\nmessage = "m"\n'

ALL = """\
import contextlib, io, json, sys
from ptcompile import cli

class Bytes(io.TextIOWrapper):
    def __init__(self):
        super().__init__(io.BytesIO(), "utf-8")

def ran(*words):
    out, err = Bytes(), Bytes()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = cli.main(["lint", *words])
    return status, out.buffer.getvalue().decode(), err.buffer.getvalue().decode()

folder, *more = sys.argv[1:]
forms = [["--output-format", one] for one in more]
for form in [*forms, ["--statistics"], ["--select", "PTC3", "--fail-on", "warning"]]:
    alone = ran(*form, "--no-cache", "--jobs", "1", folder)
    full = form[1:] == ["full"]
    for way in [["--no-cache", "--jobs", "2"], *[["--no-cache", "--jobs", "4"], []] * full, [], []]:
        assert ran(*form, *way, folder) == alone, (form, way)
    print(json.dumps([form, alone]))
"""


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """Specs and manifests of golden/, with and without findings, and files that others are judged with."""
    found = sorted((ROOT / "golden").glob("*/*.yaml"))[::25]
    for number, path in enumerate(found):
        shutil.copy(path, tmp_path / f"{number:03}-{path.parent.name}.yaml")
    (tmp_path / "bad.yaml").write_text("a: [")
    (tmp_path / "bytes.yaml").write_bytes(b"kind: \xff")
    (tmp_path / "empty.yaml").touch()
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "space.yaml").write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: default}\n")
    (tmp_path / "inner" / "meant.yaml").write_text(
        "# ptcompile: ignore-file[spec-unknown-field, PTC999]\n" + smallest("comand: x")
    )
    (tmp_path / "inner" / "secret.yaml").write_text(smallest("env: {API_TOKEN: hunter2hunter2, MASTER_ADDR: x}"))
    return tmp_path


def test_the_same_bytes_whoever_judges(golden: Path) -> None:
    words = [sys.executable, "-c", ALL, str(golden), *FORMATS]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, capture_output=True, text=True, env=env, cwd=golden, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    shown = {str(form): ran for form, ran in map(json.loads, done.stdout.splitlines())}
    assert len(shown) == len(FORMATS) + 2
    status, out, err = shown["['--output-format', 'full']"]
    assert status == 1
    assert "hunter2" not in out
    assert out.count("  --> ") > 10
    assert ", 1 ignored\n" in err


def test_fixes_are_the_same_in_several_processes(golden: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other") / "golden"
    shutil.copytree(golden, other)
    ran = [
        process("lint", "--fix", "--unsafe-fixes", "--jobs", n, ".", cwd=at) for n, at in (("1", golden), ("3", other))
    ]
    assert ran[0] == ran[1]
    names = [path.relative_to(golden) for path in golden.rglob("*.yaml")]
    assert all((golden / name).read_bytes() == (other / name).read_bytes() for name in names)
    assert " fixed" in ran[0].err


def test_what_has_not_changed_is_not_judged_again(many: Path, asked: Counted, capsys: Capture) -> None:
    first = here(capsys, "lint", ".")
    assert len(asked) == COUNT
    assert here(capsys, "lint", ".") == first
    assert len(asked) == COUNT
    (many / "00.yaml").write_text(smallest("imge: x"))
    changed = here(capsys, "lint", ".")
    assert asked[COUNT:] == ["./00.yaml"]
    assert "unknown field" in changed.out
    assert here(capsys, "lint", "--no-cache", ".") == changed
    assert here(capsys, "lint", ".") == changed
    assert len(asked) == 2 * COUNT + 1


def test_few_files_are_judged_at_once(many: Path, asked: Counted, capsys: Capture) -> None:
    (many / "00.yaml").unlink()
    for _ in range(2):
        here(capsys, "lint", ".")
    assert len(asked) == 2 * (COUNT - 1)
    assert not (many / "cache").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("--select", "PTC5"),
        ("--ignore", "PTC302"),
        ("--extend-select", "PTC3", "--select", "PTC5"),
        ("--kubernetes-version", "1.30"),
        ("--no-webhooks",),
        ("--unknown-kinds", "error"),
        ("--cluster", "profile/cluster.yaml"),
        ("--schemas", "crds"),
        ("--output-format", "json"),  # which shows no lines
    ],
)
def test_other_options_are_another_key(many: Path, asked: Counted, capsys: Capture, words: tuple[str, ...]) -> None:
    here(capsys, "lint", ".")
    for _ in range(2):
        told = here(capsys, "lint", *words, ".")
        assert len(asked) == 2 * COUNT
    assert here(capsys, "lint", *words, "--no-cache", ".") == told


@pytest.mark.parametrize("words", [("--fail-on", "warning"), ("--exit-zero",), ("--jobs", "1")])
def test_options_of_the_report_are_not(many: Path, asked: Counted, capsys: Capture, words: tuple[str, ...]) -> None:
    for more in ((), words):
        here(capsys, "lint", *more, ".")
        assert len(asked) == COUNT


@pytest.mark.parametrize("path", ["profile/cluster.yaml", "crds/crd.yaml"])
def test_a_changed_file_that_an_option_names_is_another_key(
    many: Path, asked: Counted, capsys: Capture, path: str
) -> None:
    words = ("lint", "--cluster", "profile/cluster.yaml", "--schemas", "crds", ".")
    here(capsys, *words)
    with (many / path).open("a") as file:
        file.write("# changed\n")
    here(capsys, *words)
    assert len(asked) == 2 * COUNT


def test_the_configuration_is_a_part_of_the_key(many: Path, asked: Counted, capsys: Capture) -> None:
    here(capsys, "lint", ".")
    for text in (
        'ignore = ["PTC302"]\n',
        '[per-file-ignores]\n"*" = ["PTC302"]\n',
        'kubernetes-version = "1.31"\n',
        RULE,
    ):
        before = len(asked)
        (many / "ptcompile.toml").write_text(text)
        told = here(capsys, "lint", ".")
        assert told.status < 2, told.err
        assert len(asked) == before + COUNT, text
        assert here(capsys, "lint", ".") == told
        assert len(asked) == before + COUNT
    (many / "ptcompile.toml").write_text("")
    here(capsys, "lint", ".")
    (many / "ptcompile.toml").write_text('[per-file-ignores]\n"00.yaml" = ["PTC3"]\n')
    before = len(asked)
    here(capsys, "lint", ".")
    assert asked[before:] == ["./00.yaml"]


def test_what_other_files_decide_is_a_part_of_the_key(many: Path, asked: Counted, capsys: Capture) -> None:
    here(capsys, "lint", ".")
    (many / "space.yaml").write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: strict}\n")
    told = here(capsys, "lint", ".")
    assert len(asked) == 2 * COUNT + 1
    (many / "space.yaml").write_text(STRICT)
    stricter = here(capsys, "lint", ".")
    assert len(asked) == 3 * COUNT + 2
    assert stricter != told
    assert here(capsys, "lint", "--no-cache", ".") == stricter


def test_names_are_as_they_are_typed(many: Path, asked: Counted, capsys: Capture) -> None:
    here(capsys, "lint", ".")
    told = here(capsys, "lint", many)
    assert len(asked) == 2 * COUNT
    assert str(many / "00.yaml") in told.out
    assert here(capsys, "lint", many, "--no-cache") == told


def test_another_version_is_another_key(
    many: Path, asked: Counted, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    here(capsys, "lint", ".")
    changes = [("__version__", "9.9"), ("_libraries", lambda: ["pydantic-99.dist-info"]), ("FORMAT", 99)]
    for number, (name, value) in enumerate(changes):
        with monkeypatch.context() as patch:
            patch.setattr(keys, name, value)
            here(capsys, "lint", ".")
        assert len(asked) == (number + 2) * COUNT, name
    (many / "package" / "inner").mkdir(parents=True)
    (many / "package" / "inner" / "one.py").write_text("1")
    monkeypatch.setattr(keys, "_PACKAGE", str(many / "package"))
    for number, text in enumerate(["1", "2 "]):
        (many / "package" / "inner" / "one.py").write_text(text)
        here(capsys, "lint", ".")
        here(capsys, "lint", ".")
        assert len(asked) == (number + 5) * COUNT


def test_a_package_without_files_of_its_own_keeps_nothing(
    many: Path, asked: Counted, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an archive nothing tells two builds of a version apart."""
    monkeypatch.setattr(keys, "_PACKAGE", str(many / "ptcompile.pyz" / "ptcompile"))
    for _ in range(2):
        here(capsys, "lint", ".")
    assert len(asked) == 2 * COUNT


def test_strangers_and_plugins_are_judged_each_time(
    many: Path, asked: Counted, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_in_force", [limits.TRUSTED])
    monkeypatch.setattr(trust, "_untrusted", [False])
    for _ in range(2):
        here(capsys, "lint", "--untrusted", ".")
    assert len(asked) == 2 * COUNT
    monkeypatch.setattr(trust, "_untrusted", [False])
    monkeypatch.setattr(limits, "_in_force", [limits.TRUSTED])
    load = config.load
    plugged = lambda *given, **named: load(*given, **named)._replace(plugins=("acme",))  # noqa: E731
    monkeypatch.setattr("ptcompile.cli.config.load", plugged)
    for _ in range(2):
        here(capsys, "lint", ".")
    assert len(asked) == 4 * COUNT
    assert not (many / "cache").exists()


def test_fixing_and_ignoring_keep_nothing(many: Path, asked: Counted, capsys: Capture) -> None:
    for words in (("--diff",), ("--fix",), ("--add-ignore",)):
        here(capsys, "lint", *words, ".")
    assert not (many / "cache").exists()


def test_a_process_that_is_no_fork_judges_alike(many: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads the configuration, the profile and the schemas again, and is sent what other files decide."""
    monkeypatch.setattr(limits, "_in_force", [limits.TRUSTED])
    monkeypatch.setattr(trust, "_untrusted", [False])
    monkeypatch.setattr(processes, "_can_fork", lambda: False)
    (many / "space.yaml").write_text(STRICT)
    (many / "thing.yaml").write_text("apiVersion: acme.io/v1\nkind: Thing\nmetadata: {name: a, nam: b}\n")
    (many / "rule.toml").write_text(f'per-file-ignores = {{"00.yaml" = ["PTC021"]}}\n{RULE}')
    named = ("--cluster", "profile/cluster.yaml", "--schemas", "crds", "--config", "rule.toml")
    options = (*named, "--untrusted")
    told = [here(capsys, "lint", ".", *options, "--jobs", jobs) for jobs in "12"]
    assert told[0] == told[1]
    assert told[0].status == 1
    assert "ACME101" in told[0].out
    assert "pod-security" in told[0].out
    assert "metadata.nam" in told[0].out


def test_two_runs_at_once(whole: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "ptcompile", "lint", "."]
    both = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env) for _ in range(2)]
    said = {(*one.communicate(timeout=60), one.returncode) for one in both}
    assert len(said) == 1
    ((out, err, status),) = said
    assert process("lint", "--no-cache", ".", cwd=whole) == Ran(status, out.decode(), err.decode())
    assert [path.suffix for path in (whole / "cache" / "ptcompile").iterdir()] == [".entry"]
