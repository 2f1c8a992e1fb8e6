"""A failure policy sets how to restart but allows no restart.

PTC734 restarts-without-max: warning at run (differs), by jobset.
Needs: failurePolicy

What: failurePolicy has a restartStrategy or a rule with the action RestartJobSet, and maxRestarts
is 0 or absent, which is 0.

Why: each restart counts against maxRestarts, so the first failure ends the JobSet.

Example: one_node_jobset.yaml with

      spec:
        failurePolicy:
          restartStrategy: BlockingRecreate  # <--
    +     maxRestarts: 3
        replicatedJobs:

Fix: set maxRestarts.

Source: JobSet 0.12, failurePolicy.
"""

from __future__ import annotations

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import nested_int, nested_map, nested_maps
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at


def check(subject: Subject) -> Findings:
    policy = nested_map(subject.spec, "failurePolicy")
    if nested_int(policy, "maxRestarts") > 0:
        return

    path = ("spec", "failurePolicy")
    restart_paths: list[Path] = []
    if policy.get("restartStrategy"):
        restart_paths.append((*path, "restartStrategy"))
    for i, rule in enumerate(nested_maps(policy, "rules")):
        if rule.get("action") == "RestartJobSet":
            restart_paths.append((*path, "rules", i, "action"))
    if restart_paths:
        yield found_at(
            restart_paths[0],
            f"maxRestarts is {'0' if 'maxRestarts' in policy else 'absent, which is 0'}: the "
            "first failure ends the JobSet",
            "set failurePolicy.maxRestarts",
            fix_setting("set maxRestarts to 3", (*path, "maxRestarts"), 3),
        )
