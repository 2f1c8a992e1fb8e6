"""A pod claims devices from a template that the stream does not create, though it creates others.

What: resourceClaims names a ResourceClaimTemplate or ResourceClaim, and the ComputeDomains, templates and claims of the
stream have other names.

Why: without the template no claim is made for the pod, and it stays Pending with an event that the object is not found.
The template of a ComputeDomain is made by its controller, under the name that the domain gives it.

Example:

      apiVersion: resource.nvidia.com/v1beta1
      kind: ComputeDomain
      metadata: {name: llama}
      spec: {numNodes: 0, channel: {resourceClaimTemplate: {name: llama-channel}}}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        resourceClaims:
    -     - {name: channel, resourceClaimTemplateName: llama}  # <--
    +     - {name: channel, resourceClaimTemplateName: llama-channel}
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [python, train.py]
            resources:
              limits: {cpu: 8, memory: 64Gi}
              claims: [{name: channel}]

Fix: write the name that the domain or the template has.

Source: Kubernetes 1.36, dynamic resource allocation; NVIDIA DRA driver 25.12, ComputeDomain.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.unstructured import namespace_of
from ptcompile.linter.devices import claims_of, find_in_any_namespace, makers
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject


def _check(subject: Subject) -> Iterator[Finding]:
    if subject.kind[1] == "ClusterTrainingRuntime":
        return  # its pods run in the namespaces of its jobs
    space = namespace_of(subject.manifest)
    for template in subject.templates:
        for one in claims_of(template):
            known = [maker.name for maker in subject.stream.once(makers) if maker.kind == one.kind]
            here = {maker.name: None for maker in subject.stream.once(makers)
                    if maker.kind == one.kind and maker.namespace == space}  # fmt: skip
            if not known or find_in_any_namespace(subject.stream, one) is not None:
                continue
            only = next(iter(here)) if len(here) == 1 else None
            yield found_at(
                one.path,
                f"nothing in the stream creates the {one.kind} {one.source}; it has {', '.join(dict.fromkeys(known))}",
                f"use {only}" if only else "use the name of an existing one",
                Fix(f"use {only}", (Edit("set", one.path, only),), safe=False) if only else None,
            )


RULE = Rule("unmade-claim", _check, severity="warning", stage="run", authority="kube-apiserver")
