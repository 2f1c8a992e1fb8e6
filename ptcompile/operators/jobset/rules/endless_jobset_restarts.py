"""The JobSet restarts forever, whatever maxRestarts says.

PTC737 endless-jobset-restarts: warning at run (endless), by jobset.
Needs: RestartJobSetAndIgnoreMaxRestarts

What: a rule with the action RestartJobSetAndIgnoreMaxRestarts and no condition.

Why: it applies to every failure, even one that recurs each time, such as a typo in the command: the
GPUs stay allocated until someone notices.

Example: one_node_jobset.yaml with

      spec:
        failurePolicy:
          maxRestarts: 3
          rules:
    -       - {name: again, action: RestartJobSetAndIgnoreMaxRestarts}  # <--
    +       - name: again
    +         action: RestartJobSetAndIgnoreMaxRestarts
    +         onJobFailureReasons: [PodFailurePolicy]
        replicatedJobs:
          - name: node
            template:
              spec:
                backoffLimit: 0
    +           podFailurePolicy:
    +             rules:
    +               - {action: FailJob, onPodConditions: [{type: DisruptionTarget, status: "True"}]}

Fix: name the failures that do not count, such as PodFailurePolicy with a Job's rule on
DisruptionTarget, or use RestartJobSet.

Source: JobSet 0.12, failurePolicy.rules.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_maps
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.jobset.rules.reading import is_unconditional


def check(subject: Subject) -> Findings:
    for i, rule in enumerate(nested_maps(subject.spec, "failurePolicy", "rules")):
        if rule.get("action") == "RestartJobSetAndIgnoreMaxRestarts" and is_unconditional(rule):
            path = ("spec", "failurePolicy", "rules", i)
            yield found_at(
                path,
                "every failure restarts the JobSet and none counts: it never ends by itself",
                "name onJobFailureReasons, or use RestartJobSet",
                fix_setting("count restarts", (*path, "action"), "RestartJobSet"),
            )
