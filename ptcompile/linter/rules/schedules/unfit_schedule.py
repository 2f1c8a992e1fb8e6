"""A CronJob never runs, or its runs overlap.

PTC746 unfit-schedule: warning at run (differs), by kube-apiserver.
Needs: schedule

What: no month has the days of the schedule, such as 31 February; or a run may take longer, by its
activeDeadlineSeconds, than the time to the next one, and concurrencyPolicy is neither Forbid nor
Replace.

Why: Kubernetes accepts any schedule whose numbers are in their ranges. With the default, Allow, the
next run starts while the one before still trains: both want the same devices, and write to the same
claims.

Example:

      apiVersion: batch/v1
      kind: CronJob
      metadata: {name: nightly}
      spec:
    -   schedule: "0 2 30 2 *"  # <--
    +   schedule: "0 2 28 2 *"
        concurrencyPolicy: Forbid
        jobTemplate:
          spec:
            backoffLimit: 0
            template:
              spec:
                restartPolicy: Never
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    command: [python, train.py]
                    resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: write a day that exists; set concurrencyPolicy to Forbid.

Source: Kubernetes 1.36, CronJob, and robfig/cron v3 (spec.go, Next: it gives up after five years).
"""

from __future__ import annotations

from itertools import pairwise

from ptcompile.apiserver.validation.cron_job import SCHEDULE_FIELDS, why_not_schedule
from ptcompile.diagnostics import Edit, Fix, Path
from ptcompile.kubernetes.unstructured import nested_int, nested_map, nested_string
from ptcompile.linter.rule import Findings, Subject, found_at

_DESCRIPTORS = {"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *"}
_LAST_DAYS = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}
_DAY = 24 * 60


def check(subject: Subject) -> Findings:
    text = nested_string(subject.spec, "schedule")
    fields = _DESCRIPTORS.get(text, text).split()
    path: Path = ("spec", "schedule")
    if len(fields) != len(SCHEDULE_FIELDS) or why_not_schedule(text):
        return

    minutes, hours, days, months, _ = map(_numbers, fields, range(len(fields)))
    is_any_weekday = fields[-1][0] in "*?"  # else one of the two fields of days is enough
    if is_any_weekday and not any(min(days) <= _LAST_DAYS.get(month, 31) for month in months):
        yield found_at(
            path,
            f"no month has the day in {text!r}: the CronJob never runs",
            "write a day that exists",
        )
        return

    times = sorted(hour * 60 + minute for hour in hours for minute in minutes)
    gap = 60 * min(later - earlier for earlier, later in pairwise([*times, times[0] + _DAY]))
    job = nested_map(subject.spec, "jobTemplate", "spec")
    deadline = nested_int(job, "activeDeadlineSeconds")
    if deadline > gap and subject.spec.get("concurrencyPolicy") not in ("Forbid", "Replace"):
        edit = Edit("set", ("spec", "concurrencyPolicy"), "Forbid")
        yield found_at(
            path,
            f"a run may take {deadline} seconds, but the next starts after {gap}: runs overlap, on "
            "other devices and on the same claims",
            "set concurrencyPolicy to Forbid",
            Fix("set concurrencyPolicy to Forbid", (edit,)),
        )


def _numbers(field: str, index: int) -> set[int]:
    """Return the numbers that a field of a valid schedule allows."""
    _, low, high, names = SCHEDULE_FIELDS[index]
    numbers: set[int] = set()
    for part in field.lower().split(","):
        span, _, step = part.partition("/")
        if span in ("*", "?"):
            ends = [low, high]
        else:
            ends = [int(names.get(end, end)) for end in span.split("-")]
        last = high if step and len(ends) == 1 else ends[-1]
        numbers |= {*range(ends[0], last + 1, int(step or 1))}

    return numbers
