"""Asking one rule of a small manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from ptcompile.diagnostics import Problem
from ptcompile.linter import every_rule, run
from ptcompile.linter.rule import Rule

Json = dict[str, Any]


def of_families(*names: str) -> list[Rule]:
    """The rules of these families."""
    return [rule for rule in every_rule() if {*rule.check.__module__.split(".")[2:4]} & {*names}]


def ask(rule: str, text: str, **added: Any) -> list[Problem]:
    """What a rule finds in the first object of a stream of YAML."""
    first, *others = yaml.safe_load_all(text)
    return list(run(first, stream=[first, *others], only={rule}, **added))


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
    return list(run(manifest, stream=[manifest, *others], only={rule}))


def fires(rule: str, manifest: Mapping[str, Any], *others: Mapping[str, Any]) -> bool:
    """Whether a rule finds anything."""
    return bool(found(rule, manifest, *others))
