"""`ptcompile lint` over many files: the same output from one process, from several, and from the cache.

`ptcompile lint` as users and CI call it: selection, configuration, reports, exit status, ignore comments.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

import ptcompile
from ptcompile._internal import limits
from ptcompile._internal.about import SITE
from ptcompile.cli import cache, config, files as trust, processes
from ptcompile.cli.commands import lint as judge
from ptcompile.cli.files import InputFile, UsageError
from ptcompile.report import FORMATS
from tests.cli.lints import COUNT, Counted
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
    """Return a folder with specs and manifests of golden/, with and without findings, and with related objects."""
    paths = sorted((ROOT / "golden").glob("*/*.yaml"))[::25]
    for number, path in enumerate(paths):
        shutil.copy(path, tmp_path / f"{number:03}-{path.parent.name}.yaml")
    (tmp_path / "bad.yaml").write_text("a: [")
    (tmp_path / "bytes.yaml").write_bytes(b"kind: \xff")
    (tmp_path / "empty.yaml").touch()
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "space.yaml").write_text(
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: default}\n"
    )
    (tmp_path / "inner" / "meant.yaml").write_text(
        "# ptcompile: ignore-file[best-effort-gpus, PTC999]\n" + smallest("resources: {gpu: 8}")
    )
    (tmp_path / "inner" / "secret.yaml").write_text(
        smallest("env: {API_TOKEN: hunter2hunter2, MASTER_ADDR: x}")
    )
    return tmp_path


def test_the_output_does_not_depend_on_processes(golden: Path) -> None:
    words = [sys.executable, "-c", ALL, str(golden), *FORMATS]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        words, capture_output=True, text=True, env=env, cwd=golden, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    shown = {str(form): ran for form, ran in map(json.loads, done.stdout.splitlines())}
    assert len(shown) == len(FORMATS) + 2
    status, out, err = shown["['--output-format', 'full']"]
    assert status == 1
    assert "hunter2" not in out
    assert out.count("  --> ") > 10
    assert ", 1 ignored\n" in err


def test_fixes_are_the_same_in_several_processes(
    golden: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other") / "golden"
    shutil.copytree(golden, other)
    ran = [
        process("lint", "--fix", "--unsafe-fixes", "--jobs", n, ".", cwd=at)
        for n, at in (("1", golden), ("3", other))
    ]
    assert ran[0] == ran[1]
    names = [path.relative_to(golden) for path in golden.rglob("*.yaml")]
    assert all((golden / name).read_bytes() == (other / name).read_bytes() for name in names)
    assert " fixed" in ran[0].err


def test_unchanged_files_are_not_linted_again(many: Path, asked: Counted, capsys: Capture) -> None:
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


def test_few_files_are_linted_without_a_cache(many: Path, asked: Counted, capsys: Capture) -> None:
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
def test_other_options_are_another_key(
    many: Path, asked: Counted, capsys: Capture, words: tuple[str, ...]
) -> None:
    here(capsys, "lint", ".")
    for _ in range(2):
        ran = here(capsys, "lint", *words, ".")
        assert len(asked) == 2 * COUNT
    assert here(capsys, "lint", *words, "--no-cache", ".") == ran


@pytest.mark.parametrize("words", [("--fail-on", "warning"), ("--exit-zero",), ("--jobs", "1")])
def test_report_options_are_not_part_of_the_key(
    many: Path, asked: Counted, capsys: Capture, words: tuple[str, ...]
) -> None:
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


def test_the_configuration_is_part_of_the_key(many: Path, asked: Counted, capsys: Capture) -> None:
    here(capsys, "lint", ".")
    for text in (
        'ignore = ["PTC302"]\n',
        '[per-file-ignores]\n"*" = ["PTC302"]\n',
        'kubernetes-version = "1.31"\n',
        RULE,
    ):
        before = len(asked)
        (many / "ptcompile.toml").write_text(text)
        ran = here(capsys, "lint", ".")
        assert ran.status < 2, ran.err
        assert len(asked) == before + COUNT, text
        assert here(capsys, "lint", ".") == ran
        assert len(asked) == before + COUNT
    (many / "ptcompile.toml").write_text("")
    here(capsys, "lint", ".")
    (many / "ptcompile.toml").write_text('[per-file-ignores]\n"00.yaml" = ["PTC3"]\n')
    before = len(asked)
    here(capsys, "lint", ".")
    assert asked[before:] == ["./00.yaml"]


def test_related_objects_are_part_of_the_key(many: Path, asked: Counted, capsys: Capture) -> None:
    here(capsys, "lint", ".")
    (many / "space.yaml").write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: strict}\n")
    ran = here(capsys, "lint", ".")
    assert len(asked) == 2 * COUNT + 1
    (many / "space.yaml").write_text(STRICT)
    stricter = here(capsys, "lint", ".")
    assert len(asked) == 3 * COUNT + 2
    assert stricter != ran
    assert here(capsys, "lint", "--no-cache", ".") == stricter


def test_file_names_are_reported_as_typed(many: Path, asked: Counted, capsys: Capture) -> None:
    here(capsys, "lint", ".")
    ran = here(capsys, "lint", many)
    assert len(asked) == COUNT
    assert str(many / "00.yaml") in ran.out
    assert here(capsys, "lint", many, "--no-cache") == ran


def test_another_version_is_another_key(
    many: Path, asked: Counted, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    here(capsys, "lint", ".")
    changes = [
        ("__version__", "9.9"),
        ("_library_versions", lambda: ["pydantic-99.dist-info"]),
        ("FORMAT", 99),
    ]
    for number, (name, value) in enumerate(changes):
        with monkeypatch.context() as patch:
            patch.setattr(cache, name, value)
            here(capsys, "lint", ".")
        assert len(asked) == (number + 2) * COUNT, name
    (many / "package" / "inner").mkdir(parents=True)
    (many / "package" / "inner" / "one.py").write_text("1")
    monkeypatch.setattr(cache, "_PACKAGE", str(many / "package"))
    for number, text in enumerate(["1", "2 "]):
        (many / "package" / "inner" / "one.py").write_text(text)
        here(capsys, "lint", ".")
        here(capsys, "lint", ".")
        assert len(asked) == (number + 5) * COUNT


def test_the_key_covers_the_package_and_nothing_next_to_it() -> None:
    assert Path(cache._PACKAGE) == Path(ptcompile.__file__).parent


def test_a_package_in_an_archive_caches_nothing(
    many: Path, asked: Counted, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an archive, nothing distinguishes two builds of a version."""
    monkeypatch.setattr(cache, "_PACKAGE", str(many / "ptcompile.pyz" / "ptcompile"))
    for _ in range(2):
        here(capsys, "lint", ".")
    assert len(asked) == 2 * COUNT


