"""Two JobSets want the same Service, and the second one gets no DNS names.

What: two JobSets of one namespace have the same network.subdomain, or one has the other's name for it.

Why: the Service is looked up by its name alone. The first JobSet's stays, and selects that one's pods: no host name of
the second resolves.

Bad:

    apiVersion: jobset.x-k8s.io/v1alpha2
    kind: JobSet
    metadata: {name: first}
    spec:
      network: {subdomain: ranks}
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
    ---
    apiVersion: jobset.x-k8s.io/v1alpha2
    kind: JobSet
    metadata: {name: second}
    spec:
      network:
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

Good:

    apiVersion: jobset.x-k8s.io/v1alpha2
    kind: JobSet
    metadata: {name: first}
    spec:
      network: {subdomain: ranks}
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
    ---
    apiVersion: jobset.x-k8s.io/v1alpha2
    kind: JobSet
    metadata: {name: second}
    spec:
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

Fix: give each JobSet its own subdomain, or leave it out: then it is the JobSet's name.

Source: JobSet 0.12, createHeadlessSvcIfNecessary.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ptcompile.diagnostics import Edit, Fix, field_path
from ptcompile.plain import at, kind_of, namespace, text
from ptcompile.rules.rule import Found, Rule
from ptcompile.rules.subject import Subject

MOST = 500
"""Objects of the stream that are looked at for each JobSet, so that long streams do not take the square of their "
"time."""


def _check(subject: Subject) -> Iterator[Found]:
    own = text(at(subject.spec, "network").get("subdomain"))
    if not own or at(subject.spec, "network").get("enableDNSHostnames") is False:
        return
    later, space = False, namespace(subject.manifest)
    for one in islice(subject.others, MOST):
        later = later or one is subject.manifest
        if one is subject.manifest or kind_of(one) != subject.kind or namespace(one) != space:
            continue
        network, name = at(one, "spec", "network"), text(at(one, "metadata").get("name"))
        theirs = "" if later else text(network.get("subdomain"))  # of two that write it the second one is told
        by_name = not network.get("subdomain") and name == own
        if name != subject.name and network.get("enableDNSHostnames") is not False and (theirs == own or by_name):
            path = ("spec", "network", "subdomain")
            yield Found(
                path,
                f"{field_path(path)}: {own} is the Service of the JobSet {name} too: whichever comes second gets no "
                "DNS name",
                "use another subdomain",
                Fix("remove subdomain", (Edit("remove", path),), safe=False),
            )
            return


RULE = Rule("shared-jobset-service", _check, severity="error", stage="run", authority="jobset")
