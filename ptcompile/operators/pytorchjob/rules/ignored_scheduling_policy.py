"""The gang scheduler ignores this field.

PTC830 ignored-scheduling-policy: warning at style, by training-operator.
Needs: schedulingPolicy

What: a field of runPolicy.schedulingPolicy has no meaning for the scheduler that the pods name.

Why: with Volcano the operator writes no scheduleTimeoutSeconds, and with scheduler-plugins no queue
and no priorityClass. What is written there is silently dropped.

Example: pytorchjob.yaml with

      runPolicy:
        backoffLimit: 3
        cleanPodPolicy: Running
        schedulingPolicy:
    -     scheduleTimeoutSeconds: 600  # <--
    +     queue: research
      pytorchReplicaSpecs:
        Master:
          template:
            spec:
              schedulerName: volcano
              containers:

Fix: remove it.

Source: training-operator 1.9, the PodGroups of pkg/controller.v1/control.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_map, nested_string
from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at

_POLICY = ("spec", "runPolicy", "schedulingPolicy")
_IGNORED = {
    "volcano": ("scheduleTimeoutSeconds",),
    "scheduler-plugins-scheduler": ("queue", "priorityClass"),
}


def check(subject: Subject) -> Findings:
    policy = nested_map(subject.spec, "runPolicy", "schedulingPolicy")
    schedulers = {nested_string(template.spec, "schedulerName") for template in subject.templates}
    if len(schedulers) != 1:
        return

    scheduler = next(iter(schedulers))
    for field in _IGNORED.get(scheduler, ()):
        if policy.get(field) is not None:
            path = (*_POLICY, field)
            yield found_at(
                path,
                f"the PodGroup for {scheduler} does not have this field, so it is dropped",
                "remove it",
                fix_removing("remove it", path, safe=True),
            )