def test_untrusted_input_and_plugins_are_not_cached(
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


def test_fixing_and_ignoring_cache_nothing(many: Path, asked: Counted, capsys: Capture) -> None:
    for words in (("--diff",), ("--fix",), ("--add-ignore",)):
        here(capsys, "lint", *words, ".")
    assert not (many / "cache").exists()


def test_a_spawned_process_lints_the_same(
    many: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A spawned process reads the configuration, the profile and the schemas again, and gets the related objects."""
    monkeypatch.setattr(limits, "_in_force", [limits.TRUSTED])
    monkeypatch.setattr(trust, "_untrusted", [False])
    monkeypatch.setattr(processes, "_can_fork", lambda: False)
    (many / "space.yaml").write_text(STRICT)
    (many / "thing.yaml").write_text(
        "apiVersion: acme.io/v1\nkind: Thing\nmetadata: {name: a, nam: b}\n"
    )
    (many / "rule.toml").write_text(f'per-file-ignores = {{"00.yaml" = ["PTC021"]}}\n{RULE}')
    named = ("--cluster", "profile/cluster.yaml", "--schemas", "crds", "--config", "rule.toml")
    options = (*named, "--untrusted")
    runs = [here(capsys, "lint", ".", *options, "--jobs", jobs) for jobs in "12"]
    assert runs[0] == runs[1]
    assert runs[0].status == 1
    assert "ACME101" in runs[0].out
    assert "pod-security" in runs[0].out
    assert "metadata.nam" in runs[0].out


def test_two_runs_at_once_print_the_same(whole: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "ptcompile", "lint", "."]
    both = [
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
        for _ in range(2)
    ]
    outputs = {(*one.communicate(timeout=60), one.returncode) for one in both}
    assert len(outputs) == 1
    ((out, err, status),) = outputs
    assert process("lint", "--no-cache", ".", cwd=whole) == Ran(status, out.decode(), err.decode())
    assert [path.suffix for path in (whole / "cache" / "ptcompile").iterdir()] == [".entry"]


POD = """\
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  restartPolicy: Never
  containers:
    - name: pytorch
      image: ghcr.io/acme/train:1.0
      command: [torchrun, --nproc-per-node, "8", train.py]
      resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 8}}
