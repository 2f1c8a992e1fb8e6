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

from ptcompile.diagnostics import Edit, Fix, Path, field_path
from ptcompile.plain import Json, at, kind_of, namespace, text
from ptcompile.rules.rule import Found, Rule
from ptcompile.rules.subject import Subject


def _check(subject: Subject) -> Iterator[Found]:
    own = _service(subject.manifest)
    if own is None or not any(one is subject.manifest for one in subject.others):
        return
    for one in subject.others:
        if one is subject.manifest:
            return
        if kind_of(one) == subject.kind and _service(one) == own and at(one, "metadata").get("name") != subject.name:
            mine = text(at(subject.spec, "network").get("subdomain"))
            path: Path = ("spec", "network", "subdomain") if mine else ("metadata", "name")
            yield Found(
                path,
                f"{field_path(path)}: the Service {own[1]} is made for the JobSet "
                f"{text(at(one, 'metadata').get('name'))}, "
                "and no pod of this one gets a DNS name",
                "use another subdomain" if mine else "use another name, or another subdomain there",
                Fix("remove subdomain", (Edit("remove", path),), safe=False) if mine else None,
            )
            return


def _service(jobset: Json) -> tuple[str, str] | None:
    """Namespace and name of a JobSet's Service; None where it makes none, or its name is not known yet."""
    network = at(jobset, "spec", "network")
    name = text(network.get("subdomain")) or text(at(jobset, "metadata").get("name"))
    return None if not name or network.get("enableDNSHostnames") is False else (namespace(jobset), name)


RULE = Rule("shared-jobset-service", _check, severity="error", stage="run", authority="jobset")
