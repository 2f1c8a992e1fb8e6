"""Why a host name leads to no pod of a job: the part of it that the files contradict, or the
Service that it lacks.

A name that resolves to nothing here may still be correct: another file may define its Service. It
is certainly wrong if the files settle it: a pod that the job does not have, a Service that
publishes only one job's pods, a namespace other than the pods'.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import nearest
from ptcompile.kinds.templates import find_headless_service
from ptcompile.kubernetes.index import SERVICE, USER_SERVED, Objects, is_headless, selector
from ptcompile.kubernetes.names import is_label
from ptcompile.kubernetes.unstructured import (
    Json,
    kind_of,
    nested_maps,
    nested_string,
    nested_strings,
    object_name,
)
from ptcompile.operators.table import KINDS
from ptcompile.simulator.meeting import address_of, dns_names, jobs_of, pod_with_hostname
from ptcompile.simulator.pod import Pod, WorkloadPods, hostname_stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    MistakeName = Literal[
        "domain", "namespace", "renamed", "namespace of Service", "subdomain", "pod", "pod as Service", "spelling",
        "Service", "headless Service", "subdomain of pods", "selector", "cluster IP", "hostname",
    ]  # fmt: skip

_JOB_LABELS = frozenset(
    {
        "job-name",
        "batch.kubernetes.io/job-name",
        "controller-uid",
        "batch.kubernetes.io/controller-uid",
        *(kind.additions.job_label for _, kind in KINDS.values() if kind.additions.job_label),
    }
)
"""Labels that only the pods of one job have."""
_TOP_DOMAINS = frozenset(
    {
        "com",
        "net",
        "org",
        "io",
        "ai",
        "dev",
        "edu",
        "gov",
        "cloud",
        "internal",
        "local",
        "lan",
        "corp",
        "home",
    }
)
"""Last labels of names outside the cluster."""


class HostMistake(NamedTuple):
    """The mistake for which a host name leads to no pod of the job."""

    name: MistakeName
    """What is wrong."""
    written: str
    """The wrong part of the host, or the Service that it names."""
    existing: str = ""
    """What the files have in its place, if they have one."""
    better: str = ""
    """A name that leads to a pod, or the value that the pods need; empty if the files do not
    tell.
    """
    is_certain: bool = True
    """Whether no object of another file could make the name lead to a pod."""
    pod: Pod | None = None
    """The pod that the name means, if a Service keeps it from resolving."""
    services: Sequence[Json] = ()
    """The Services with the name in question, none of which serves it; empty if the files have
    none.
    """

    @property
    def is_unserved(self) -> bool:
        """Whether only a Service in the pods' namespace can make the name resolve."""
        return self.name in ("Service", "headless Service") or bool(self.services)


class _ClusterName(NamedTuple):
    """The written parts of a name in the cluster: `pod.service.namespace`."""

    pod: str
    service: str
    namespace: str

    @property
    def pod_and_service(self) -> str:
        """The name without the namespace."""
        return f"{self.pod}.{self.service}" if self.pod else self.service


def host_mistake(pod: Pod, host: str, *, is_complete: bool) -> HostMistake | None:
    """Return why `host` leads to no pod of the pod's job, or None if it does or may.

    `is_complete` means that all nodes are pods of this object, so the host must be one of them.
    """
    job = pod.job
    host = host.removesuffix(".").lower()
    labels = host.split(".")
    # addresses and placeholders are not judged
    is_name = any(label.strip("0123456789") for label in labels) and all(map(is_label, labels))
    if not is_name or _leads(job, host):
        return None
    if typo := _wrong_domain(labels, job.versions.domain):
        return typo

    name = _cluster_name(job, labels)
    if name is None or any(_leads(peer, host) for peer in _peers(job, name.pod or name.service)):
        return None
    if name.namespace and _leads(job, name.pod_and_service):
        # a manifest without a namespace may be applied to any
        namespace = _written_namespace(job)
        # an equal namespace means that only the host's cluster domain is unknown
        is_other = namespace not in (
            "",
            name.namespace,
        )
        if is_other:
            return HostMistake(
                "namespace", name.namespace, namespace, f"{name.pod_and_service}.{namespace}"
            )
        return None

    wrong = _renamed_job(job, name) if is_complete else None
    wrong = wrong or _service_elsewhere(job, name)
    wrong = wrong or (_wrong_pod if name.pod else _wrong_service)(job, name, is_complete)
    if wrong is not None:
        return wrong

    aliases = {
        alias.lower()
        for entry in nested_maps(pod.view.spec, "hostAliases")
        for alias in nested_strings(entry, "hostnames")
    }
    return None if host in aliases else _unserved_name(pod, name)


