"""Schema files: each is used, is valid as JSON Schema and has no dangling references."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ptcompile._internal import schema_files
from ptcompile._internal.schema_files import load_table
from ptcompile.apiserver import kinds as schemas
from ptcompile.apiserver.kinds import CORE, CUSTOM, SHIPPED_GROUPS, other_kind

FOLDER = Path(__file__).resolve().parents[2] / "schemas"
GROUPS = sorted(
    path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("kubernetes/groups/*.json")
)
CRDS = [f"crds/{group}.json" for group in SHIPPED_GROUPS]
NAMES = [CORE, *sorted(CUSTOM.values()), *GROUPS]


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key in {"$ref", "x-in-crd"} and isinstance(value, str):
                yield value
            else:
                yield from _references(value)
    elif isinstance(node, list):
        for item in node:
            yield from _references(item)


@pytest.mark.parametrize("name", NAMES)
def test_is_json_schema(name: str) -> None:
    Draft202012Validator.check_schema(schema_files.load(name))


@pytest.mark.parametrize("name", [*NAMES, *CRDS])
def test_references_resolve(name: str) -> None:
    for reference in _references(schema_files.load(name)):
        file, definition = schemas.resolve(name, reference)
        assert definition in schema_files.load(file)["$defs"], reference


def test_every_file_is_used() -> None:
    files = {path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/**/*.json")}
    described = {
        name.removeprefix("descriptions/") for name in files if name.startswith("descriptions/")
    }
    schemas = {name for name in files if not name.startswith("descriptions/")}
    assert schemas == {*NAMES, *CRDS, "kubernetes/kinds.json", "kubernetes/gates.json"}
    assert described <= schemas


def test_every_kind_of_the_index_has_a_definition() -> None:
    index = schema_files.load("kubernetes/kinds.json")
    for api_version, kinds in index.items():
        for kind in kinds:
            place = other_kind((api_version, kind))
            assert place is not None
            assert place.definition in schema_files.load(place.document)["$defs"]


def test_the_index_has_the_versions_that_served_a_kind() -> None:
    place = other_kind(("resource.k8s.io/v1", "ResourceClaim"))
    assert place is not None
    assert [place.served((1, minor)) for minor in (33, 34, 37)] == [False, True, True]


def test_core_has_the_versions_from_1_30_on() -> None:
    have = schemas.versions()
    assert have[0] == "1.30"
    assert have == tuple(f"1.{30 + n}" for n in range(len(have)))


@pytest.mark.parametrize(
    ("server", "expected"),
    [((1, 33), "1.33"), ((1, 2), "1.30"), ((1, 99), "last"), ((2, 0), "last")],
)
def test_the_nearest_known_version_is_used(server: tuple[int, int], expected: str) -> None:
    assert schemas.known_version(server) == (
        schemas.versions()[-1] if expected == "last" else expected
    )


@pytest.mark.parametrize(
    ("document", "reference", "target"),
    [
        ("a/b.json", "#/$defs/X", ("a/b.json", "X")),
        ("a/b.json", "c.json#/$defs/X", ("a/c.json", "X")),
        ("a/b.json", "../k/core.json#/$defs/X", ("k/core.json", "X")),
    ],
)
def test_resolve_follows_references_between_files(
    document: str, reference: str, target: tuple[str, str]
) -> None:
    assert schemas.resolve(document, reference) == target


def test_a_schema_that_does_not_exist_raises() -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.json"):
        schema_files.schema_text("nothing.json")


@pytest.mark.parametrize(
    ("api_version", "kind", "is_rejected"),
    [
        ("core/v1", "ConfigMap", True),
        ("v1/", "ConfigMap", True),
        ("a/b/c", "ConfigMap", True),
        ("v2", "ConfigMap", True),
        ("kubeflow/v1", "PyTorchJob", True),
        ("/v1", "ConfigMap", False),
        ("example.com/v1", "ConfigMap", False),
        ("skaffold/v4", "Config", False),
        ("a/b/c", "Unknown", False),
    ],
)
def test_api_versions_that_no_server_has_are_rejected(
    api_version: str, kind: str, is_rejected: bool
) -> None:
    problems = schemas.check_api_version({"apiVersion": api_version, "kind": kind}, (1, 36))
    assert [problem.name for problem in problems or ()] == (["no-such-kind"] if is_rejected else [])


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (("v1", "Pod"), True),
        (("batch/v1", "Job"), True),
        (("apps/v1", "ControllerRevision"), True),
        (("coordination.k8s.io/v1", "Lease"), True),
        (("kubeflow.org/v1", "PyTorchJob"), False),
        (("acme.io/v1", "Thing"), False),
        (("v1", "Thing"), False),
    ],
)
def test_only_kinds_of_kubernetes_itself_are_built_in(
    kind: tuple[str, str], expected: bool
) -> None:
    assert schemas.is_built_in(kind) is expected


def test_the_functions_that_tables_of_kinds_name_exist() -> None:
    checks = load_table("apiserver/validation/kinds.json")["groups"].values()
    warnings = load_table("apiserver/warnings/kinds.json")["groups"].values()
    for package, rows in (
        ("validation", [row.get("checks", {}) for row in checks]),
        ("warnings", warnings),
    ):
        for name in {name for row in rows for name in row.values()}:
            assert callable(schemas.function_named(f"ptcompile.apiserver.{package}", name))
