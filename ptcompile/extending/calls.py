"""Rules, passes and targets of others are called here: an exception of theirs becomes a finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from inspect import cleandoc

from ptcompile.diagnostics import Problem
from ptcompile.extending import Extensions, Found, Rule

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


def text(rule: Rule) -> tuple[str, str]:
    """A rule's title, and its whole page."""
    page = cleandoc(rule.page or rule.check.__doc__ or rule.name)
    return " ".join(page.partition("\n\n")[0].split()), page


def named(extensions: Extensions, word: str) -> Rule | None:
    """The rule of a code or a name, or None."""
    return next((one for one in extensions.rules if word in (one.code, one.name)), None)


def explained(rule: Rule) -> str:
    """The page of a rule, for a terminal."""
    return f"{rule.code} {rule.name}  ({rule.severity}, stage {rule.stage}, {rule.authority})\n\n{text(rule)[1]}\n"


def pages(extensions: Extensions, names: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Of each name that is a rule's here, its title and its page as Markdown."""
    wanted = set(names)
    return {rule.name: text(rule) for rule in extensions.rules if rule.name in wanted}


def as_dicts(extensions: Extensions) -> list[dict[str, str]]:
    """Every rule as plain data, as `linter.pages.as_dicts` has the built-in ones: their page is a text."""
    return [
        {
            "code": rule.code,
            "name": rule.name,
            "severity": rule.severity,
            "stage": rule.stage,
            "authority": rule.authority,
            "title": text(rule)[0],
            "page": text(rule)[1],
        }
        for rule in extensions.rules
    ]