def _leads(job: WorkloadPods, host: str) -> bool:
    """Return whether the name leads to a pod or a Service of the job."""
    pod = next((pod for _, pod in job.first_pods), None)
    if pod is None:
        return False
    address = address_of(pod, host)
    # a host name without a Service leads to its own pod only
    return not address.is_unknown and not (
        host == pod.hostname and address.is_blind and job.size > 1
    )


def _wrong_domain(labels: Sequence[str], domain: str) -> HostMistake | None:
    """Return the mistake if the name misspells the cluster's domain, or ends in the usual one
    instead.
    """
    tail = ".".join(labels[labels.index("svc", 2) + 1 :]) if "svc" in labels[2:4] else ""
    if tail in ("", domain) or not (tail == "cluster.local" or nearest(tail, (domain,))):
        return None
    return HostMistake("domain", tail, domain, ".".join(labels).removesuffix(tail) + domain)


def _cluster_name(job: WorkloadPods, labels: Sequence[str]) -> _ClusterName | None:
    """Return the parts of a host name, or None for a name outside the cluster."""
    is_qualified = "svc" in labels[2:4]
    parts = labels[: labels.index("svc", 2)] if is_qualified else labels
    if len(parts) > 3 or (not is_qualified and len(labels) > 1 and labels[-1] in _TOP_DOMAINS):
        return None

    if len(parts) != 2:
        pod, service, namespace = parts if len(parts) == 3 else ("", *parts, "")
        return _ClusterName(pod, service, namespace)

    first, second = parts
    names_service = is_qualified or second == _written_namespace(job) or _services_named(job, first)
    if names_service:
        return _ClusterName("", first, second)

    return _ClusterName(first, second, "")


def _written_namespace(job: WorkloadPods) -> str:
    return nested_string(job.manifest, "metadata", "namespace")


def _created_services(job: WorkloadPods) -> set[str]:
    return {object_name(service) for service in job.expansion.services}


def _services_named(job: WorkloadPods, name: str) -> list[Json]:
    """Return the operator's and the stream's Services with this name, in any namespace."""
    created = [service for service in job.expansion.services if object_name(service) == name]
    return [*created, *job.stream.by_name(SERVICE, name)]


def _peers(job: WorkloadPods, label: str) -> list[WorkloadPods]:
    """Return the other jobs of the namespace with a pod or a Service whose name is like the
    label.
    """
    jobs = job.stream.cached(_jobs_by_name, lambda: _jobs_by_name(job.stream, job))
    names = {label, _without_index(label), hostname_stem(label), ""}
    peers = {id(peer): peer for name in names for peer in jobs.get((job.namespace, name), ())}
    return [peer for peer in peers.values() if peer.manifest is not job.manifest]


def _jobs_by_name(stream: Objects, like: WorkloadPods) -> dict[tuple[str, str], list[WorkloadPods]]:
    """Return the jobs by namespace, and by the stems of their pods' host names and the names of
    their Services.
    """
    index: dict[tuple[str, str], list[WorkloadPods]] = {}
    for job in jobs_of(stream, like.versions):
        for name in {*_stems(job), *_created_services(job)}:
            index.setdefault((job.namespace, name), []).append(job)
    return index


