"""A Volcano Job goes to Kubernetes' own scheduler.

PTC236 gang-on-default-scheduler: warning at run (differs), by volcano.
Needs: schedulerName

What: the job's schedulerName is default-scheduler.

Why: that scheduler knows no gang: minAvailable, the tasks' order and the network topology are
ignored when pods are placed.

Example: volcano_job.yaml with

      spec:
    -   schedulerName: default-scheduler  # <--
    +   schedulerName: volcano
        minAvailable: 2
        tasks:
          - name: trainer
            replicas: 2

Fix: set schedulerName to volcano, or remove it.

Source: Volcano 1.16, job controller and scheduler.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at


def check(subject: Subject) -> Findings:
    if subject.spec.get("schedulerName") == "default-scheduler":
        path = ("spec", "schedulerName")
        yield found_at(
            path,
            "default-scheduler places pods one by one: minAvailable and networkTopology are "
            "ignored",
            "set schedulerName to volcano",
            fix_setting("set schedulerName to volcano", path, "volcano"),
        )
