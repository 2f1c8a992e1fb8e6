"""Rules for manifests that an API server would accept and that still fail or surprise, grouped by
the kinds they check.

A family is a package with one rule per file. A module has its rule's page as docstring and the
function `check`. The page's second paragraph is the rule's identity: its code and name, what its
findings say unless one says otherwise (severity, stage, authority), and what the rule needs: the
words without which it cannot find anything (`linter.needs` defines a word; a rule that needs none
always runs). `python schemas/update.py --rules` makes the family's table `rules.json` of it, whose
order is that of evaluation.

A family is read when the stream has an object of its kind, a rule imported when the object has its
words. To choose the words of a new rule, read its check: what must an object contain for it to find
anything? Too narrow a text loses findings; `tests/linter/test_needs.py` runs every rule with and
without its words and compares. If no word is certain, leave the text empty.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from importlib import import_module

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.diagnostics import Authority, Path, Problem, Problems, Severity, Stage
from ptcompile.kubernetes.requests import GroupVersionKind
from ptcompile.kubernetes.unstructured import Json
from ptcompile.kubernetes.versions import Versions
from ptcompile.linter.needs import Needs, parse_needs, rules_in, words_of
from ptcompile.linter.oversized import oversized_parts
from ptcompile.linter.rule import Finding, Rule, Subject, drop_subject, subject_of
from ptcompile.operators.table import KINDS, OPERATORS, kind_named
from ptcompile.world.workload import Stream

__all__ = [
    "FAMILIES",
    "Finding",
    "Rule",
    "Stream",
    "Subject",
    "every_rule",
    "rule_named",
    "rules_of",
    "run",
]

_TABLE = load_table("linter/families.json")
FAMILIES: dict[GroupVersionKind, tuple[str, ...]] = {
    **{
        key: ("linter.rules.objects", *kind.rules) for key, (_, kind) in KINDS.items() if kind.rules
    },
    **{(row["apiVersion"], row["kind"]): tuple(row["families"]) for row in _TABLE["other kinds"]},
    **{
        key: operator.foreign.rules
        for operator in OPERATORS
        if operator.foreign is not None
        for key in sorted(operator.foreign.kinds - KINDS.keys())
    },
}
"""The families that check each kind, in evaluation order."""

ANY_POD_RULES = frozenset(_TABLE["any pod"])
"""Rules that apply to the pods of any object; they check nothing specific to training."""


class RuleEntry(NamedTuple):
    """A rule that is not loaded yet: a row of its family's table."""

    name: str
    module: str
    severity: Severity
    stage: Stage
    authority: Authority
    needs: Needs


def rules_of(kind: GroupVersionKind) -> tuple[Rule, ...]:
    """Return all rules for objects of this apiVersion and kind."""
    return tuple(map(_load_rule, _rule_entries(kind)))


def every_rule() -> tuple[Rule, ...]:
    """Return all rules, each once, in the order of `FAMILIES`."""
    return tuple(dict.fromkeys(rule for kind in FAMILIES for rule in rules_of(kind)))


def rule_named(name: str) -> Rule | None:
    """Return the rule with this name, or None if there is no such rule. No other rule is loaded."""
    entries = (entry for kind in FAMILIES for entry in _rule_entries(kind) if entry.name == name)
    entry = next(entries, None)
    return None if entry is None else _load_rule(entry)


@cache
def _rule_entries(kind: GroupVersionKind) -> tuple[RuleEntry, ...]:
    """Return the rules for objects of this kind, without loading them."""
    entries = (
        RuleEntry(
            name=module.replace("_", "-"),
            module=f"ptcompile.{family}.{module}",
            severity=row["severity"],
            stage=row["stage"],
            authority=row["authority"],
            needs=parse_needs(row["needs"]),
        )
        for family in FAMILIES.get(kind, ())
        for module, row in rules_in(family).items()
    )
    if kind_named(kind).trains:
        return tuple(entries)

    return tuple(entry for entry in entries if not _is_about_training(entry))


