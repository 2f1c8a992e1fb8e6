"""Applies of custom resources: what the CRD says of nulls, list keys, defaults and changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ptcompile
from ptcompile.cli import main

Json = dict[str, Any]
SPEC: Json = {
    "type": "object",
    "properties": {
        "size": {"type": "integer", "default": 1},
        "name": {"type": "string"},
        "class": {
            "type": "string",
            "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "is fixed"}],
        },
        "maybe": {"type": "string", "nullable": True},
        "parts": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string"}},
            },
        },
    },
    "required": ["parts"],
}
CRD: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"kind": "Widget", "plural": "widgets"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": SPEC}}},
            }
        ],
    },
}


def widget(**spec: Any) -> Json:
    parts = [{"name": "a"}]
    return {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "w"},
        "spec": {"class": "x", "parts": parts, **spec},
    }


@pytest.fixture
def schemas(tmp_path: Path) -> str:
    (tmp_path / "crds").mkdir()
    (tmp_path / "crds" / "widgets.json").write_text(json.dumps(CRD))
    return str(tmp_path / "crds")


def rejections(
    old: Json, new: Json, schemas: str, *, server_side: bool = True
) -> list[tuple[str, str]]:
    difference = ptcompile.diff(
        old, new, server_side=server_side, schemas=[schemas] if schemas else []
    )
    return [
        (d.severity, ".".join(map(str, d.path)))
        for d in difference.diagnostics
        if d.stage == "apply"
    ]


def test_a_rule_for_changes_is_applied(schemas: str) -> None:
    (message,) = ptcompile.diff(widget(), widget(**{"class": "y"}), schemas=[schemas]).diagnostics
    assert message.path == ("spec", "class")
    assert "is fixed" in message.message
    assert rejections(widget(), widget(**{"class": "x"}), schemas) == []
    assert ptcompile.diff(widget(), widget(**{"class": "y"})).diagnostics == (), (
        "without its CRD, it is unknown"
    )


def test_a_null_is_rejected_unless_kubectl_removes_it(schemas: str) -> None:
    assert rejections(widget(), widget(name=None), schemas) == [("error", "spec.name")]
    assert rejections(widget(), widget(size=None), schemas) == [], "the default replaces it"
    assert rejections(widget(), widget(maybe=None), schemas) == []
    assert rejections(widget(), widget(name=None), schemas, server_side=False) == [], (
        "kubectl removes the field"
    )


def test_a_null_of_an_unknown_kind_is_a_warning() -> None:
    assert rejections(widget(), widget(name=None), "") == [("warning", "spec.name")]
    assert rejections(widget(), widget(name=None), "", server_side=False) == []
    assert (
        rejections(widget(), {**widget(), "metadata": {"name": "w", "labels": {"a": None}}}, "")
        == []
    )


def test_only_server_side_apply_rejects_an_empty_list_with_keys(schemas: str) -> None:
    assert rejections(widget(), widget(parts=[]), schemas) == [("error", "spec.parts")], (
        "nothing of it is left"
    )
    assert rejections(widget(), widget(parts=[]), schemas, server_side=False) == []


def test_defaults_are_no_differences(schemas: str) -> None:
    live = widget(size=1)
    live["metadata"] = {"name": "w", "namespace": "default", "uid": "1"}
    assert not ptcompile.diff(live, widget(), schemas=[schemas]).differs


def test_the_command_reads_schemas(
    tmp_path: Path, schemas: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "old.json").write_text(json.dumps(widget()))
    (tmp_path / "new.json").write_text(json.dumps(widget(**{"class": "y"})))
    command = ["diff", str(tmp_path / "old.json"), str(tmp_path / "new.json")]
    assert main([*command, "--schemas", schemas]) == 1
    assert "is fixed" in capsys.readouterr().err
    with pytest.raises(Exception, match="--schemas"):
        main([*command, "--schemas", str(tmp_path / "none")])
