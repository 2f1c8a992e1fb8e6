"""What would be accepted and still go wrong: rules by the kinds that they are asked of.

A family is a package with one rule a file and the table `RULES`: each module's name, in the order in which they are
asked, with the words without which its rule finds nothing (`needs` says what a word is; an empty text is a rule that is
always asked). A family is imported when an object of its kind comes by, a rule when the object has its words. A new
rule gets its words by reading its check: what has to be written in an object that it finds something in? Where that is
too narrow, findings are lost; `tests/linter/test_needs.py` asks every rule with and without its words to see that none
is. Where nothing comes to mind the text stays empty.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib import import_module

from ptcompile.diagnostics import Problem
from ptcompile.kubernetes.unstructured import kind_of
from ptcompile.kubernetes.versions import Versions
from ptcompile.linter.needs import Needs, parse_needs, words_of
from ptcompile.linter.oversized import oversized_parts
from ptcompile.linter.rule import Finding, Rule
from ptcompile.linter.subject import Subject, drop_subject, subject_of
from ptcompile.linter.workload import Stream
from ptcompile.registry.table import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.diagnostics import Path

__all__ = ["FAMILIES", "Finding", "Rule", "Stream", "Subject", "every_rule", "rule_named", "rules_of", "run"]

FAMILIES: dict[tuple[str, str], tuple[str, ...]] = {
    **{key: ("linter.rules.objects", *kind.rules) for key, (_, kind) in KINDS.items() if kind.rules},
    ("v1", "Service"): ("linter.rules.objects", "linter.rules.services"),
    ("v1", "ConfigMap"): ("linter.rules.objects",),
    ("v1", "Secret"): ("linter.rules.objects",),
    ("v1", "PersistentVolumeClaim"): ("linter.rules.objects",),
    ("networking.k8s.io/v1", "NetworkPolicy"): ("linter.rules.objects", "linter.rules.policies"),
}
"""Which families are asked of which kind, in this order."""


RuleEntry = tuple[str, str, Needs]
"""A rule before it is loaded: its name, its module, what it needs."""


def rules_of(kind: tuple[str, str]) -> tuple[Rule, ...]:
    """The rules for objects of one apiVersion and kind, whatever the words of the object are."""
    return tuple(_load_rule(module) for _, module, _ in _rule_entries(kind))


def every_rule() -> tuple[Rule, ...]:
    """All rules, each once, in the order of their codes' families."""
    return tuple(dict.fromkeys(rule for kind in FAMILIES for rule in rules_of(kind)))


def rule_named(name: str) -> Rule | None:
    """The rule of a name, which alone is loaded; None for a name that belongs to no rule."""
    found = (module for kind in FAMILIES for one, module, _ in _rule_entries(kind) if one == name)
    module = next(found, None)
    return None if module is None else _load_rule(module)


@cache
def _rule_entries(kind: tuple[str, str]) -> tuple[RuleEntry, ...]:
    """The rules for objects of one kind, none of them loaded."""
    return tuple(
        (module.replace("_", "-"), f"ptcompile.{family}.{module}", parse_needs(text))
        for family in FAMILIES.get(kind, ())
        for module, text in import_module(f"ptcompile.{family}").RULES.items()
    )


@cache
def _needed_words(kind: tuple[str, str]) -> frozenset[str]:
    """All words that rules for objects of one kind need."""
    return frozenset().union(*(words for _, _, needed in _rule_entries(kind) for words in needed))


@lru_cache(maxsize=1024)
def _candidate_rules(kind: tuple[str, str], words: frozenset[str], only: frozenset[str] | None) -> tuple[Rule, ...]:
    """The rules that may find something in an object with no more words of theirs than these."""
    return tuple(
        _load_rule(module)
        for name, module, needed in _rule_entries(kind)
        if (only is None or name in only) and not any(map(words.isdisjoint, needed))
    )


@cache
def _load_rule(module: str) -> Rule:
    rule: Rule = import_module(module).RULE
    return rule


def run(
    manifest: Mapping[str, Any],
    *,
    versions: Versions | None = None,
    others: Stream | Sequence[Mapping[str, Any]] = (),
    only: Collection[str] | None = None,
    every: bool = False,
) -> Iterator[Problem]:
    """What the rules find in one object. `others` are the objects of its stream; `only` are the names to ask, or all.

    Who asks for every object of a stream makes one `Stream` of it: else its order is found again each time. `every`
    asks the rules that cannot find anything too, by the object's words: that changes nothing but the time it takes.

    A container whose references stand for too much is found whatever the rules. Total: any data, never an exception.
    """
    stream = others if isinstance(others, Stream) else Stream(others, versions)
    if kind_of(manifest) not in FAMILIES:
        return
    ours = versions in (None, stream.versions)
    subject = subject_of(manifest, stream) if ours else Subject(manifest, versions=versions, stream=stream)
    try:
        yield from _run_rules(subject, only, every)
    finally:
        drop_subject(subject)


def _run_rules(subject: Subject, only: Collection[str] | None, every: bool) -> Iterator[Problem]:
    known = _needed_words(subject.kind)
    words = None if every else words_of(subject)
    wanted = frozenset(only) if only is not None else None
    for rule in _candidate_rules(subject.kind, known if words is None else known.intersection(words), wanted):
        reported: set[tuple[Path, str]] = set()  # two roles may have one template, and so the same findings
        for found in rule.check(subject):
            if (found.path, found.message) in reported:
                continue
            reported.add((found.path, found.message))
            yield Problem(
                name=rule.name,
                path=found.path,
                message=found.message,
                help=found.help,
                severity=found.severity or rule.severity,
                stage=rule.stage,
                authority=rule.authority,
                on_key=found.on_key,
                fix=found.fix,
            )
    if only is None or "too-large" in only:
        yield from oversized_parts(subject.manifest, [(one.path, one.data) for one in subject.templates])
