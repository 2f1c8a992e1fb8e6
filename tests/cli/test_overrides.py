"""`--set` and `--name` in every command that reads a spec."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ptcompile.cli import main
from ptcompile.cli.commands import watch
from ptcompile.cli.files import UsageError
from ptcompile.cli.overrides import Set, parse_string, parse_yaml, point_at_options
from ptcompile.diagnostics import Diagnostic, Problem, Span
from ptcompile.source.streams import to_diagnostic
from tests.cli.running import here
from tests.making import smallest

Capture = pytest.CaptureFixture[str]

SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: train}
spec:
  image: registry.example.com/train:1
  script: train.py
  nodes: 2
  resources: {cpu: 4, memory: 8Gi}
"""
PROFILE = "apiVersion: ptcompile/v1\nkind: ClusterProfile\nmetadata: {name: c}\nspec: {}\n"
QUEUE = ("--set", "spec.queue=research")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "spec.yaml").write_text(SPEC)
    (tmp_path / "cluster.yaml").write_text(PROFILE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_watch_shows_the_changed_spec(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """The page that it would serve; the first check of the files ends the run."""
    pages: list[str] = []
    monkeypatch.setattr(watch.Live, "show", lambda _, page: pages.append(page))
    monkeypatch.setattr(watch, "_CHECK_SECONDS", 0)
    monkeypatch.setattr(time, "sleep", _interrupt)
    assert main(["watch", "spec.yaml", "--set", "spec.nodes=5"]) == 0
    assert "an override: spec.nodes: 5" in pages[0]


def _interrupt(_: float) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("compile", "spec.yaml", "--set", "spec.nodes=5"), "parallelism: 5"),
        (("simulate", "spec.yaml", "--set", "spec.nodes=5"), "pods         5"),
        (
            ("explain", "spec.yaml", "parallelism", "--set", "spec.nodes=5"),
            "value from  an override  spec.nodes: 5",
        ),
        (("diff", "spec.yaml", "--set", "spec.nodes=5"), "~ spec.parallelism: 2 -> 5"),
        (("requires", "spec.yaml", *QUEUE), "research"),
        (("platform", "cluster.yaml", "spec.yaml", *QUEUE), "research"),
        (
            ("explain", "spec.yaml", "--html", "-", "--set", "spec.nodes=5"),
            "an override: spec.nodes: 5",
        ),
        (("compile", "spec.yaml", "--name", "run-7"), "name: run-7"),
        (("simulate", "spec.yaml", "--name", "run-7"), "Job/run-7"),
        (
            ("explain", "spec.yaml", "metadata.name", "--name", "run-7"),
            "an override  metadata.name: run-7",
        ),
        (("diff", "spec.yaml", "--name", "run-7"), "Job/train -> Job/run-7"),
    ],
)
def test_options_change_the_spec(
    words: tuple[str, ...], expected: str, folder: Path, capsys: Capture
) -> None:
    assert main(words) in (0, 1)  # 1: diff finds a difference
    assert expected in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ("compile", "spec.yaml"),
        ("simulate", "spec.yaml"),
        ("explain", "spec.yaml"),
        ("explain", "spec.yaml", "--html", "page.html"),
        ("diff", "spec.yaml"),
        ("requires", "spec.yaml"),
        ("platform", "cluster.yaml", "spec.yaml"),
        ("rehearse", "spec.yaml"),
    ],
)
def test_mistakes_are_reported_at_the_option(
    words: tuple[str, ...], folder: Path, capsys: Capture
) -> None:
    assert main([*words, "--set", "spec.script=a.py", "--set", "spec.nodes=many"]) == 1
    assert "--> --set:2:12" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [("simulate", "pod.yaml"), ("diff", "spec.yaml", "pod.yaml"), ("requires", "pod.yaml")]
)
def test_nothing_to_change_is_an_error(
    words: tuple[str, ...], folder: Path, capsys: Capture
) -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i:1}]}\n"
    (folder / "pod.yaml").write_text(pod)
    with pytest.raises(Exception, match="--set changes a TrainingJob, and no file here has one"):
        main([*words, "--set", "spec.nodes=5"])
    with pytest.raises(Exception, match="--name changes a TrainingJob, and no file here has one"):
        main([*words, "--name", "run-7"])
    assert main([*words]) in (0, 1)


def test_only_the_new_side_of_a_diff_changes(folder: Path, capsys: Capture) -> None:
    (folder / "new.yaml").write_text(SPEC.replace("nodes: 2", "nodes: 3"))
    assert main(["diff", "spec.yaml", "new.yaml", "--set", "spec.nodes=2"]) == 0
    assert "no difference" in capsys.readouterr().out


