"""The pages of the rules of plugins and of the configuration, for `explain`, `rules` and SARIF."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import cleandoc

from ptcompile.extending import Extensions, Rule


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
    """Every rule as plain data, as `linting.catalogue.as_dicts` has the built-in ones: their page is a text."""
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
