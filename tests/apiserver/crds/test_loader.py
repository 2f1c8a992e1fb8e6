"""Schema files: regular files of limited size, and only those within a given folder."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from ptcompile._internal import limits
from ptcompile.apiserver.crds import loader
from ptcompile.apiserver.crds.loader import deprecation_of, files_of, read_definitions, to_dialect

CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
"""

posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes, devices and links")


@posix
@pytest.mark.parametrize("target", ["/dev/zero", "/etc/passwd", "../../outside.yaml", "pipe"])
def test_a_folder_with_a_file_that_is_not_read(target: str, tmp_path: Path) -> None:
    folder = tmp_path / "repo" / "crds"
    folder.mkdir(parents=True)
    (tmp_path / "repo" / ".git").mkdir()
    (tmp_path / "outside.yaml").write_text(CRD)
    (folder / "a.yaml").write_text(CRD)
    os.mkfifo(folder / "pipe")
    (folder / "b.yaml").symlink_to(target)
    with pytest.raises(ValueError, match=r"b\.yaml: (a link that leads out of|not a regular file)"):
        read_definitions([folder])
    (folder / "b.yaml").unlink()
    (folder / "b.yaml").symlink_to("a.yaml")
    assert len(read_definitions([folder]).kinds) == 1


@posix
def test_a_link_that_is_named_is_followed(tmp_path: Path) -> None:
    (tmp_path / "crds").mkdir()
    (tmp_path / "crds" / "a.yaml").write_text(CRD)
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "a.yaml").symlink_to("../crds/a.yaml")
    assert read_definitions([tmp_path / "repo" / "a.yaml"]).kinds


@pytest.mark.parametrize("name", ["a.yaml", "a.json"])
def test_a_file_that_is_too_large_is_rejected(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_in_force", [limits.TRUSTED._replace(characters=100)])
    (tmp_path / name).write_text(json.dumps({"description": "x" * 100}))
    with pytest.raises(ValueError, match="larger than 100 bytes"):
        read_definitions([tmp_path])


def test_endlessly_nested_json_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a":' * 100_000)
    with pytest.raises(ValueError, match=r"a\.json: nested too deeply"):
        read_definitions([tmp_path])


def test_a_folder_yields_its_schema_files_in_order(tmp_path: Path) -> None:
    for name in ("b/x.json", "b/y.txt", "a.yml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    files = [Path(file).relative_to(tmp_path).as_posix() for file in files_of(str(tmp_path))]
    assert files == ["a.yml", "b/x.json"]


def _spec(*versions: dict[str, object]) -> dict[str, object]:
    return {"group": "example.com", "names": {"kind": "Thing"}, "versions": list(versions)}


@pytest.mark.parametrize(
    ("version", "others", "text"),
    [
        ({"name": "v1"}, [], ""),
        ({"name": "v1", "deprecated": False}, [], ""),
        ({"name": "v1", "deprecated": True}, [], "example.com/v1 Thing is deprecated"),
        ({"name": "v1", "deprecated": True, "deprecationWarning": "use Box"}, [], "use Box"),
        (
            {"name": "v1beta1", "deprecated": True},
            [{"name": "v1alpha1"}, {"name": "v1beta2"}, {"name": "v1"}],
            "example.com/v1beta1 Thing is deprecated; use example.com/v1 Thing",
        ),
        (
            {"name": "v1", "deprecated": True},
            [{"name": "v10"}, {"name": "v2"}],
            "example.com/v1 Thing is deprecated; use example.com/v10 Thing",
        ),
        (
            {"name": "v2", "deprecated": True},
            [{"name": "v1"}, {"name": "v2beta1"}],
            "example.com/v2 Thing is deprecated",
        ),
        (
            {"name": "v1alpha1", "deprecated": True},
            [
                {"name": "v1alpha2"},
                {"name": "v1beta1", "served": False},
                {"name": "v1beta2", "deprecated": True},
            ],
            "example.com/v1alpha1 Thing is deprecated; use example.com/v1alpha2 Thing",
        ),
        (
            {"name": "v1alpha1", "deprecated": True},
            [{"name": "other"}],
            "example.com/v1alpha1 Thing is deprecated",
        ),
        (
            {"name": "x1", "deprecated": True},
            [{"name": "v1alpha1"}],
            "example.com/x1 Thing is deprecated; use example.com/v1alpha1 Thing",
        ),
        (
            {"name": "b", "deprecated": True},
            [{"name": "c"}, {"name": "a"}],
            "example.com/b Thing is deprecated; use example.com/a Thing",
        ),
        (
            {"name": "b", "deprecated": True},
            [{"name": "c"}],
            "example.com/b Thing is deprecated",
        ),
        (
            {"name": "v123456789", "deprecated": True},
            [{"name": "v123456790"}],
            "example.com/v123456789 Thing is deprecated; use example.com/v123456790 Thing",
        ),
    ],
)
def test_a_deprecated_version_warns_of_a_newer_one(
    version: dict[str, object], others: list[dict[str, object]], text: str
) -> None:
    """k8s.io/apiextensions-apiserver 1.36: handler.go, and apimachinery's version.CompareKubeAwareVersionStrings."""
    assert deprecation_of(_spec(version, *others), version) == text


RULE = {"rule": "true"}


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"type": "array"}, {"type": "array", "items": {}}),
        ({"type": "object"}, {"type": "object"}),
        (
            {"type": "object", "additionalProperties": True},
            {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        ),
        ({"type": "object", "additionalProperties": False}, {"type": "object"}),
        ({"type": "string", "description": "x"}, {"type": "string"}),
        (
            {
                "type": "object",
                "required": ["a", "b"],
                "properties": {"a": {"type": "string", "default": "x"}},
            },
            {
                "type": "object",
                "required": ["b"],
                "properties": {"a": {"type": "string", "default": "x"}},
            },
        ),
        (
            {"type": "string", "x-kubernetes-validations": [RULE]},
            {"type": "string", "x-rules": [RULE], "x-ruled": True},
        ),
        (
            {"type": "array", "items": {"type": "string", "x-kubernetes-validations": [RULE]}},
            {
                "type": "array",
                "items": {"type": "string", "x-rules": [RULE], "x-ruled": True},
                "x-ruled": True,
            },
        ),
        (
            {"type": "array", "items": {"type": "string"}},
            {"type": "array", "items": {"type": "string"}},
        ),
    ],
)
def test_schemas_are_converted(node: dict[str, object], expected: dict[str, object]) -> None:
    assert to_dialect(node) == expected


def test_an_embedded_object_has_a_type_and_metadata() -> None:
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True}
    converted = to_dialect({"type": "object", "properties": {"template": embedded}})
    template = converted["properties"]["template"]
    assert template["required"] == ["apiVersion", "kind"]
    assert template["x-embedded"] is True
    assert set(template["properties"]) == {"apiVersion", "kind", "metadata"}
    assert template["x-embeds"] is True
    assert converted["x-embeds"] is True
    assert "x-embeds" not in to_dialect({"type": "object"})


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("schemas/Batch/Job_v1.json", ("batch/job_v1", "job_v1")),
        ("job-batch-v1.json", ("job-batch-v1", "job-batch-v1")),
        ("a/b/c/d.json", ("c/d", "d")),
    ],
)
def test_a_schema_file_is_found_by_its_names(path: str, names: tuple[str, str]) -> None:
    assert loader._lookup_names(path.replace("/", os.sep)) == names
