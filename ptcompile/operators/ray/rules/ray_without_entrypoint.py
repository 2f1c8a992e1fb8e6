"""A RayJob has no entrypoint.

PTC493 ray-without-entrypoint: error at run (fails), by kuberay.
Needs: RayJob

What: entrypoint is empty, the submission mode is K8sJobMode, which is the default, and no
submitterPodTemplate has its own command.

Why: the submitter runs `ray job submit` without a command, which stops with a usage error; after
two retries the job has failed, and its cluster ran for nothing.

Example:

      apiVersion: ray.io/v1
      kind: RayJob
      metadata: {name: tune}
      spec:
    -   entrypoint: ""  # <--
    +   entrypoint: python train.py
        shutdownAfterJobFinishes: true
        rayClusterSpec:
          headGroupSpec:
            rayStartParams: {}
            template:
              spec:
                containers: [{name: head, image: "rayproject/ray:2.46.0", resources: {limits: {cpu: 4, memory: 16Gi}}}]

Fix: write the command, or set submissionMode to InteractiveMode to submit it yourself.

Source: KubeRay 1.7, ray-operator/controllers/ray/common/job.go; Ray 2.46, ray job submit:
ENTRYPOINT is required.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_maps, nested_string
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    spec = subject.spec
    if subject.kind.name != "RayJob" or nested_string(spec, "entrypoint").strip():
        return

    containers = nested_maps(spec, "submitterPodTemplate", "spec", "containers")
    if spec.get("submissionMode") in (None, "", "K8sJobMode") and not any(
        c.get("command") for c in containers
    ):
        path = ("spec", "entrypoint") if "entrypoint" in spec else ("spec",)
        yield found_at(
            path,
            "ray job submit gets no command, and the job fails",
            "write the command in entrypoint, or use InteractiveMode",
            on_key=True,
        )
