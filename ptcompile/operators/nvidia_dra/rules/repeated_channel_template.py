"""A ResourceClaimTemplate has the same name as the one that a ComputeDomain creates.

PTC266 repeated-channel-template: warning at run (differs), by ptcompile.
Needs: @ResourceClaimTemplate

What: the stream has a ResourceClaimTemplate of the name in spec.channel.resourceClaimTemplate, in
the same namespace.

Why: the domain's controller creates the template of its channels under that name. It cannot if the
name is taken, and pods that claim through the other template get no channel of this domain.

Example:

      apiVersion: resource.nvidia.com/v1beta1
      kind: ComputeDomain
      metadata: {name: llama}
      spec: {numNodes: 0, channel: {resourceClaimTemplate: {name: llama-channel}}}  # <--
    - ---
    - apiVersion: resource.k8s.io/v1
    - kind: ResourceClaimTemplate
    - metadata: {name: llama-channel}
    - spec:
    -   spec:
    -     devices:
    -       requests:
    -         - name: channel
    -           exactly: {deviceClassName: compute-domain-default-channel.nvidia.com}

Fix: remove the ResourceClaimTemplate.

Source: NVIDIA DRA driver 25.12, ComputeDomain: the controller creates the template.
"""

from __future__ import annotations

from ptcompile.linter.devices import channel_template
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    name = channel_template(subject.manifest)
    for version in ("v1", "v1beta2", "v1beta1"):
        if name and subject.neighbors.by_name(
            (f"resource.k8s.io/{version}", "ResourceClaimTemplate"), name
        ):
            yield found_at(
                ("spec", "channel", "resourceClaimTemplate", "name"),
                f"the domain creates the ResourceClaimTemplate {name} itself, but the stream has "
                "one with that name",
                "remove the ResourceClaimTemplate",
            )
