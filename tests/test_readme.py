"""What the README shows is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptcompile import compile, explain
from ptcompile.catalogue.fabrics import FABRICS
from ptcompile.catalogue.rows import ROWS
from ptcompile.cli import COMMANDS
from ptcompile.cli.config import load
from ptcompile.linting.catalogue import as_markdown
from ptcompile.operators.targets import TARGETS
from ptcompile.passes import PASSES
from ptcompile.report import renderer
from ptcompile.vocabulary.spec import Elastic, JobSpec, RunPolicy, Volcano

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_the_example_gives_the_lines_that_are_shown() -> None:
    spec, excerpt = _blocks("yaml")[:2]
    assert excerpt in compile(spec, filename="job.yaml").yaml()


def test_the_mistake_gives_the_text_that_is_shown() -> None:
    spec = _blocks("yaml")[0].replace("gpu: 8", "gpu: 4")
    result = compile(spec, filename="job.yaml")
    assert renderer("full")(result.diagnostics, {"job.yaml": spec}) == _blocks("text")[0]


def test_the_explanation_is_the_text_that_is_shown() -> None:
    explanation = explain(_blocks("yaml")[0], filename="job.yaml")
    assert explanation.text("command[--rdzv-backend]") in _blocks("text")


def test_the_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "job.yaml").write_text(_blocks("yaml")[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code = _blocks("python")[0].replace('open("job.yaml").read()', 'pathlib.Path("job.yaml").read_text()')
    exec(f"import pathlib\n{code}", {})  # noqa: S102  # our own words
    assert "kind: Job" in capsys.readouterr().out


def test_the_typed_program_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(_blocks("python")[1], {})  # noqa: S102  # our own words
    assert "kind: PyTorchJob" in capsys.readouterr().out


def test_the_handle_and_the_status_are_as_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "job.yaml").write_text(_blocks("yaml")[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code = next(one for one in _blocks("python") if ".handle" in one)
    code = code.replace('open("job.yaml").read()', 'pathlib.Path("job.yaml").read_text()')
    exec(f"import pathlib\n{code}", {})  # noqa: S102  # our own words
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("jobset.x-k8s.io/v1alpha2 jobsets ")
    assert out[-1] == "failed"


def test_every_field_pass_target_and_command_is_named() -> None:
    for model, prefix in ((JobSpec, ""), (Elastic, "elastic."), (Volcano, "volcano."), (RunPolicy, "")):
        names = {field.alias or name for name, field in model.model_fields.items()} - {"elastic", "volcano"}
        missing = {name for name in names if f"`{prefix}{name}`" not in README}
        assert not missing
    assert [
        row for row in re.findall(r"^\| (\w+) \|", README, re.MULTILINE) if row in {p.__name__ for p in PASSES}
    ] == [one.__name__ for one in PASSES]
    assert re.findall(r"^\| `(\w+)` \| \w+\S* \w+", README, re.MULTILINE)[-len(TARGETS) :] == list(TARGETS)
    assert all(f"ptcompile {command}" in README for command in COMMANDS if command not in {"compile", "simulate"})


def test_every_accelerator_and_fabric_is_listed() -> None:
    lists = [re.findall(r"`([^`]+)`", one) for one in re.findall(r"\n\n((?:`[^`\n]+`,?\s)+)\n", README)]
    assert lists == [sorted(ROWS), sorted(FABRICS)]


def test_what_it_links_to_is_there() -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / link).exists(), link


def test_the_table_of_rules_is_that_of_the_rules() -> None:
    """Where it is not: put what `ptcompile rules --output-format markdown` prints between the two comments."""
    table = README.partition("--output-format markdown` -->\n")[2].partition("<!-- /rules -->")[0]
    assert table == as_markdown()


def test_the_configuration_is_taken(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(_blocks("toml")[0])
    assert load(str(tmp_path / "pyproject.toml")).fail_on == "warning"


def test_the_tests_for_half_a_minute_are_there() -> None:
    """A path that is moved would be an error for whoever copies the command."""
    (command,) = [block for block in _blocks("sh") if "tests/test_golden.py" in block]
    paths = [word for word in command.split() if word.startswith("tests/")]
    assert [path for path in paths if not (ROOT / path).exists()] == []
