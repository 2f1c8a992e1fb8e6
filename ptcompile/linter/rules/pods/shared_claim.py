"""Several pods of a job share one ResourceClaim.

PTC162 shared-claim: warning at run (waits), by kube-apiserver.
Needs: resourceClaimName

What: a template with more than one pod names a ResourceClaim instead of a ResourceClaimTemplate.

Why: a ResourceClaim is allocated once, for all pods that name it. They all get the same devices,
and pods that do not fit on the nodes with these devices stay Pending.

Example:

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
            resourceClaims:
    -         - {name: gpus, resourceClaimName: eight-gpus}  # <--
    +         - {name: gpus, resourceClaimTemplateName: eight-gpus}
            containers:
              - name: pytorch
                image: ghcr.io/acme/train:1.0
                command: [python, train.py]
                resources:
                  limits: {cpu: 8, memory: 64Gi}
                  claims: [{name: gpus}]

Fix: write a ResourceClaimTemplate and name it in resourceClaimTemplateName: each pod then gets its
own claim.

Source: Kubernetes 1.36, dynamic resource allocation, ResourceClaims and ResourceClaimTemplates.
"""

from __future__ import annotations

from ptcompile.linter.devices import claims_of
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for claim in claims_of(template):
            if claim.kind != "ResourceClaim" or template.replicas < 2:
                continue
            yield found_at(
                claim.path,
                f"{template.replicas} pods share the devices of one claim, {claim.object_name}",
                "use resourceClaimTemplateName with a ResourceClaimTemplate, from which each pod "
                "gets its own claim",
            )
