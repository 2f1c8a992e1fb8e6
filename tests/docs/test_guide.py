"""Lists and tables of the guide match the code."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from ptcompile.cli.commands import COMMANDS
from ptcompile.cli.config import load
from ptcompile.compiler.passes import PASSES
from ptcompile.extending import Target, Wiring
from ptcompile.hardware.accelerators import ROWS
from ptcompile.hardware.fabrics import FABRICS
from ptcompile.kinds.model import Feature
from ptcompile.operators.table import FEATURES
from ptcompile.report import FORMATS
from ptcompile.spec.cluster_profile import ProfileSpec
from ptcompile.spec.training_job import RunPolicy
from tests.cli.running import here
from website.blocks import PAGES, ROOT, blocks
from website.refresh import kind_tables

GUIDE = ROOT / "docs" / "guide"


def text(name: str) -> str:
    return (GUIDE / name).read_text(encoding="utf-8")


def between(name: str, marker: str) -> str:
    return text(name).partition(f"<!-- {marker} -->")[2].partition(f"<!-- /{marker} -->")[0]


def test_the_tables_of_built_in_kinds_are_those_of_the_rules() -> None:
    for marker, table in kind_tables().items():
        assert between("lint.md", marker) == f"\n{table}\n"


def test_every_accelerator_and_fabric_is_listed() -> None:
    assert re.findall(r"`([^`]+)`", between("clusters.md", "accelerators")) == sorted(ROWS)
    assert re.findall(r"`([^`]+)`", between("clusters.md", "fabrics")) == sorted(FABRICS)


def test_the_passes_are_in_order() -> None:
    table = text("simulate.md").partition("## The passes")[2]
    rows = [row for row in re.findall(r"^\| (\w+) \|", table, re.MULTILINE) if row != "Pass"]
    assert rows == [one.__name__ for one in PASSES]


def test_every_field_of_the_profile_is_documented() -> None:
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", text("clusters.md"), re.MULTILINE)
    documented = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    fields = {field.alias or name for name, field in ProfileSpec.model_fields.items()}
    assert documented == fields


@pytest.mark.parametrize("model", [Target, Wiring])
def test_every_field_of_a_target_is_documented(model: type[Target] | type[Wiring]) -> None:
    heading = {Target: "| Field |", Wiring: "| Field of `Wiring` |"}[model]
    table = text("targets.md").partition(heading)[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)`", table, re.MULTILINE) == list(model._fields)


def test_the_fields_of_run_policy_are_documented() -> None:
    page = text("restarts.md")
    assert all(
        f"{field.alias or name}" in page
        for name, field in RunPolicy.model_fields.items()
        if name != "suspend"
    )


def test_every_command_is_shown_somewhere() -> None:
    shown = "".join(path.read_text(encoding="utf-8") for path in PAGES)
    named = set(re.findall(r"ptcompile ([a-z]+)\b", shown))
    assert [command for command in COMMANDS if command not in {*named, "compile"}] == []


@pytest.mark.parametrize("change", FEATURES.values(), ids=list(FEATURES))
def test_a_page_of_facts_that_a_change_cites_names_the_release(change: Feature) -> None:
    for name in re.findall(r"facts/([\w-]+)", change.source):
        page = (ROOT / "docs" / "facts" / f"{name}.md").read_text(encoding="utf-8")
        assert re.search(rf"\b{re.escape('.'.join(map(str, change.since)))}\b", page)


def test_the_configuration_example_is_valid(tmp_path: Path) -> None:
    (block,) = [one for one in blocks(text("lint.md")) if one.title == "pyproject.toml"]
    (tmp_path / "pyproject.toml").write_text(block.text)
    assert load(str(tmp_path / "pyproject.toml")).fail_on == "warning"
    assert tomllib.loads(block.text)["tool"]["ptcompile"]["extend-select"] == ["PTC302"]


def test_every_guide_is_in_the_navigation_once() -> None:
    listed = re.findall(r"guide/([\w-]+\.md)", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(path.name for path in GUIDE.glob("*.md"))


def test_every_report_format_is_in_the_guide_to_ci() -> None:
    rows = text("ci.md").partition("## Formats")[2].partition("\n## ")[0]
    assert sorted(
        re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", rows, re.MULTILINE)))
    ) == sorted(FORMATS)


@pytest.mark.parametrize(
    ("options", "content", "status"),
    [
        ((), "", 0),
        ((), "  restartPolicy: Never\n", 0),
        (("--fail-on", "warning"), "  restartPolicy: Never\n", 1),
        ((), "  serviceAcountName: x\n", 1),
        (("--exit-zero",), "  serviceAcountName: x\n", 0),
        (("--diff",), "  activeDeadlineSeconds: '5'\n", 1),
        (("none/",), "", 2),
        (("--exit-zero", "none/"), "", 2),
        (("--allow-empty", "none/*.yaml"), "", 0),
    ],
)
def test_exit_statuses_match_the_guide_to_ci(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    content: str,
    status: int,
) -> None:
    containers = "  containers: [{name: c, image: 'i:1', command: [sleep, '1']}]\n"
    pod = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: x}}\nspec:\n  restartPolicy: Never\n{containers}{content}"
    (tmp_path / "pod.yaml").write_text(pod, encoding="utf-8")
    assert here(capsys, "lint", "--isolated", *options, tmp_path / "pod.yaml").status == status
