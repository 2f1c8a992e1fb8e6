"""A failure rule follows one that matches everything.

PTC738 shadowed-failure-rule: warning at run (differs), by jobset.
Needs: failurePolicy

What: a rule of failurePolicy follows one without onJobFailureReasons, onJobFailureMessagePatterns
and targetReplicatedJobs.

Why: the first rule that matches decides, and that one always does.

Example: one_node_jobset.yaml with

      spec:
        failurePolicy:
          maxRestarts: 3
          rules:
    +       - {name: first, action: FailJobSet, targetReplicatedJobs: [node]}
            - {name: any, action: RestartJobSet}
    -       - {name: first, action: FailJobSet, targetReplicatedJobs: [node]}  # <--
        replicatedJobs:

Fix: put the rule without conditions last.

Source: JobSet 0.12, failurePolicy.rules.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_maps, nested_string
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.jobset.rules.reading import is_unconditional


def check(subject: Subject) -> Findings:
    rules = nested_maps(subject.spec, "failurePolicy", "rules")
    catch_all = next((i for i, rule in enumerate(rules) if is_unconditional(rule)), len(rules))
    for i in range(catch_all + 1, len(rules)):
        yield found_at(
            ("spec", "failurePolicy", "rules", i),
            f"unreachable: rule {catch_all} {nested_string(rules[catch_all], 'name')} already "
            "matches every failure",
            "put the rule without conditions last",
        )
