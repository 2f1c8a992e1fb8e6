"""JobSet's failure policy: rules, restart strategies and the alpha gates (JobSet 0.12 webhook)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.kubernetes.untyped import items, text, texts
from ptcompile.operators.common.verdict import Say, hint, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json

_RULE_NAME = re.compile(r"[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?").fullmatch
_REASONS = (
    "BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded", "PodFailurePolicy",
)  # fmt: skip
_GATED = ("RestartJob", "RestartJobAndIgnoreMaxRestarts")


def failure_policy(policy: Json, known: Sequence[str], path: Path, say: Say) -> Iterator[Problem]:
    """The rules one by one. Gates that are off by default refuse what needs them."""
    if policy.get("restartStrategy") == "InPlaceRestart":
        text_ = "Forbidden: InPlaceRestart needs the feature gate InPlaceRestart, which is off by default"
        yield say((*path, "restartStrategy"), text_, "use Recreate or BlockingRecreate")
    seen: set[str] = set()
    for i, rule in enumerate(items(policy.get("rules"))):
        here = (*path, "rules", i)
        yield from _name(text(rule.get("name")), seen, here, say)
        if rule.get("action") in _GATED:
            text_ = f"Forbidden: {rule['action']} needs the feature gate RestartJob, which is off by default"
            yield say((*here, "action"), text_, "use FailJobSet, RestartJobSet or RestartJobSetAndIgnoreMaxRestarts")
        for j, reason in enumerate(texts(rule.get("onJobFailureReasons"))):
            if reason not in _REASONS:
                text_ = f'Unsupported value: "{reason}": supported values: {quoted(_REASONS)}'
                yield say((*here, "onJobFailureReasons", j), text_, hint(reason, _REASONS))
        for j, target in enumerate(texts(rule.get("targetReplicatedJobs"))):
            if target not in known:
                text_ = f'Invalid value: "{target}": there is no replicatedJob of this name'
                yield say((*here, "targetReplicatedJobs", j), text_, hint(target, known))


def _name(name: str, seen: set[str], path: Path, say: Say) -> Iterator[Problem]:
    if not _RULE_NAME(name) or len(name) > 128:
        text_ = f'Invalid value: "{name}": must have 1 to 128 letters, digits or _,: with a letter first'
        yield say((*path, "name"), text_, "end it with a letter, a digit or an underscore")
    elif name in seen:
        yield say((*path, "name"), f'Duplicate value: "{name}"', "rename one of the rules")
    seen.add(name)