def test_overridden_inputs_are_marked_in_json(folder: Path, capsys: Capture) -> None:
    assert (
        main(["explain", "spec.yaml", "parallelism", "--format", "json", "--set", "spec.nodes=5"])
        == 0
    )
    (cause,) = json.loads(capsys.readouterr().out)["causes"]
    (line,) = (line for line in cause["inputs"] if line["path"] == ["spec", "nodes"])
    assert line["overridden"] is True
    assert line["span"] is None


@pytest.mark.parametrize("parse", [parse_yaml, parse_string])
@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("spec.env[=x", ("spec.env[=***", 8, "the bracket is not closed")),
        ("spec.env[x", ("spec.env[x", 8, "the bracket is not closed")),
        ("spec.nodes", ("spec.nodes", 10, "a value is missing")),
        ("=x", ("=***", 0, "a key is missing")),
    ],
)
def test_a_caret_shows_the_mistake_in_a_path(
    parse: Callable[[str], Set], text: str, lines: tuple[str, int, str]
) -> None:
    shown, column, message = lines
    with pytest.raises(UsageError) as raised:
        parse(text)
    first, second = raised.value.args
    assert first.partition(" ")[2] == shown
    assert second.index("^") == len("ptcompile: ") + len(first) - len(shown) + column
    assert second.lstrip(" ^").startswith(message)


def test_a_value_that_is_not_yaml_is_reported_masked() -> None:
    for text in ("spec.nodes=[", "a=1\nb: 2", "spec.env.TOKEN=[hunter2"):
        with pytest.raises(UsageError, match="not a YAML value") as raised:
            parse_yaml(text)
        assert "hunter2" not in str(raised.value)
        assert parse_string(text).value == text.partition("=")[2]
    assert [parse("a=1").value for parse in (parse_yaml, parse_string)] == [1, "1"]
    assert parse_yaml("spec.env.TOKEN=hunter2").text == "spec.env.TOKEN=***"


def pointed(
    diagnostic: Diagnostic, *options: Set, name: str | None = None
) -> tuple[str | None, Span | None]:
    """Return the file and the span of a finding about one of these options."""
    (result,) = point_at_options([diagnostic], argparse.Namespace(set=list(options), name=name))
    return result.filename, result.span


def finding(filename: str, *path: str | int, name: str = "spec-invalid-value") -> Diagnostic:
    return to_diagnostic(Problem(name, path, "m"), None, filename)


def test_findings_point_at_values() -> None:
    value, items = parse_yaml("spec.args=abc"), parse_yaml("spec.args=[a, bc]")
    assert pointed(finding("overrides[0]", "spec", "args"), value) == ("--set", Span(1, 11, 1, 14))
    assert pointed(finding("overrides[1]", "spec", "args"), value, items) == (
        "--set",
        Span(2, 11, 2, 18),
    )
    commented = parse_yaml("spec.args=abc # c")
    assert pointed(finding("overrides[0]", "spec", "args"), commented) == (
        "--set",
        Span(1, 11, 1, 18),
    )
    assert pointed(finding("overrides[0]", "spec", "args", 1), items) == (
        "--set",
        Span(1, 15, 1, 17),
    )
    assert pointed(finding("overrides[0]", "spec"), value) == ("--set", Span(1, 1, 1, 10))
    unknown = finding("overrides[0]", "spec", "args", name="spec-unknown-field")
    assert pointed(unknown, value) == ("--set", Span(1, 1, 1, 10))
    assert pointed(finding("overrides[0]", "spec", "args"), parse_string("spec.args=")) == (
        "--set",
        Span(1, 11, 1, 12),
    )
    last, cut, in_last = parse_yaml("a={b: cd}"), "a={b: cd", finding("overrides[0]", "a", "b")
    assert pointed(in_last, last._replace(text=cut)) == ("--set", Span(1, 7, 1, 9)), "up to the end"
    assert pointed(in_last, last._replace(text=cut[:-1])) == ("--set", Span(1, 3, 1, 8)), (
        "and not beyond it"
    )
    assert pointed(in_last, last._replace(text="a=***")) == ("--set", Span(1, 3, 1, 6)), "masked"
    assert pointed(finding("name=", "metadata", "name"), name="abc") == ("--name", Span(1, 1, 1, 4))
    assert pointed(finding("name=", "metadata", "name"), name="") == ("--name", Span(1, 1, 1, 2))
    for other in ("spec.yaml", "overrides[1]"):
        assert pointed(finding(other, "spec"), value) == (other, None)


def test_the_help_for_a_number_that_must_be_a_text_names_the_option(
    tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(smallest("args: [--lr, x]"), encoding="utf-8")
    assert (
        "help: use --set-string spec.args[1]=3e-4\n"
        in here(capsys, str(path), "--set", "spec.args[1]=3e-4").err
    )
    assert here(capsys, str(path), "--set-string", "spec.args[1]=3e-4").status == 0
    null = here(capsys, str(path), "--set", "spec.runPolicy=null").err
    assert (
        "help: leave it out: null stands only for values that something else would fill in\n"
        in null
    )