def _is_about_training(entry: RuleEntry) -> bool:
    """Return whether a rule assumes that the pods train. Most rules about launches do not: they
    report nothing without torchrun anyway.
    """
    is_launch = entry.module.startswith(("ptcompile.operators.", "ptcompile.linter.rules.launch."))
    return entry.name not in _SERVICE_RULES and (not is_launch or entry.name in _TRAINING_RULES)


_SERVICE_RULES = ANY_POD_RULES | {"restart-always"}
"""Rules about pods that do not suppose that they train."""
_TRAINING_RULES = frozenset({"launch-not-understood", "launcher-alone", "one-process-for-gpus"})
"""Rules about launches that a service may well break."""


@cache
def _needed_words(kind: GroupVersionKind) -> frozenset[str]:
    """Return all words that rules for objects of this kind need."""
    return frozenset().union(*(words for entry in _rule_entries(kind) for words in entry.needs))


@lru_cache(maxsize=1024)
def _candidate_rules(
    kind: GroupVersionKind, words: frozenset[str], only: frozenset[str] | None
) -> tuple[Rule, ...]:
    """Return the rules that may find something in an object that contains these of their words."""
    return tuple(
        _load_rule(entry)
        for entry in _rule_entries(kind)
        if (only is None or entry.name in only) and not any(map(words.isdisjoint, entry.needs))
    )


@cache
def _load_rule(entry: RuleEntry) -> Rule:
    return Rule(
        name=entry.name,
        check=import_module(entry.module).check,
        severity=entry.severity,
        stage=entry.stage,
        authority=entry.authority,
    )


def run(
    manifest: Json,
    *,
    versions: Versions | None = None,
    stream: Stream | Sequence[Json] = (),
    only: Collection[str] | None = None,
    every: bool = False,
) -> Problems:
    """Yield the problems that the rules find in one object.

    `stream` has the objects of its file and of related files. A caller that checks every object
    passes one `Stream`, which is indexed once. `only` limits the rules to these names. `every` also
    runs the rules whose words the object lacks: the result is the same, only slower.

    A container whose references expand to too much text is reported in any case. Accepts any data;
    never raises.
    """
    indexed = stream if isinstance(stream, Stream) else Stream(stream, versions)
    is_own_release = versions in (None, indexed.versions)
    if is_own_release:
        subject = subject_of(manifest, indexed)
    else:
        subject = Subject(manifest, versions=versions, stream=indexed)

    try:
        if subject.kind in FAMILIES:
            yield from _run_rules(subject, only, every)
    finally:
        drop_subject(subject)


def _run_rules(subject: Subject, only: Collection[str] | None, every: bool) -> Problems:
    needed = _needed_words(subject.kind)
    words = None if every else words_of(subject)
    names = frozenset(only) if only is not None else None
    # two roles may share a template, and so its findings
    reported: set[tuple[str, Path, str]] = set()
    for rule in _candidate_rules(
        subject.kind, needed if words is None else needed.intersection(words), names
    ):
        for item in rule.check(subject):
            if subject.origins is not None or subject.mounted_scripts:
                finding = subject.placed(item, rule)
            else:
                finding = item
            if finding is None or (rule.name, finding.path, finding.text) in reported:
                continue

            reported.add((rule.name, finding.path, finding.text))
            yield Problem(
                name=rule.name,
                path=finding.path,
                text=finding.text,
                help=finding.help,
                severity=finding.severity or rule.severity,
                stage=rule.stage,
                authority=rule.authority,
                on_key=finding.on_key,
                fix=finding.fix,
                field=finding.field,
                setter=finding.setter,
                source=finding.source,
            )

    if subject.versions.declared and (only is None or "releases-apart" in only):
        from ptcompile.linter.releases import releases_apart

        yield from releases_apart(subject)
    if only is None or "too-large" in only:
        written = subject.templates if subject.made is subject.manifest else ()
        yield from oversized_parts(
            subject.manifest, [(template.path, template.data) for template in written]
        )