"""
STYLE = POD.replace("  containers:", "  hostIPC: true\n  containers:")
REFUSED = POD.replace("  containers:", "  hostNetwrk: false\n  containers:")


@pytest.fixture
def pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a manifest with one warning in a folder without a configuration above it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    (tmp_path / "ptcompile.toml").touch()
    (tmp_path / "pod.yaml").write_text(POD)
    return tmp_path / "pod.yaml"


def codes(capsys: Capture, *words: str | Path) -> list[str]:
    ran = here(capsys, "lint", *words, "--output-format", "concise")
    return [line.split()[2] for line in ran.out.splitlines()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), ["PTC302"]),
        (("--select", "PTC3"), ["PTC302"]),
        (("--select", "PTC4"), []),
        (("--select", "PTC4", "--extend-select", "missing-shm"), ["PTC302"]),
        (("--select", "PTC4,PTC302"), ["PTC302"]),
        (("--ignore", "PTC302"), []),
        (("--ignore", "PTC501", "--ignore", "missing-shm"), []),
    ],
)
def test_options_select_the_reported_codes(
    words: tuple[str, ...], expected: list[str], pod: Path, capsys: Capture
) -> None:
    assert codes(capsys, pod, *words) == expected


def test_rejections_are_reported_regardless_of_selection(pod: Path, capsys: Capture) -> None:
    pod.write_text(REFUSED)
    assert codes(capsys, pod, "--select", "PTC4") == ["PTC501"]
    assert codes(capsys, pod, "--select", "PTC4", "--ignore", "PTC501") == []


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ('ignore = ["PTC3"]', (), []),
        ('ignore = ["PTC3"]', ("--isolated",), ["PTC302"]),
        ('ignore = ["PTC3"]', ("--config", "other.toml"), ["PTC302"]),
        ('select = ["PTC4"]', (), []),
        ('select = ["PTC4"]\nextend-select = ["PTC302"]', (), ["PTC302"]),
        ('select = ["PTC4"]', ("--extend-select", "PTC302"), ["PTC302"]),
        ('select = ["PTC4"]', ("--select", "PTC302"), ["PTC302"]),
        ('per-file-ignores = {"*.yaml" = ["PTC302"]}', (), []),
        ('per-file-ignores = {"pod.yaml" = ["missing-shm"]}', (), []),
        ('per-file-ignores = {"charts/*" = ["PTC302"]}', (), ["PTC302"]),
    ],
)
def test_the_configuration_selects_the_reported_codes(
    text: str, words: tuple[str, ...], expected: list[str], pod: Path, capsys: Capture
) -> None:
    (pod.parent / "ptcompile.toml").write_text(text)
    (pod.parent / "other.toml").touch()
    assert codes(capsys, pod, *words) == expected


def test_the_nearest_file_is_used(
    pod: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (pod.parent / ".git").mkdir()
    inner = pod.parent / "inner"
    inner.mkdir()
    (pod.parent / "ptcompile.toml").write_text('ignore = ["PTC302"]')
    monkeypatch.chdir(inner)
    assert codes(capsys, pod) == []
    (inner / "pyproject.toml").write_text('[project]\nname = "x"\n')
    assert codes(capsys, pod) == [], "a pyproject.toml without our table is not ours"
    (inner / "pyproject.toml").write_text("[tool.ptcompile]\n")
    assert codes(capsys, pod) == ["PTC302"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('selct = ["PTC3"]', "did you mean select"),
        ('ignore = ["PTC999"]', "no rule 'PTC999'"),
        ('ignore = "PTC3"', "a list"),
        ("ignore = [", "ptcompile.toml"),
        ('fail-on = "never"', '"error", "warning" or "unchecked"'),
        ("per-file-ignores = []", "a table"),
        ('kubernetes-version = "latest"', "latest"),
    ],
)
def test_a_wrong_configuration_is_reported(
    text: str, message: str, pod: Path, capsys: Capture
) -> None:
    (pod.parent / "ptcompile.toml").write_text(text)
    ran = here(capsys, "lint", pod)
    assert (ran.status, ran.out) == (2, "")
    assert message in ran.err


def test_all_mistakes_of_a_configuration_are_reported_together(pod: Path, capsys: Capture) -> None:
    (pod.parent / "ptcompile.toml").write_text('selct = []\nignore = "x"\n')
    ran = here(capsys, "lint", pod)
    assert "selct" in ran.err
    assert "ignore" in ran.err


@pytest.mark.parametrize(
    ("text", "words", "status"),
    [
        (POD, (), 0),
        (POD, ("--fail-on", "warning"), 1),
        (POD, ("--fail-on", "warning", "--ignore", "PTC302"), 0),
        (STYLE, ("--fail-on", "warning", "--ignore", "PTC302"), 0),
        (STYLE, ("--fail-on", "warning", "--ignore", "PTC302", "--config", "severe.toml"), 1),
        (REFUSED, (), 1),
        (REFUSED, ("--exit-zero",), 0),
        (REFUSED, ("--output-format", "sarif"), 1),
    ],
)
def test_the_findings_decide_the_exit_status(
    text: str, words: tuple[str, ...], status: int, pod: Path, capsys: Capture
) -> None:
    """A warning of stage style fails no run, unless the configuration gives it a severity."""
    (pod.parent / "severe.toml").write_text('severity = {PTC821 = "error"}\n')
    pod.write_text(text)
    assert here(capsys, "lint", pod, *words).status == status


def test_the_report_goes_to_the_output_file(pod: Path, capsys: Capture) -> None:
    ran = here(capsys, "lint", pod, "--output-file", "out.json", "--output-format", "json")
    assert ran.out == ""
    assert [d["code"] for d in json.loads(Path("out.json").read_text())["diagnostics"]] == [
        "PTC302"
    ]
    assert here(capsys, "lint", pod, "--statistics").out == "1  PTC302 missing-shm [fixable]\n"


def test_color_is_for_terminals_and_on_request(pod: Path) -> None:
    plain = process("lint", pod, cwd=pod.parent, env={"FORCE_COLOR": "", "NO_COLOR": ""})
    painted = process("lint", pod, cwd=pod.parent, env={"FORCE_COLOR": "1", "NO_COLOR": ""})
    neither = process("lint", pod, cwd=pod.parent, env={"FORCE_COLOR": "1", "NO_COLOR": "1"})
    assert "\x1b" not in plain.out
    assert neither.out == plain.out
    assert painted.out.replace("\x1b[0m", "").count("\x1b[") == 5
    assert painted.out != plain.out


def test_add_ignore_adds_only_comments(pod: Path, capsys: Capture) -> None:
    pod.write_text(REFUSED.replace("\n", "\r\n"))
    before = pod.read_bytes()
    ran = here(capsys, "lint", pod, "--add-ignore")
    assert (ran.status, ran.out) == (0, "")
    after = pod.read_bytes()
    assert codes(capsys, pod) == []
    assert (
        after.replace(b"  # ptcompile: ignore[PTC501]", b"").replace(
            b"  # ptcompile: ignore[PTC302]", b""
        )
        == before
    )


def test_add_ignore_goes_above_a_multi_line_value(pod: Path, capsys: Capture) -> None:
    pod.write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n  a b: |\n    # text\n    more\n"
    )
    assert here(capsys, "lint", pod, "--add-ignore").status == 0
    assert codes(capsys, pod) == []


def test_add_ignore_counts_what_no_comment_can_ignore(pod: Path, capsys: Capture) -> None:
    (pod.parent / "x.json").write_text(
        '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spce": {}}'
    )
    before = (pod.parent / "x.json").read_text()
    ran = here(capsys, "lint", "x.json", "--add-ignore")
    assert ran.status == 1
    assert "1 cannot be ignored by a comment" in ran.err
    assert (pod.parent / "x.json").read_text() == before


def test_the_template_of_a_rendered_document_is_named() -> None:
    rendered = f"---\n# Source: chart/templates/a.yaml\n{POD}---\n# Source: chart/templates/pod.yaml\n{REFUSED}"
    ran = process("lint", "-", "--isolated", stdin=rendered.encode())
    assert "<stdin>:7:7 (chart/templates/a.yaml)" in ran.out.replace("<stdin>:9:7", "<stdin>:7:7")
    assert "(chart/templates/pod.yaml)" in ran.out


def test_the_summary_counts_what_a_configuration_ignores(
    pod: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a file in a parent folder could hide errors silently."""
    monkeypatch.chdir(pod.parent)
    pod.write_text(f"{POD}---\n{REFUSED}")
    before = here(capsys, "lint", pod).err
    (pod.parent / "ptcompile.toml").write_text('ignore = ["PTC302", "unknown-field", "PTC5"]\n')
    ran = here(capsys, "lint", pod)
    assert ran.status == 0, before
    assert "2 errors, 2 warnings" in before, before
    assert "0 errors, 0 warnings, 4 ignored\n" in ran.err
    assert "ignored" not in here(capsys, "lint", pod, "--isolated", "--select", "PTC9").err, (
        "it was not looked for"
    )


