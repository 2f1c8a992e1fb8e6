"""Two JobSets use the same Service, and the second one gets no DNS names.

PTC449 shared-jobset-service: error at run (fails), by jobset.
Needs: subdomain

What: two JobSets of one namespace have the same network.subdomain, or one has the other's name for
it.

Why: the Service is looked up by its name alone. The first JobSet's stays, and selects that one's
pods: no host name of the second resolves.

Example: one_node_jobset.yaml with

      metadata: {name: first}
      spec:
        network: {subdomain: ranks}
        replicatedJobs:
      ---
      apiVersion: jobset.x-k8s.io/v1alpha2
      kind: JobSet
      metadata: {name: second}
      spec:
    -   network:
    -     subdomain: ranks  # <--
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

Fix: give each JobSet its own subdomain, or remove it: the default is the JobSet's name.

Source: JobSet 0.12, createHeadlessSvcIfNecessary.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import namespace_of, nested_map, nested_string, nested_value
from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at
from ptcompile.world.workload import Stream

_JOBSET = ("jobset.x-k8s.io/v1alpha2", "JobSet")


def check(subject: Subject) -> Findings:
    subdomain = nested_string(subject.spec, "network", "subdomain")
    if not subdomain or nested_value(subject.spec, "network", "enableDNSHostnames") is False:
        return

    jobsets = subject.stream.cached(_jobsets_by_service).get((subject.namespace, subdomain), ())
    for name, is_explicit in jobsets:
        # if both set it, the second by name is reported, whichever file or document it is in
        if name != subject.name and (not is_explicit or name < subject.name):
            path = ("spec", "network", "subdomain")
            yield found_at(
                path,
                f"{subdomain} is also the Service of the JobSet {name}: the one created second "
                "gets no DNS names",
                "use another subdomain",
                fix_removing("remove subdomain", path),
            )
            return


def _jobsets_by_service(stream: Stream) -> dict[tuple[str, str], list[tuple[str, bool]]]:
    """Map namespace and Service to its JobSets by name: the name, and whether the subdomain is
    explicit.
    """
    jobsets: dict[tuple[str, str], list[tuple[str, bool]]] = {}
    for jobset in stream.objects.of_kind(_JOBSET):
        network = nested_map(jobset, "spec", "network")
        name = nested_string(jobset, "metadata", "name")
        if network.get("enableDNSHostnames") is not False:
            is_explicit = bool(network.get("subdomain"))
            service = nested_string(network, "subdomain") if is_explicit else name
            jobsets.setdefault((namespace_of(jobset), service), []).append((name, is_explicit))
    return {service: sorted(names) for service, names in jobsets.items()}
