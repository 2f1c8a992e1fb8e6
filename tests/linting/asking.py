"""Asking one rule of a small manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from ptcompile.findings.diagnostics import Edit, Path, Problem
from ptcompile.linting import every_rule, run
from ptcompile.linting.rule import Rule

Json = dict[str, Any]


def of_families(*names: str) -> list[Rule]:
    """The rules of these families."""
    return [rule for rule in every_rule() if rule.check.__module__.split(".")[2] in names]


def ask(rule: str, text: str, **added: Any) -> list[Problem]:
    """What a rule finds in the first object of a stream of YAML."""
    first, *others = yaml.safe_load_all(text)
    return list(run(first, others=[first, *others], only={rule}, **added))


def pod(**spec: Any) -> Json:
    """A Pod with these fields, and no container where none is given."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "train"},
        "spec": {"restartPolicy": "Never", **spec},
    }


def container(**fields: Any) -> Json:
    """A Pod with one container that has these fields."""
    return pod(containers=[{"name": "pytorch", "image": "train:1", **fields}])


def found(rule: str, manifest: Mapping[str, Any], *others: Mapping[str, Any]) -> list[Problem]:
    """What a rule finds in an object, among others of its stream."""
    return list(run(manifest, others=[manifest, *others], only={rule}))


def fires(rule: str, manifest: Mapping[str, Any], *others: Mapping[str, Any]) -> bool:
    """Whether a rule finds anything."""
    return bool(found(rule, manifest, *others))


def applied(document: Any, edit: Edit) -> Any:
    """A copy of the document with one edit made."""
    if edit.op == "append":
        return _changed(document, edit.path, lambda old: [*(old or []), edit.value])
    *above, key = edit.path
    return _changed(document, tuple(above), lambda old: _edited(old, key, edit))


def _changed(node: Any, path: Path, change: Any) -> Any:
    if not path:
        return change(node)
    head, rest = path[0], path[1:]
    if isinstance(node, list):
        return [_changed(one, rest, change) if i == head else one for i, one in enumerate(node)]
    return {**(node or {}), head: _changed((node or {}).get(head), rest, change)}


def _edited(old: Any, key: Any, edit: Edit) -> Any:
    if isinstance(old, list):
        kept = [edit.value] if edit.op == "set" else []
        return [*old[:key], *kept, *old[key + 1 :]]
    if edit.op == "rename":
        return {edit.value if k == key else k: v for k, v in old.items()}
    left = {k: v for k, v in (old or {}).items() if edit.op == "set" or k != key}
    return {**left, key: edit.value} if edit.op == "set" else left
