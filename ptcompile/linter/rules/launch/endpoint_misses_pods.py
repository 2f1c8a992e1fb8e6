"""The rendezvous goes through a Service that selects none of the pods.

What: the endpoint is the name of a Service of the pods' namespace, all nodes that meet are pods of this object, and the
Service's selector fits the labels of none of them, nor of any other pod of the files. With c10d, a Service with a
cluster IP reaches no store either.

Why: a Service without pods has no endpoints. A headless one does not resolve, and connections to a cluster IP are
refused, until the rendezvous times out. The pod whose own address the endpoint names hosts c10d's store, and no pod has
a cluster IP.

Example:

      apiVersion: v1
      kind: Service
      metadata: {name: train-master}
      spec:
    -   selector: {app: train-master}
    +   selector: {batch.kubernetes.io/job-name: train, batch.kubernetes.io/job-completion-index: "0"}
        ports: [{port: 29500}]
      ---
      apiVersion: batch/v1
      kind: Job
      metadata: {name: train}
      spec:
        completionMode: Indexed
        completions: 2
        parallelism: 2
        backoffLimit: 0
        template:
          spec:
            restartPolicy: Never
            containers:
              - name: pytorch
                image: ghcr.io/acme/train:1.0
                command:
                  - torchrun
                  - --nnodes=2
                  - --node-rank=$(JOB_COMPLETION_INDEX)
                  - --master-addr=train-master  # <--
                  - train.py
                resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: select labels of the pod with rank 0; an Indexed Job's has batch.kubernetes.io/job-completion-index: "0".

Source: Kubernetes 1.36, Services: selectors; PyTorch 2.13, rank 0 serves the store.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.index import is_headless, selector, service_selects
from ptcompile.kubernetes.unstructured import nested_map, object_name
from ptcompile.linter.references import (
    endpoint_services,
    has_all_pods,
    meets_at_a_pod,
    template_labels,
)
from ptcompile.linter.rule import Finding, Rule, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole, guide_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json


def _check(subject: Subject) -> Iterator[Finding]:
    for members in (*subject.rendezvous_groups, *subject.env_groups):
        first = guide_of(members)
        services = endpoint_services(subject, first.rendezvous.host)
        if not services or any(map(_may_reach, services)) or _is_subdomain(subject, services):
            continue
        if not meets_at_a_pod(members) or not has_all_pods(members):
            continue
        if any(
            service_selects(service, labels) for service in services for labels in _candidate_labels(subject, service)
        ):
            reason, help = "has a cluster IP, and with c10d the pod with that address hosts the store", _HEADLESS
            if not _lacks_host(members, services):
                continue
        else:
            selected_labels = ", ".join(f"{key}={value}" for key, value in selector(services[0]).items())
            reason, help = f"selects {selected_labels}, which no pod has", "select labels of the pod with rank 0"
        yield found_at(
            first.path_of("rdzv-endpoint" if first.options.get("rdzv-endpoint") else "master-addr"),
            f"nothing answers to {first.rendezvous.host}: the Service {object_name(services[0])} {reason}",
            help,
            severity="warning" if any(id(service) in subject.stream.related_ids for service in services) else None,
        )


_HEADLESS = "set clusterIP to None and let the endpoint name one pod, or use the static rendezvous"


def _lacks_host(members: tuple[TrainingRole, ...], services: list[Json]) -> bool:
    """Return whether no pod finds that it hosts c10d's store: none has the address or the name of the endpoint."""
    rendezvous = guide_of(members).rendezvous
    if rendezvous.backend != "c10d" or "is_host" in rendezvous.options.get("rdzv-conf", ""):
        return False
    has_name = any(rendezvous.host in (role.pod.hostname, role.pod.own_fqdn) for role in members)
    return not has_name and all(nested_map(item, "spec").get("clusterIP") != "None" for item in services)


def _may_reach(service: Json) -> bool:
    """Return whether a Service may have addresses without a matching selector."""
    return not selector(service) or nested_map(service, "spec").get("type") == "ExternalName"


def _is_subdomain(subject: Subject, services: list[Json]) -> bool:
    """Return whether one of the Services is the pods' headless subdomain, which selector-misses-pods checks."""
    names = {pod.view.subdomain for _, pod in subject.job.first_pods()} if subject.job is not None else set()
    return any(object_name(service) in names and is_headless(service) for service in services)


def _candidate_labels(subject: Subject, service: Json) -> Iterator[Json]:
    """Yield the labels of the job's pods that a Service may select, then those of every other pod in the stream."""
    job = subject.job
    indexes = {
        int(value) for value in selector(service).values() if value.isascii() and value.isdigit() and len(value) < 10
    }
    for role in job.roles if job is not None else ():
        for index in sorted({0, role.count - 1, *indexes}):
            if job is not None and 0 <= index < role.count:
                yield job.pod(role, index).view.labels
    for manifest in subject.neighbors:
        yield template_labels(manifest)
        yield template_labels(nested_map(manifest, "spec", "template"))


RULE = Rule("endpoint-misses-pods", _check, severity="error", stage="run", authority="torchrun")
