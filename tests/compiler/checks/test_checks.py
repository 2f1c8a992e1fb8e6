"""The registries of spec checks and target checks: completeness, order and reported paths."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from ptcompile.compiler import checks
from ptcompile.compiler.checks import CHECKS, check, check_target
from ptcompile.compiler.frontend.lowering import lower
from ptcompile.compiler.frontend.parts import parts_of
from ptcompile.compiler.frontend.reader import decode_spec
from tests.making import DEFAULT_CLUSTER, context, documents, smallest


def _public(module: ModuleType, first: str, returned: str) -> Iterator[object]:
    for name, function in inspect.getmembers(module, inspect.isfunction):
        signature = inspect.signature(function)
        given = [f"{parameter.annotation}" for parameter in signature.parameters.values()]
        if (
            function.__module__ == module.__name__
            and not name.startswith("_")
            and given[:1] == [first]
        ):
            assert signature.return_annotation == returned
            yield function


def test_every_check_is_registered() -> None:
    names = [module.name for module in iter_modules(checks.__path__, "ptcompile.compiler.checks.")]
    found = {
        one for name in names for one in _public(import_module(name), "Parts", "Iterator[Problem]")
    }
    asked = {one for one in CHECKS if one.__module__ in names}
    assert {one for one in found - asked if getattr(one, "__name__", "") != "fit"} == set()
    assert len(CHECKS) == len(set(CHECKS))


def test_findings_come_in_the_order_of_the_checks() -> None:
    spec, _ = decode_spec(
        *documents(
            smallest("resources: {cpu: 2, requests: {cpu: 4}}\nqueue: A_b\ntolerations: [{x: 1}]")
        )
    )
    assert spec is not None
    names = [finding.problem.path[1] for finding in check(parts_of(spec, DEFAULT_CLUSTER))]
    assert names == ["queue", "resources", "tolerations"]


def test_target_checks_report_unsupported_fields() -> None:
    spec, _ = decode_spec(
        *documents(smallest("nodes: 2\nenv: {RANK: '0'}\nmanifest: {pod: {x: 1}, jobb: {}}"))
    )
    assert spec is not None
    problems = check_target(spec, lower(spec, DEFAULT_CLUSTER), context(target="pod"))
    assert {(finding.problem.name, finding.problem.path[1]) for finding in problems} == {
        ("unsupported-by-target", "nodes"),
        ("unknown-target", "manifest"),
    }
