"""A deadline ends the pods before they have started.

PTC715 short-deadline: warning at run (fails), by kubelet.
Needs: activeDeadlineSeconds

What: activeDeadlineSeconds of a pod or a Job is less than a minute.

Why: the deadline counts from the start of the object and includes pulling an image of many GB. The
pods are killed while they start. Often minutes or hours were intended.

Example: job.yaml with

      backoffLimit: 0
    - activeDeadlineSeconds: 24  # <--
    + activeDeadlineSeconds: 86400
      template:
        spec:
          containers:
            - name: pytorch
              resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: write the deadline in seconds.

Source: Kubernetes 1.36, activeDeadlineSeconds of Jobs and Pods.
"""

from __future__ import annotations

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import Json, nested_int
from ptcompile.linter.rule import Findings, Subject, found_at

_MINUTE = 60


def check(subject: Subject) -> Findings:
    specs: list[tuple[Path, Json]] = [
        (template.spec_path, template.spec) for template in subject.templates
    ]
    if subject.kind == ("batch/v1", "Job"):
        specs.append((("spec",), subject.spec))
    for spec_path, spec in specs:
        seconds = nested_int(spec, "activeDeadlineSeconds", default=_MINUTE)
        if 0 <= seconds < _MINUTE:
            yield found_at(
                (*spec_path, "activeDeadlineSeconds"),
                f"{seconds} seconds pass while the image is still being pulled",
                "write the deadline in seconds: 86400 is a day",
            )
