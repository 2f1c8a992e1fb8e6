"""Calls of third-party rules, passes and targets; their exceptions become findings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from inspect import cleandoc

from ptcompile._internal.namedtuple import Any
from ptcompile.diagnostics import Problem, Problems, field_path
from ptcompile.extending import Extensions, Found, Rule
from ptcompile.kubernetes.unstructured import Json

_shared: ContextVar[dict[str, Any]] = ContextVar("shared")


def shared_state() -> dict[str, Any]:
    """Return the state that rules share while they check one object, such as the budget of
    declared rules.
    """
    return _shared.get({})


def rule_problems(extensions: Extensions, manifest: Json, others: Sequence[Json]) -> Problems:
    """Yield the findings of every rule for one object; `others` are the objects of its stream.
    Never raises.
    """
    _shared.set({})
    for rule in extensions.rules:
        if applies_to(rule, manifest):
            try:
                yield from [_to_problem(rule, finding) for finding in rule.check(manifest, others)]
            except Exception as error:  # third-party code
                is_declared = rule.check.__module__ == "ptcompile.extending.declared"
                help = (
                    "correct its expression" if is_declared else "report it to the plugin's author"
                )
                yield extension_failure(f"rule {rule.code} ({rule.name})", error, help)


def applies_to(rule: Rule, manifest: Json) -> bool:
    """Return whether a rule applies to objects of this kind."""
    kind = manifest.get("kind")
    return (
        not rule.kinds or kind in rule.kinds or f"{manifest.get('apiVersion')}/{kind}" in rule.kinds
    )


def extension_failure(subject: str, error: BaseException, help: str) -> Problem:
    """Return the finding for third-party code that raised an exception."""
    cause = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return Problem(
        "extension-failed", (), f"{subject} failed: {cause}", help, "error", "run", "ptcompile"
    )


def _to_problem(rule: Rule, finding: object) -> Problem:
    if not isinstance(finding, Found):
        raise TypeError(f"check must yield Found(path, message), not {type(finding).__name__}")

    problem = Problem(
        name=rule.name,
        path=tuple(finding.path),
        text=str(finding.text),
        help=finding.help,
        severity=finding.severity or rule.severity,
        stage=rule.stage,
        authority=rule.authority,
        on_key=finding.on_key,
        fix=finding.fix,
        code=rule.code,
        owner=rule.owner or "custom rule",
        page=rule.url,
        field=finding.field,
    )

    return led_by_field(problem)


def led_by_field(problem: Problem) -> Problem:
    """Return a plugin's problem, whose text is the whole sentence, in the form of `problem_at` if
    the sentence begins with the problem's field.
    """
    start = f"{field_path(problem.path)}: "
    if problem.field != "" or not problem.text.startswith(start):
        return problem
    return problem._replace(text=problem.text.removeprefix(start), field=None)


def title_and_page(rule: Rule) -> tuple[str, str]:
    """Return a rule's title and its whole page."""
    page = cleandoc(rule.page or rule.check.__doc__ or rule.name)
    return " ".join(page.partition("\n\n")[0].split()), page


def find_rule(extensions: Extensions, query: str) -> Rule | None:
    """Return the rule with a code or name, or None."""
    return next((rule for rule in extensions.rules if query in (rule.code, rule.name)), None)


def terminal_page(rule: Rule) -> str:
    """Return the page of a rule as text for a terminal."""
    _, page = title_and_page(rule)
    head = f"{rule.code} {rule.name}  ({rule.severity}, stage {rule.stage}, {rule.authority})"
    return f"{head}\n\n{page}\n"


def pages(extensions: Extensions, names: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return title and Markdown page of each name that is an extension's rule."""
    requested = set(names)
    return {rule.name: title_and_page(rule) for rule in extensions.rules if rule.name in requested}


def as_dicts(extensions: Extensions) -> list[dict[str, str]]:
    """Return every rule as plain data, like `linter.pages.as_dicts`; the page is one string."""
    return [
        {
            "code": rule.code,
            "name": rule.name,
            "severity": rule.severity,
            "stage": rule.stage,
            "authority": rule.authority,
            "title": title_and_page(rule)[0],
            "page": title_and_page(rule)[1],
        }
        for rule in extensions.rules
    ]
