"""What would be accepted and still go wrong: rules by the kinds that they are asked of.

A family is a package with one rule a file and the tuple `RULES`; it is imported when an object of its kind comes by.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from ptcompile.diagnostics import Problem
from ptcompile.plain import kind_of
from ptcompile.rules.rule import Found, Rule
from ptcompile.rules.subject import Stream, Subject
from ptcompile.versions import Versions

__all__ = ["FAMILIES", "Found", "Rule", "Stream", "Subject", "every_rule", "rules_of", "run"]

_ANY = ("containers", "pods")

FAMILIES: dict[tuple[str, str], tuple[str, ...]] = {
    ("v1", "Pod"): (*_ANY, "launch", "kueue"),
    ("v1", "Service"): ("services",),
    ("batch/v1", "Job"): (*_ANY, "jobs", "launch", "kueue"),
    ("kubeflow.org/v1", "PyTorchJob"): (*_ANY, "pytorchjob", "launch", "kueue"),
    ("batch.volcano.sh/v1alpha1", "Job"): (*_ANY, "volcano", "launch", "kueue"),
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): (*_ANY, "jobset", "launch", "kueue"),
    ("trainer.kubeflow.org/v1alpha1", "TrainJob"): ("trainjob", "launch", "kueue"),
    ("trainer.kubeflow.org/v1alpha1", "TrainingRuntime"): (*_ANY, "runtime"),
    ("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime"): (*_ANY, "runtime"),
}
"""Which families are asked of which kind, in this order."""


@cache
def rules_of(kind: tuple[str, str]) -> tuple[Rule, ...]:
    """The rules for objects of one apiVersion and kind."""
    found: list[Rule] = []
    for family in FAMILIES.get(kind, ()):
        found += import_module(f"ptcompile.rules.{family}").RULES
    return tuple(found)


def every_rule() -> tuple[Rule, ...]:
    """All rules, each once, in the order of their codes' families."""
    return tuple(dict.fromkeys(rule for kind in FAMILIES for rule in rules_of(kind)))


def run(
    manifest: Mapping[str, Any],
    *,
    versions: Versions | None = None,
    others: Stream | Sequence[Mapping[str, Any]] = (),
    only: Collection[str] | None = None,
) -> Iterator[Problem]:
    """What the rules find in one object. `others` are the objects of its stream; `only` are the names to ask, or all.

    Who asks for every object of a stream makes one `Stream` of it: else its order is found again each time.

    Total: any data, never an exception.
    """
    rules = rules_of(kind_of(manifest))
    stream = others if isinstance(others, Stream) else Stream(others)
    subject = Subject(manifest, versions=versions, stream=stream)
    for rule in rules:
        if only is None or rule.name in only:
            for found in rule.check(subject):
                yield Problem(
                    name=rule.name,
                    path=found.path,
                    message=found.message,
                    help=found.help,
                    severity=rule.severity,
                    stage=rule.stage,
                    authority=rule.authority,
                    on_key=found.on_key,
                    fix=found.fix,
                )