def _stems(job: WorkloadPods) -> Iterator[str]:
    """Yield for each role the common beginning of its pods' host names, without their indexes."""
    for role in job.roles:
        if role.count:
            first, last = (job.pod(role, index).hostname or "" for index in (0, role.count - 1))
            head = _without_index(first)
            yield (head or first) if head == _without_index(last) else hostname_stem(first)


def _without_index(name: str) -> str:
    """Return what is before the last hyphen of a host name: `worker` for `worker-0`."""
    head, _, _ = name.rpartition("-")
    return head


def _meant_pod(job: WorkloadPods, label: str) -> Pod | None:
    """Return the pod with this host name, of the job or of another one in its namespace, or
    None.
    """
    jobs = (job, *_peers(job, label)) if label else ()
    return next(
        (pod for candidate in jobs if (pod := pod_with_hostname(candidate, label)) is not None),
        None,
    )


def _could_be_pod(label: str, job: WorkloadPods) -> bool:
    """Return whether the label differs only in its index from the host name of one of the job's
    pods.
    """
    stem, _, index = label.rpartition("-")
    return index.isdigit() and any(_without_index(hostname) == stem for hostname in _hostnames(job))


def _hostnames(job: WorkloadPods) -> set[str]:
    """Return the host names of the first and the last pod of each role."""
    pods = (job.pod(role, i) for role in job.roles if role.count for i in {0, role.count - 1})
    return {pod.hostname for pod in pods if pod.hostname}


def _subdomains(job: WorkloadPods) -> set[str]:
    return {pod.view.subdomain for _, pod in job.first_pods if pod.view.subdomain}


def _shortest_pod_name(job: WorkloadPods) -> str:
    """Return the shortest DNS name of the first pod that has one, or an empty string."""
    return next((names[-1] for _, pod in job.first_pods if (names := dns_names(pod.view))), "")


def _renamed_job(job: WorkloadPods, name: _ClusterName) -> HostMistake | None:
    """Return the mistake if one of the job's pods had the name before a prefix or a suffix was
    added to the job's name.

    Kustomize's namePrefix and nameSuffix rename objects, but no addresses in commands and no
    subdomain.
    """
    now = job.name
    before = name.service
    is_renamed = now != before and (now.endswith(before) or now.startswith(before))
    if not is_renamed or not name.pod.startswith(before):
        return None
    if pod_with_hostname(job, now + name.pod.removeprefix(before)) is None:
        return None
    return HostMistake("renamed", before, now)


def _service_elsewhere(job: WorkloadPods, name: _ClusterName) -> HostMistake | None:
    """Return the mistake if the stream has the Service only in other namespaces."""
    services = job.stream.by_name(SERVICE, name.service)
    namespaces = {nested_string(service, "metadata", "namespace") for service in services}
    own = _written_namespace(job)
    if not namespaces or own in namespaces or job.namespace in namespaces:
        return None
    if name.pod and pod_with_hostname(job, name.pod) is None:
        return None

    titles = ", ".join(sorted(namespace or "default" for namespace in namespaces))
    return HostMistake(
        "namespace of Service", name.service, titles, is_certain=bool(own) and "" not in namespaces
    )


