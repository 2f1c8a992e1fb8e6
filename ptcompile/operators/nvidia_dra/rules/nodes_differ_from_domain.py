"""A ComputeDomain expects a different number of nodes than its job has.

PTC263 nodes-differ-from-domain: warning at run (waits), by ptcompile.
Needs: numNodes

What: numNodes is neither 0 nor the number of pods of the stream that claim a channel of the domain.

Why: drivers before 25.8, and newer ones without the feature gate IMEXDaemonsWithDNSNames, hold all
pods in ContainerCreating until numNodes nodes have joined: if it is too high, no pod starts. Newer
drivers use it only for the domain's status, which then never becomes Ready.

Example:

      apiVersion: resource.nvidia.com/v1beta1
      kind: ComputeDomain
      metadata: {name: llama}
      spec:
    -   numNodes: 18  # <--
    +   numNodes: 2
        channel: {resourceClaimTemplate: {name: llama-channel}}
      ---
      apiVersion: batch/v1
      kind: Job
      metadata: {name: train}
      spec:
        parallelism: 2
        completions: 2
        completionMode: Indexed
        backoffLimit: 0
        template:
          spec:
            restartPolicy: Never
            resourceClaims: [{name: channel, resourceClaimTemplateName: llama-channel}]
            containers:
              - name: pytorch
                image: ghcr.io/acme/train:1.0
                command: [python, train.py]
                resources:
                  limits: {cpu: 8, memory: 64Gi}
                  claims: [{name: channel}]

Fix: write the number of pods, or 0 with a driver of 25.8 or newer.

Source: NVIDIA DRA driver 25.12, ComputeDomain's numNodes; kubernetes-sigs/dra-driver-nvidia-gpu of
2026-08.
"""

from __future__ import annotations

from itertools import chain

from ptcompile.kubernetes.unstructured import nested_int, nested_maps
from ptcompile.linter.devices import channel_template
from ptcompile.linter.rule import Findings, Subject, found_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.simulator.pod import Pod


def check(subject: Subject) -> Findings:
    nodes = nested_int(subject.spec, "numNodes", default=0)
    template = channel_template(subject.manifest)
    pods = _count_claiming_pods(subject, template) if nodes > 0 and template else 0
    if pods and pods != nodes:
        yield found_at(
            ("spec", "numNodes"),
            f"waits for {nodes} nodes, but {pods} {'pod claims' if pods == 1 else 'pods claim'} "
            "its channels",
            f"use {pods}, or 0 with driver 25.8 or newer",
        )


def _count_claiming_pods(subject: Subject, template: str) -> int:
    """Return the number of pods in the domain's namespace that claim a channel by this template."""
    from ptcompile.simulator.meeting import jobs_of

    jobs = [
        job
        for job in jobs_of(subject.objects, subject.versions)
        if job.namespace == subject.namespace
    ]
    first_pods = chain.from_iterable(job.first_pods for job in jobs)
    return sum(role.count for role, pod in first_pods if _claims(pod, template))


def _claims(pod: Pod, template: str) -> bool:
    claims = nested_maps(pod.view.spec, "resourceClaims")
    return any(claim.get("resourceClaimTemplateName") == template for claim in claims)
