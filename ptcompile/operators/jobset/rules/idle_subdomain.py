"""A subdomain is set, but host names are disabled.

What: network.subdomain beside enableDNSHostnames: false.

Why: without host names JobSet makes no Service and gives the pods no subdomain.

Example:

      apiVersion: jobset.x-k8s.io/v1alpha2
      kind: JobSet
      metadata: {name: train}
      spec:
        network:
    -     enableDNSHostnames: false
    +     enableDNSHostnames: true
          subdomain: ranks  # <--
        replicatedJobs:
          - name: node
            template:
              spec:
                completions: 1
                parallelism: 1
                backoffLimit: 0
                template:
                  spec:
                    restartPolicy: Never
                    containers:
                      - name: pytorch
                        image: ghcr.io/acme/train:1.0
                        resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}

Fix: remove one of the two.

Source: JobSet 0.12.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at


def check(subject: Subject) -> Findings:
    network = nested_map(subject.spec, "network")
    if network.get("enableDNSHostnames") is False and network.get("subdomain"):
        path = ("spec", "network", "subdomain")
        yield found_at(
            path,
            "ignored, since enableDNSHostnames is false",
            "remove subdomain, or set enableDNSHostnames to true",
            fix_removing("remove subdomain", path),
        )
