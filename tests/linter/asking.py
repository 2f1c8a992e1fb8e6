"""Helpers that run one rule on a small manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from ptcompile.diagnostics import Problem
from ptcompile.linter import every_rule, run
from ptcompile.linter.rule import Rule

Json = dict[str, Any]


def of_families(*names: str) -> list[Rule]:
    """Return the rules of these families."""
    return [rule for rule in every_rule() if {*rule.check.__module__.split(".")[2:4]} & {*names}]


def ask(rule: str, text: str, **added: Any) -> list[Problem]:
    """Return what a rule finds in the first object of a YAML stream."""
    first, *others = yaml.safe_load_all(text)
    return list(run(first, stream=[first, *others], only={rule}, **added))


def pod(**spec: Any) -> Json:
    """Return a Pod with these fields; it has no container unless one is given."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "train"},
        "spec": {"restartPolicy": "Never", **spec},
    }


def container(**fields: Any) -> Json:
    """Return a Pod with one container that has these fields."""
    return pod(containers=[{"name": "pytorch", "image": "train:1", **fields}])


def problems_of(
    rule: str, manifest: Mapping[str, Any], *others: Mapping[str, Any]
) -> list[Problem]:
    """Return what a rule finds in an object of a stream."""
    return list(run(manifest, stream=[manifest, *others], only={rule}))


def fires(rule: str, manifest: Mapping[str, Any], *others: Mapping[str, Any]) -> bool:
    """Return whether a rule finds anything."""
    return bool(problems_of(rule, manifest, *others))