def test_the_summary_counts(pod: Path, capsys: Capture) -> None:
    pod.write_text(
        POD.replace("name: pytorch", "name: pytorch  # ptcompile: ignore[PTC302]")
        + "---\n"
        + REFUSED
    )
    ran = here(capsys, "lint", pod)
    assert ran.err == (
        "ptcompile: 1 file, 2 documents, 2 errors, 1 warning, 2 fixable with --unsafe-fixes, 1 ignored\n"
        f"ptcompile: for more, run 'ptcompile explain CODE' or see {SITE}codes/\n"
    )


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ((), False),
        (("--fix",), True),
        (("--diff",), True),
        (("--fix", "--unsafe-fixes"), True),
        (("--diff", "--unsafe-fixes"), True),
        (("--add-ignore",), False),
        (("--fix", "--diff"), "--fix writes files and --diff does not"),
        (("--add-ignore", "--fix"), "--add-ignore cannot be combined"),
        (("--add-ignore", "--diff"), "--add-ignore cannot be combined"),
        (("--unsafe-fixes",), "--unsafe-fixes requires --fix or --diff"),
        (("--write-baseline", "--fix"), "--write-baseline cannot be combined"),
        (("--write-baseline", "--diff"), "--write-baseline cannot be combined"),
        (("--write-baseline", "--add-ignore"), "--write-baseline cannot be combined"),
        (("--write-baseline", "--statistics"), "--write-baseline cannot be combined"),
        (("--write-baseline",), False),
    ],
)
def test_options_that_fix_exclude_each_other(words: tuple[str, ...], wanted: bool | str) -> None:
    names = ("fix", "diff", "add_ignore", "unsafe_fixes", "write_baseline", "statistics")
    options = Namespace(**{name: f"--{name.replace('_', '-')}" in words for name in names})
    if isinstance(wanted, bool):
        assert judge.wants_fixes(options) is wanted
    else:
        with pytest.raises(UsageError, match=wanted):
            judge.wants_fixes(options)


@pytest.mark.parametrize(
    ("earlier", "results"), [(None, ["old", "old", "old"]), ({}, ["old", "new a/2", "old"])]
)
def test_files_that_repeat_an_object_are_linted_again(earlier: Any, results: list[str]) -> None:
    inputs = [InputFile(name, b"", False) for name in ("a/1", "a/2", "b/3")]
    linter: Any = Namespace(earlier=earlier, everything=(), options=Namespace(jobs=1))
    job: Any = ((("batch/v1", "Job", "", "train"), ""),)
    reports = judge.with_repeated(
        inputs, ["old"] * 3, linter, lambda file: f"new {file.name}", lambda _: job
    )
    assert reports == results