def _wrong_pod(job: WorkloadPods, name: _ClusterName, is_complete: bool) -> HostMistake | None:
    """Return the mistake if no object of the stream has the pod of `pod.service`."""
    exists = _meant_pod(job, name.pod) is not None
    is_like_ours = _could_be_pod(name.pod, job)
    if not exists and kind_of(job.manifest) == ("v1", "Pod") and is_like_ours and not is_complete:
        return None  # each Pod is a separate object and may be in another file

    could_exist = (
        exists
        or is_like_ours
        or any(_could_be_pod(name.pod, peer) for peer in _peers(job, name.pod))
    )
    services = _services_named(job, name.service)
    subdomains = _subdomains(job)
    better = _shortest_pod_name(job)
    if name.service not in subdomains and not services:
        subdomain = min(subdomains, default="")
        if could_exist:
            return HostMistake("subdomain", name.service, subdomain, better)
        return None
    if exists:
        return None

    is_ours = kind_of(job.manifest) not in USER_SERVED and name.service in _created_services(job)
    is_ours = is_ours or any(_JOB_LABELS & selector(service).keys() for service in services)
    is_certain = could_exist or is_complete or is_ours
    is_likely = is_certain or nearest(name.pod, _hostnames(job)) is not None
    if is_likely:
        return HostMistake("pod", name.pod, better=better, is_certain=is_certain)

    return None


def _wrong_service(job: WorkloadPods, name: _ClusterName, is_complete: bool) -> HostMistake | None:
    """Return the mistake if the name is that of a pod without a Service, or misspells a Service."""
    created = _created_services(job)
    services = created | {object_name(service) for service in job.stream.of_kind(SERVICE)}
    if name.service in services:
        return None

    better = _shortest_pod_name(job)
    is_user_served = kind_of(job.manifest) in USER_SERVED
    if pod_with_hostname(job, name.service) is not None:
        return HostMistake(
            "pod as Service", name.service, "", better, not is_user_served or bool(better)
        )
    if _could_be_pod(name.service, job):
        return HostMistake("pod", name.service, "", better, is_complete or not is_user_served)

    near = nearest(name.service, services)
    if near:
        return HostMistake("spelling", name.service, near, near, near in created and is_complete)

    return None


def _unserved_name(pod: Pod, name: _ClusterName) -> HostMistake | None:
    """Return the Service that the name lacks, or why those with its name do not resolve it, or
    None.

    None if the files do not settle it: names outside the cluster or in other namespaces, pods of
    other files.
    """
    job = pod.job
    named_pod = _meant_pod(job, name.pod)
    if not _is_decidable(
        pod, name, names_pod=named_pod is not None or _could_be_pod(name.pod, job)
    ):
        return None

    neighbors = job.stream.in_namespace(job.namespace)
    services = neighbors.by_name(SERVICE, name.service)
    if services:
        if named_pod is not None:
            return _service_mistake(named_pod, name, services)
        return None
    if not name.pod:
        return HostMistake("Service", name.service, is_certain=False)

    near = (
        nearest(name.service, {object_name(service) for service in neighbors.of_kind(SERVICE)})
        or ""
    )

    return HostMistake("headless Service", name.service, near, is_certain=False, pod=pod)


def _is_decidable(pod: Pod, name: _ClusterName, *, names_pod: bool) -> bool:
    """Return whether only a Service in the pods' namespace can give the name an address.

    A name of two labels may be in the company's domain; one label may be a machine, for a pod on
    its node's network.
    """
    namespace = _written_namespace(pod.job)
    if name.namespace and name.namespace != namespace:
        return names_pod and not namespace
    if name.pod and not name.namespace:
        return names_pod or name.service in _subdomains(pod.job)
    return not pod.on_host


def _service_mistake(pod: Pod, name: _ClusterName, services: Sequence[Json]) -> HostMistake | None:
    """Return why the Services called `name` do not resolve it to the pod that it means, or None."""
    subdomain = pod.view.subdomain
    namespace = pod.view.namespace
    mistake = HostMistake(
        "subdomain of pods", name.service, subdomain or "", name.pod, pod=pod, services=services
    )
    if subdomain != name.service:
        return mistake
    if find_headless_service(services, subdomain, pod.view.labels, namespace) is None:
        return mistake._replace(
            name="selector" if any(map(is_headless, services)) else "cluster IP"
        )

    if pod.view.hostname:
        return None
    return mistake._replace(name="hostname")
