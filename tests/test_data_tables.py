"""The tables of facts in the package: rows of the right form, each fact once, and sources for every group of rows."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest

from ptcompile._internal.schema_files import load_table
from ptcompile._internal.spelling import normalize
from ptcompile.api.reference import SCHEMAS
from ptcompile.apiserver.roundtrip import SHAPES, read_shapes
from ptcompile.cli.commands import COMMANDS, SHARED
from ptcompile.cli.commands.completion import SHELLS
from ptcompile.cli.commands.upgrade import _SOFTWARE
from ptcompile.diagnostics.terms import Effect
from ptcompile.hardware.accelerators import ROWS
from ptcompile.hardware.fabrics import FABRICS, FabricNeeds, Tuning
from ptcompile.hardware.machines import MACHINES
from ptcompile.hardware.nodes import ANYWHERE, VENDORS
from ptcompile.kubernetes.versions import Versions
from ptcompile.linter.devices import Stack
from ptcompile.operators.targets import TARGETS
from tests.conftest import ROOT

PACKAGE = Path(__file__).parent.parent / "ptcompile"
TABLES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.json"))
DATED = re.compile(r"\(20\d\d(-\d\d(-\d\d)?)?\)|, 20\d\d\)")
"""The end of a source: when it was read."""

MACHINE: dict[str, type] = {
    "accelerator": str,
    "clouds": list,
    "name": str,
    "devices": int,
    "cpu": int,
    "memory": int,
    "fabrics": dict,
}
ACCELERATOR: dict[str, type] = {"vendor": str, "nodes": dict}
MORE_OF_ACCELERATOR: dict[str, type] = {
    "slices": list,
    "cubes": int,
    "unavailable_slices": dict,
    "processes": int,
    "domain": int,
    "arm": bool,
    "note": str,
}


def check(row: dict[str, Any], required: Mapping[str, type], optional: Mapping[str, type]) -> None:
    assert row.keys() >= required.keys(), row
    assert row.keys() <= required.keys() | optional.keys(), row
    for key, value in row.items():
        assert type(value) is {**required, **optional}[key], (key, row)


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    repeated = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
    assert repeated == []
    return dict(pairs)


@pytest.mark.parametrize("name", TABLES)
def test_no_key_is_written_twice(name: str) -> None:
    """JSON itself keeps the last one."""
    text = (PACKAGE / name).read_text(encoding="utf-8")
    assert json.loads(text, object_pairs_hook=unique_keys) == load_table(name)
    assert text.endswith("}\n")


def test_a_repeated_key_is_noticed() -> None:
    with pytest.raises(AssertionError):
        json.loads('{"a": 1, "a": 2}', object_pairs_hook=unique_keys)


def test_the_table_of_machines_has_its_form() -> None:
    table = load_table("hardware/machines.json")
    lines = (PACKAGE / "hardware" / "machines.json").read_text(encoding="utf-8").splitlines()
    for row in table["machines"]:
        check(row, MACHINE, {"disk": str, "pods": int})
        assert f"    {json.dumps(row)}" in {line.rstrip(",") for line in lines}, "one row a line"
        assert row["devices"] > 0
        assert bool(row["cpu"]) == bool(row["memory"])
        assert row["fabrics"].keys() <= FABRICS.keys()
        assert all(count > 0 for count in row["fabrics"].values())
        assert re.fullmatch(r"\d+Gi?", row.get("disk", "1G"))

    assert max(Counter(row["name"] for row in table["machines"]).values()) == 1
    assert sum(len(row["clouds"]) for row in table["machines"]) == sum(
        len(machines) for by_cloud in MACHINES.values() for machines in by_cloud.values()
    )


def test_machines_have_sources() -> None:
    table = load_table("hardware/machines.json")
    clouds = {cloud for row in table["machines"] for cloud in row["clouds"]}
    assert table["sources"].keys() == (clouds - {ANYWHERE}) | {"pods"}
    for name, sources in table["sources"].items():
        assert DATED.search(" ".join(sources)), name
    for row in table["machines"]:
        assert row["clouds"] != [ANYWHERE], "the source is that of a cloud"


def test_the_table_of_accelerators_has_its_form() -> None:
    table = load_table("hardware/accelerators.json")
    for row in table["accelerators"].values():
        check(row, ACCELERATOR, MORE_OF_ACCELERATOR)
        assert row["vendor"] in VENDORS
    assert table["aliases"].items() == {
        (alias, name) for alias, name in table["aliases"].items() if name in ROWS
    }


def test_accelerators_have_sources() -> None:
    table = load_table("hardware/accelerators.json")
    rows = table["accelerators"].values()
    clouds = {cloud for row in rows for cloud in row["nodes"]} - {ANYWHERE}
    facts = {key for row in rows for key in row.keys() & {"unavailable_slices", "domain", "cubes"}}
    assert table["sources"].keys() == clouds | VENDORS.keys() | facts | {"mig", "aliases"}
    assert {name for name, source in table["sources"].items() if not DATED.search(source)} == {
        "aliases"
    }


def test_the_table_of_fabrics_has_its_form() -> None:
    rows = load_table("hardware/fabrics.json")["fabrics"]
    replacements = [
        other for row in rows.values() for other in row.get("by_accelerator", {}).values()
    ]
    fields = {*FabricNeeds._fields, "note", "interfaces", "device_files"} - {"annotations"}
    for row in [*rows.values(), *replacements]:
        assert row.keys() <= fields
        assert row["source"]
        assert all(type(value) is str for value in row["env"].values())
    assert {name for row in rows.values() for name in row.get("by_accelerator", {})} <= ROWS.keys()
    assert {
        fabric for row in rows.values() for fabric in row.get("companions", {}).values()
    } <= rows.keys()


def test_recommended_variables_name_their_source() -> None:
    table = load_table("hardware/fabrics.json")
    for row in table["tunings"]:
        assert row.keys() == set(Tuning._fields)
        assert row["fabric"] in table["fabrics"]
        assert set(row["accelerators"]) <= ROWS.keys()
        assert DATED.search(row["source"])
        assert all(type(value) is str for value in row["env"].values())


def test_products_are_in_the_catalog() -> None:
    table = load_table("hardware/products.json")
    assert {name for names in table["models"].values() for name in names} <= ROWS.keys()
    assert set(table["families"].values()) <= ROWS.keys()
    assert table["fabrics"].keys() <= FABRICS.keys()
    assert not table["models"].keys() & set(table["other_models"])
    for words in (table["other_models"], table["sizes_and_forms"], *table["fabrics"].values()):
        assert len(set(words)) == len(words)


def test_no_name_of_another_tool_has_two_meanings() -> None:
    table = load_table("compiler/frontend/aliases.json")
    rows = [row for group in table["spec"].values() for row in group]
    for row in rows:
        check(row, {"field": str, "note": str, "names": list}, {})
        assert row["names"]
    assert max(Counter((row["field"], row["note"]) for row in rows).values()) == 1
    assert "Slurm" in table["sources"]
    assert table["values"]["target"].keys() == {*TARGETS}
    for names in table["values"].values():
        others = [normalize(name) for words in names.values() for name in words]
        assert len(set(others)) == len(others)


def test_a_longer_spec_path_comes_before_its_beginnings() -> None:
    """The first matching row applies, so a row after its own beginning would never be read."""
    paths = [row["spec"] for row in load_table("flyte/origins.json")["origins"]]
    for index, path in enumerate(paths):
        assert not [before for before in paths[:index] if f"{path}.".startswith(f"{before}.")], path


def test_the_table_of_stacks_names_its_sources() -> None:
    table = load_table("linter/stacks.json")
    fields: dict[str, type] = {**dict.fromkeys(Stack._fields, list), "name": str, "images": str}
    for row in table["stacks"]:
        check(row, fields, {})
        re.compile(row["images"])
    names = Counter(name for row in table["stacks"] for name in row["resources"])
    assert max(names.values()) == 1
    assert all(DATED.search(source) for source in table["sources"].values())


def test_each_pair_of_releases_names_its_source() -> None:
    for pair in load_table("linter/releases.json")["pairs"]:
        ends = {"releases": list, "others": list}
        texts = dict.fromkeys(("software", "other", "api", "effect", "help", "source"), str)
        check(pair, {**texts, **ends, "queued": bool}, {})
        assert {pair["software"], pair["other"]} <= set(Versions._fields)
        assert DATED.search(pair["source"])


def test_the_table_of_cluster_scoped_kinds_names_its_sources() -> None:
    table = load_table("linter/cluster_scoped.json")
    assert all(len(set(names)) == len(names) for names in table["groups"].values())
    assert all(DATED.search(source) for source in table["sources"].values())


def test_pages_of_codes_have_their_parts() -> None:
    for page in load_table("linter/code_pages.json").values():
        check(page, {"title": str, "fix": str}, {})
        assert page["title"].endswith(".")
        assert not page["fix"].endswith(".")


def test_the_table_of_codes_has_its_form() -> None:
    table = load_table("diagnostics/codes.json")
    rows = [row for family in table["families"].values() for row in family.items()]
    assert max(Counter(name for name, _ in rows).values()) == 1
    assert max(Counter(code for _, code in rows).values()) == 1
    assert table["effects"].keys() <= {name for name, _ in rows}
    assert set(table["effects"].values()) <= set(get_args(Effect))


def test_sentences_of_explanations_end_with_a_full_stop() -> None:
    table = load_table("explainer/sentences.json")
    for sentences in (table["spec"], table["target"], *table["passes"].values()):
        assert all(text.endswith(".") for text in sentences.values())


def test_the_table_of_probes_has_its_form() -> None:
    table = json.loads((ROOT / "schemas" / "probes.json").read_text(encoding="utf-8"))
    for row in table:
        check(row, {"name": str, "spec": dict}, {"profile": dict})


def test_the_table_of_immutable_fields_has_its_form() -> None:
    table = load_table("apiserver/validation/immutable_fields.json")
    assert table["source"].startswith("Kubernetes 1.36")
    assert all(kind.count("/") == 1 for kind in (*table["immutable"], *table["mutable"]))
    assert all(
        type(why) is str for fields in table["immutable"].values() for why in fields.values()
    )


def test_helps_of_kueues_rules() -> None:
    table = load_table("operators/kueue/objects/rule_helps.json")
    assert table["source"].startswith("Kueue 0.19")
    for row in table["helps"].values():
        check(row, {"field": list, "help": str}, {})


def test_launchers_have_sources() -> None:
    table = load_table("simulator/launchers/launchers.json")
    assert table["sources"].keys() == table["launchers"].keys()
    for row in table["launchers"].values():
        assert not [flag for flag in row.get("flags", ()) if flag.endswith("-")], (
            "a name was broken at a hyphen"
        )


@pytest.mark.parametrize("name", ["apiserver/go_shapes.json", "operators/jobset/go_shapes.json"])
def test_shapes_name_only_earlier_ones(name: str) -> None:
    table = load_table(name)
    known = {} if name.startswith("apiserver") else SHAPES
    assert table["source"]
    assert not re.search("'<[a-z]", repr(read_shapes(name, known).values())), (
        "a name stands for no shape"
    )


@pytest.mark.parametrize(
    "name",
    [
        *("kubernetes/wrappers.json", "source/yaml_errors.json", "explainer/companions.json"),
        *("linter/environment.json", "linter/folders.json", "linter/meshes.json"),
        *("apiserver/validation/flow_schemas.json", "apiserver/validation/zones.json"),
        *("differ/pod_changes.json", "flyte/tables.json", "server/references.json"),
    ],
)
def test_tables_name_their_source(name: str) -> None:
    table = load_table(name)
    assert table.get("source") or table["sources"].keys() == table.keys() - {"sources"}


def test_every_command_has_its_function() -> None:
    used = Counter(
        row for command in COMMANDS.values() for row in command.options if isinstance(row, str)
    )
    used += Counter(row for rows in SHARED.values() for row in rows if isinstance(row, str))
    assert {name for name, count in used.items() if count > 1} | {"timeout"} == SHARED.keys(), (
        "share what is shared"
    )
    for command in COMMANDS.values():
        module = import_module(f"ptcompile.cli.commands.{command.module}")
        assert callable(getattr(module, command.function))


def test_options_offer_what_other_tables_have() -> None:
    releases = [row["names"][0] for row in COMMANDS["upgrade"].options if isinstance(row, dict)]
    software = [name.replace("_", "-") for name in _SOFTWARE]
    assert [name for name in releases if name.startswith("--to-")] == [
        f"--to-{name}" for name in software
    ]
    assert [name for name in releases if name.removeprefix("--") in software] == [
        f"--{name}" for name in software
    ]
    for command, choices in (("schema", SCHEMAS), ("completion", SHELLS)):
        option = COMMANDS[command].options[0]
        assert isinstance(option, dict)
        assert option["choices"] == [*choices]
