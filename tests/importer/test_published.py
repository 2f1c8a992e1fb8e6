"""Import of manifests that projects publish, each with an API server's verdict (tests/recorded)."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest
import yaml

import ptcompile
from ptcompile.kinds.model import Kind
from ptcompile.operators import table as operators
from tests.places import places
from tests.recorded import changed, manifests, rows

Json = dict[str, Any]

TRAINS = re.compile(
    r"torchrun|torch\.distributed|pytorch|\btrain\w*\.py|accelerate launch|deepspeed", re.I
)


@cache
def published() -> dict[str, Json]:
    """Return the accepted training manifests by ID."""
    kinds = operators.kinds_with(Kind.read)
    accepted = {row["id"]: row["manifest"] for row in rows("apiserver/real") if row["accepted"]}
    return {
        name: manifest
        for name, manifest in accepted.items()
        if (manifest.get("apiVersion"), manifest.get("kind")) in kinds
        and (manifest["kind"] in {"PyTorchJob", "TrainJob"} or TRAINS.search(json.dumps(manifest)))
    }


LOUD = {"1e5ba629ec5d"}
"""A Volcano Job that runs PaddlePaddle, and a TrainJob that Trainer's webhook rejects. May only shrink."""


def written(imported: ptcompile.Imported) -> str:
    """Return what the imported spec compiles to, whatever rules find in it: some published jobs have their faults."""
    return ptcompile.compile(imported.yaml(), cluster=imported.profile, lint=False).yaml()


@pytest.mark.parametrize("name", published())
def test_each_imports_to_the_same_world_or_reports_an_error(name: str) -> None:
    manifest = published()[name]
    imported = ptcompile.import_manifests(manifest)
    if name in LOUD:
        assert not imported.ok
        assert all(diagnostic.path and diagnostic.message for diagnostic in imported.diagnostics)
        return
    assert imported.ok, imported.diagnostics
    difference = ptcompile.diff(manifest, written(imported), to_cluster=imported.profile)
    assert difference.ok
    assert [
        (change.before, change.after, change.facts)
        for change in difference.objects
        if change.facts or not change.after
    ] == []


@pytest.mark.parametrize(
    "name", [name for name, manifest in published().items() if manifest["kind"] == "PyTorchJob"]
)
def test_an_exact_import_of_a_pytorchjob_has_the_same_fields(name: str) -> None:
    manifest = published()[name]
    imported = ptcompile.import_manifests(manifest, exact=True)
    assert imported.found[0].same_manifest
    assert not ptcompile.diff(manifest, imported.yaml(), to_cluster=imported.profile).differs


def test_a_spec_is_shorter_than_its_manifest() -> None:
    """The median is at most 0.6 lines of spec per line of manifest, comments included."""
    ratios = []
    for manifest in published().values():
        imported = ptcompile.import_manifests(manifest)
        if imported.ok:
            lines = len(yaml.safe_dump(manifest, sort_keys=False).splitlines())
            ratios.append(len(imported.yaml().splitlines()) / lines)
    assert sorted(ratios)[len(ratios) // 2] <= 0.6


@pytest.mark.parametrize("name", published())
def test_lines_have_at_most_120_columns(name: str) -> None:
    """Exceptions are lines with a single string of the manifest, and comments of the proof about longer paths."""
    for line in ptcompile.import_manifests(published()[name]).yaml().splitlines():
        assert len(line) <= 120 or line.lstrip(" -").startswith(('"', "torchrun", "# differs"))


def _backwards(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _backwards(value[key]) for key in reversed(value)}
    return [_backwards(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", list(published())[::4])
def test_import_is_deterministic_and_ignores_the_order_of_keys(name: str) -> None:
    manifest = published()[name]
    first = ptcompile.import_manifests(manifest)
    assert ptcompile.import_manifests(manifest).yaml() == first.yaml()
    assert ptcompile.import_manifests(_backwards(manifest)).specs == first.specs


MUTATIONS: list[tuple[str, Any]] = [
    ("image", "other:1"),
    ("replicas", 3),
    ("restartPolicy", "Never"),
    ("value", "other"),
]


def _mutants() -> list[tuple[str, tuple[str | int, ...], Any]]:
    out = []
    for name, manifest in published().items():
        if name in LOUD or manifest["kind"] == "TrainJob":
            continue
        for path in places(manifest):
            new = next((value for key, value in MUTATIONS if path and path[-1] == key), None)
            if new is not None:
                out.append((name, path, new))
    return out


@pytest.mark.parametrize(("name", "path", "value"), _mutants()[::3])
def test_the_proof_detects_one_changed_field(
    name: str, path: tuple[str | int, ...], value: Any
) -> None:
    """The spec of a manifest differs from the manifest with one field changed, so the proof is not vacuous."""
    manifest = published()[name]
    mutant = changed(manifest, {"op": "set", "path": path, "value": value})
    if mutant == manifest:
        return
    imported = ptcompile.import_manifests(manifest, exact=True)
    assert ptcompile.diff(mutant, written(imported), to_cluster=imported.profile).differs
    again = ptcompile.import_manifests(mutant, exact=True)
    assert not again.ok or again.specs != imported.specs, (
        "and the mutant's own spec says what was changed"
    )


def test_a_mutant_imports_to_the_same_world_or_reports_an_error() -> None:
    """Any field set, removed, renamed or set to null: import never raises and loses nothing silently."""
    base, kinds = manifests("apiserver/real"), operators.kinds_with(Kind.read)
    mutants = [
        row
        for row in rows("apiserver/mutants")
        if (base[row["base"]]["apiVersion"], base[row["base"]]["kind"]) in kinds
    ]
    for row in mutants[::60]:
        mutant = changed(base[row["base"]], row)
        imported = ptcompile.import_manifests(mutant)
        if not imported.ok:
            assert all(
                diagnostic.path
                for diagnostic in imported.diagnostics
                if diagnostic.severity == "error"
            )
            continue
        difference = ptcompile.diff(mutant, imported.yaml(), to_cluster=imported.profile)
        if any(
            "is a placeholder" in diagnostic.message for diagnostic in imported.diagnostics
        ):  # compile rejects it, as the import warned
            assert {
                diagnostic.name
                for diagnostic in difference.diagnostics
                if diagnostic.severity == "error"
            } == {"invalid-image"}
            continue
        assert difference.ok, (row["base"], row["path"])
        lost = [
            change
            for change in difference.objects
            if change.facts or change.before is None or change.after is None
        ]
        assert lost == [], (row["base"], row["path"])
