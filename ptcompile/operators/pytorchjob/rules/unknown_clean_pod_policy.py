"""The operator treats an unknown cleanPodPolicy as All.

PTC722 unknown-clean-pod-policy: warning at run (differs), by training-operator.
Needs: cleanPodPolicy

What: runPolicy.cleanPodPolicy is not exactly None, Running or All.

Why: neither the CRD nor the webhook checks the word. The operator checks for None, then for
Running, and otherwise deletes all pods at the end, with their logs.

Example: pytorchjob.yaml with

      runPolicy:
        backoffLimit: 3
    -   cleanPodPolicy: running  # <--
    +   cleanPodPolicy: Running

Fix: write None, Running or All.

Source: training-operator 1.9, DeletePodsAndServices.
"""

from __future__ import annotations

from ptcompile._internal.spelling import closest_match
from ptcompile.kubernetes.unstructured import nested_value
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at

_PATH = ("spec", "runPolicy", "cleanPodPolicy")
_POLICIES = ("None", "Running", "All")


def check(subject: Subject) -> Findings:
    policy = nested_value(subject.spec, "runPolicy", "cleanPodPolicy")
    if not isinstance(policy, str) or policy in _POLICIES:
        return

    suggestion = closest_match(policy, _POLICIES)
    fix = None
    if suggestion:
        fix = fix_setting(
            f"write {suggestion}", _PATH, suggestion, safe=suggestion.lower() == policy.lower()
        )

    yield found_at(
        _PATH,
        f"{policy!r} is not one of {', '.join(_POLICIES)}, so all pods are deleted at the end",
        f"write {suggestion}" if suggestion else "write one of them",
        fix,
    )
