"""Directives as sbatch reads them, and what a node gets: docs/facts/slurm.md, and runs of Slurm 22.05."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ptcompile._internal.schema_files import load_table
from ptcompile.importer.slurm.allocation import allocate
from ptcompile.importer.slurm.amounts import READERS
from ptcompile.importer.slurm.directives import last_values, read_directives, split_directive


def options(*lines: str) -> dict[str, str]:
    directives = read_directives(
        "\n".join(("#!/bin/bash", *(f"#SBATCH {line}" for line in lines), "srun x"))
    )
    return {name: option.value for name, option in last_values(directives.components[0]).items()}


@pytest.mark.parametrize(
    "line", ["--time=10", "--time 10", "-t10", "-t 10", "--time=5 --time=10", "-H -t10"]
)
def test_an_option_is_read_in_each_form(line: str) -> None:
    assert options(line)["time"] == "10"


def test_an_unambiguous_prefix_is_an_option() -> None:
    assert options("--job-nam=x")["job-name"] == "x"


@pytest.mark.parametrize("line", ["-t=10", "--tim=10", "--no-such=1", "--gpus_per_node=4"])
def test_what_sbatch_rejects_has_no_effect(line: str) -> None:
    assert options(line) == {}


def test_an_unknown_option_takes_no_other_option() -> None:
    assert options("--of-a-plugin --time=10") == {"time": "10"}


def test_only_directives_before_the_first_command_count() -> None:
    text = "#!/bin/bash\n\n# SBATCH -N2\n##SBATCH -N3\n #SBATCH -N4\n#SBATCH -N5 # five\necho\n#SBATCH -N6\n"
    directives = read_directives(text)
    assert [option.value for option in directives.components[0]] == ["5"]
    assert [text[slice(*place)].strip() for place, _ in directives.ignored] == [
        "#SBATCH -N4",
        "#SBATCH -N6",
    ]


def test_quotes_and_comments_of_a_directive_are_removed() -> None:
    assert split_directive(r""" --a='b c' --d="e"f nvcr.io\#x '#' # rest""") == [
        "--a=b c",
        "--d=ef",
        "nvcr.io#x",
        "#",
    ]


def test_a_heterogeneous_job_has_several_components() -> None:
    directives = read_directives("#!/bin/sh\n#SBATCH -N4\n#SBATCH hetjob\n#SBATCH -N1\n")
    assert [[option.value for option in component] for component in directives.components] == [
        ["4"],
        ["1"],
    ]


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (("-N2", "--gres=gpu:4"), {"nodes": 2, "tasks": 1, "gpus": 4}),
        (("-N2", "--gpus=4"), {"nodes": 2, "gpus": 2}),
        (("-n8", "--ntasks-per-node=4"), {"nodes": 2, "tasks": 4}),
        (("-n4",), {"nodes": 1, "tasks": 4}),
        (("-N2", "--ntasks-per-node=4", "--gpus-per-task=1", "-c8", "--mem-per-cpu=4G"),
         {"gpus": 4, "cpus": 32, "memory": 128 << 10}),
        (("-n4", "--mem-per-cpu=10G"), {"cpus": None, "memory": 40 << 10}),
        (("--gpus-per-node=4", "--cpus-per-gpu=8", "--mem-per-gpu=48G"), {"cpus": 32, "memory": 192 << 10}),
        (("-N2", "--ntasks-per-gpu=1", "--gpus-per-node=4"), {"tasks": 4}),
        (("--gpus=8", "--gpus-per-task=2"), {"tasks": 4, "gpus": 8}),
        (("--gres=gpu:1g.10gb:2",), {"gpus": None, "devices": {"nvidia.com/mig-1g.10gb": 2}}),
        (("--mem=0",), {"memory": 0}),
        ((), {"nodes": 1, "tasks": 1, "gpus": None, "cpus": None, "memory": None}),
    ],
)  # fmt: skip
def test_options_give_each_node_its_amounts(lines: tuple[str, ...], wanted: dict[str, Any]) -> None:
    given = read_directives("\n".join(("#!/bin/bash", *(f"#SBATCH {line}" for line in lines))))
    allocation = allocate(last_values(given.components[0]))
    assert {name: getattr(allocation, name) for name in wanted} == wanted


def test_the_table_has_every_option_once() -> None:
    table = load_table("importer/slurm/slurm.json")
    letters = [row["short"] for row in table["options"].values() if "short" in row]
    assert len(letters) == len(set(letters))
    for name, row in table["options"].items():
        assert row.keys() <= {
            "takes",
            "short",
            "becomes",
            "says",
            "loud",
            "plugin",
            "is",
            "step",
            "alias",
        }, name
        assert row["takes"] in {"required", "optional", "none"}, name
        assert row.get("becomes") or row.get("says"), name
        assert row.get("is", "text") in READERS, name
        assert row.get("step", "own") in {"own", "silent", "refused"}, name
    facts = table.keys() - {"sources"}
    assert facts <= table["sources"].keys()
    for names in table["setup"].values():
        assert len(names) == len(set(names))
    text = (Path(__file__).parents[3] / "ptcompile/importer/slurm/slurm.json").read_text(
        encoding="utf-8"
    )
    assert all(
        f"  {json.dumps(name)}: {json.dumps(row)}" in text for name, row in table["options"].items()
    )
