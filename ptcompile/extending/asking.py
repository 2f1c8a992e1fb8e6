"""What the rules of plugins and of the configuration find in an object. A rule that fails is itself a finding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar

from ptcompile.extending import Extensions, Found, Rule
from ptcompile.findings.diagnostics import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_shared: ContextVar[dict[str, Any]] = ContextVar("shared")


def shared() -> dict[str, Any]:
    """Return what the rules of one object share, such as the budget of declared rules."""
    return _shared.get({})


def problems(
    extensions: Extensions, manifest: Mapping[str, Any], others: Sequence[Mapping[str, Any]]
) -> Iterator[Problem]:
    """The findings of every rule in one object; `others` are the objects of its stream. Total."""
    _shared.set({})
    for rule in extensions.rules:
        if asked_of(rule, manifest):
            try:
                yield from [_problem(rule, one) for one in rule.check(manifest, others)]
            except Exception as error:  # third-party code
                yield failed(f"rule {rule.code} ({rule.name})", error, "report it to the plugin's author")


def asked_of(rule: Rule, manifest: Mapping[str, Any]) -> bool:
    """Whether a rule is asked of objects of this kind."""
    kind = manifest.get("kind")
    return not rule.kinds or kind in rule.kinds or f"{manifest.get('apiVersion')}/{kind}" in rule.kinds


def failed(what: str, error: BaseException, help: str) -> Problem:
    """What is said of third-party code that raised an exception."""
    said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return Problem("extension-failed", (), f"{what} failed: {said}", help, "error", "run", "ptcompile")


def _problem(rule: Rule, found: object) -> Problem:
    if not isinstance(found, Found):
        raise TypeError(f"check gives Found(path, message), and not {type(found).__name__}")
    return Problem(
        name=rule.name,
        path=tuple(found.path),
        message=str(found.message),
        help=found.help,
        severity=found.severity or rule.severity,
        stage=rule.stage,
        authority=rule.authority,
        on_key=found.on_key,
        fix=found.fix,
        code=rule.code,
    )
