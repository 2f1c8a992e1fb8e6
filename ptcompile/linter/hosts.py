"""Host names, checked against the Services and pods of the stream and against what each operator creates.

A name that resolves to nothing here may still be correct: another file may define its Service. It is certainly wrong
if the files settle it: a pod that the job does not have, a Service that publishes only one job's pods, a namespace
other than the pods'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import nearest
from ptcompile.kubernetes.index import SERVICE, USER_SERVED, selector
from ptcompile.kubernetes.names import is_label
from ptcompile.kubernetes.unstructured import as_mappings, as_string, as_strings, kind_of, nested_map, object_name
from ptcompile.linter.references import has_all_pods, meets_at_a_pod, service_selects
from ptcompile.linter.rule import Subject, subject_of
from ptcompile.linter.training_roles import guide_of
from ptcompile.operators.table import KINDS, RUNS_PODS
from ptcompile.simulator.meeting import pod_with_hostname
from ptcompile.world.workload import POD, Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.linter.training_roles import TrainingRole
    from ptcompile.simulator.pod import Pod, WorkloadPods

_JOB_LABELS: Final = frozenset(
    {
        "job-name",
        "batch.kubernetes.io/job-name",
        "controller-uid",
        "batch.kubernetes.io/controller-uid",
        *(kind.additions.job_label for _, kind in KINDS.values() if kind.additions.job_label),
    }
)
"""Labels that only the pods of one job have."""
_CLUSTER_DOMAIN: Final = "cluster.local"
_TOP_DOMAINS: Final = frozenset(
    {"com", "net", "org", "io", "ai", "dev", "edu", "gov", "cloud", "internal", "local", "lan", "corp", "home"}
)
"""Last labels of names outside the cluster."""


class WrongHost(NamedTuple):
    """Why a host name leads to no pod of the job."""

    reason: str
    suggestion: str | None
    """A name that leads to one, or None."""
    is_certain: bool
    """Whether no object of another file could make the name lead to one."""
    help: str = "give the pods names that resolve, with a headless Service"
    """What to do if there is no suggestion."""


class UnservedHost(NamedTuple):
    """Why no Service of the files makes a host name resolve, and how to fix that."""

    reason: str
    help: str
    services: Sequence[Json]
    """The Services with the name in question, none of which serves it; empty if the files have none."""


class UnansweredEndpoint(NamedTuple):
    """The host of a rendezvous that leads to no pod of the job."""

    role: TrainingRole
    """The first role of those that meet there."""
    host: str
    mistake: WrongHost | UnservedHost


class _ClusterName(NamedTuple):
    """The written parts of a name in the cluster: `pod.service.space`."""

    pod: str
    service: str
    space: str

    @property
    def within(self) -> str:
        """The name without the namespace."""
        return f"{self.pod}.{self.service}" if self.pod else self.service


def unanswered_endpoints(subject: Subject) -> list[UnansweredEndpoint]:
    """Return the endpoints at which several pods of the job should meet and nothing answers."""
    endpoints = []
    for roles in (*subject.rendezvous_groups, *subject.env_groups):
        first = guide_of(roles)
        host = first.rendezvous.host
        # most hosts resolve: then the other pods need not be simulated
        if not host or not first.member.address.is_unknown or not meets_at_a_pod(roles):
            continue
        wrong = wrong_host(subject, first.pod, host, complete=has_all_pods(subject, roles))
        mistake = wrong or _unserved_host(subject, first.pod, host)
        if mistake is not None:
            endpoints.append(UnansweredEndpoint(first, host, mistake))
    return endpoints


def wrong_host(subject: Subject, pod: Pod, host: str, *, complete: bool) -> WrongHost | None:
    """Return why `host` leads to no pod of the job, or None if it does or may.

    `complete` means that all nodes are pods of this object, so the host must be one of them.
    """
    host = host.removesuffix(".").lower()
    if subject.is_alone and _is_own_subdomain_name(pod, host):
        return None  # most Jobs have their Service in another file
    labels = host.split(".")
    if not _is_host_name(labels):
        return None
    job = pod.job
    if _resolves(job, host):
        return None
    typo = _wrong_domain(labels)
    name = _parse_name(subject, job, labels)
    if typo is not None or name is None or _resolves_elsewhere(subject, job, host):
        return typo
    wrong_namespace = _wrong_namespace(subject, job, name)
    if wrong_namespace is None and name.space and _resolves(job, name.within):
        return None  # a manifest without a namespace may be applied to any
    return (
        wrong_namespace
        or _renamed_job(job, name, complete)
        or _service_elsewhere(subject, job, name)
        or (_wrong_pod if name.pod else _wrong_service)(subject, job, name, complete)
    )


def _unserved_host(subject: Subject, pod: Pod, host: str) -> UnservedHost | None:
    """Return why no Service of the stream makes `host` resolve for the pod, or None.

    The job itself does not resolve the host. None if another job's Service does, if another finding has the
    reason, and if the files do not settle it: addresses, aliases of the pod, names outside the cluster or in other
    namespaces, pods of other files.
    """
    host = host.removesuffix(".").lower()
    labels, job = host.split("."), pod.job
    if not _is_host_name(labels) or host in _aliases(pod) or _resolves_elsewhere(subject, job, host):
        return None
    name = _parse_name(subject, job, labels)
    if name is None or not _is_decidable(subject, pod, name):
        return None
    services = subject.neighbors.by_name(SERVICE, name.service)
    if services:
        return _service_mistake(subject, job, name, services)
    if _has_reported_subdomain(subject, pod, name):
        return None
    missing = "but these manifests have none" if subject.stream.has_context else "which is not in this file"
    if not name.pod:
        return UnservedHost(
            f"{host} needs a Service of that name, {missing}", f"add the Service {host}, or use a pod's DNS name", ()
        )
    near = nearest(name.service, {object_name(service) for service in subject.neighbors.of_kind(SERVICE)})
    rename = f", or rename the Service {near}" if near else ""
    return UnservedHost(
        f"{host} needs a headless Service named {name.service}, {missing}",
        f"add the Service {name.service} with clusterIP None and a selector for the pods{rename}",
        (),
    )


def _is_host_name(labels: Sequence[str]) -> bool:
    """Return whether these are the labels of a host name rather than of an address or a placeholder."""
    return any(label.strip("0123456789") for label in labels) and all(map(is_label, labels))


def _aliases(pod: Pod) -> set[str]:
    """Return the names in the pod's own /etc/hosts."""
    return {
        name.lower()
        for alias in as_mappings(pod.view.spec.get("hostAliases"))
        for name in as_strings(alias.get("hostnames"))
    }


def _is_decidable(subject: Subject, pod: Pod, name: _ClusterName) -> bool:
    """Return whether only a Service in the pods' namespace can give the name an address.

    A name of two labels may be in the company's domain; one label may be a machine, for a pod on its node's network.
    """
    namespace = as_string(subject.metadata.get("namespace"))
    names_pod = _find_pod(subject, pod.job, name.pod) is not None or _could_be_pod(name.pod, pod.job)
    if name.space and name.space != namespace:
        return names_pod and not namespace
    return names_pod or name.service in _subdomains(pod.job) if name.pod and not name.space else not pod.on_host


def _find_pod(subject: Subject, job: WorkloadPods, label: str) -> Pod | None:
    """Return the pod with this host name, of the job or of another job in its namespace, or None."""
    jobs = (job, *_peers_with_pod(subject, job, label))
    return next((pod for candidate in jobs if (pod := pod_with_hostname(candidate, label)) is not None), None)


def _service_mistake(
    subject: Subject, job: WorkloadPods, name: _ClusterName, services: Sequence[Json]
) -> UnservedHost | None:
    """Return why the Services called `name` do not resolve it to the job's pod, or None."""
    pod = _find_pod(subject, job, name.pod) if name.pod else None
    if pod is None:  # the pod may be in another file
        return None
    service_name, subdomain = name.service, pod.view.subdomain
    headless = [service for service in services if as_string(nested_map(service, "spec").get("clusterIP")) == "None"]
    serving = [service for service in headless if service_selects(service, pod.view.labels)]
    if subdomain != service_name:
        field = "serviceName" if pod.job.kind == "StatefulSet" else "subdomain"
        reason = f"the pods' {field} is {subdomain}, not {service_name}" if subdomain else f"{field} is not set"
        is_reported, help = bool(serving) and _is_reported_at_subdomain(pod), f"set {field} to {service_name}"
    elif not serving:
        is_reported = _is_reported_at_service(pod) and not any(
            id(service) in subject.stream.related_ids for service in services
        )
        mistake = "does not select the pods" if headless else "has a cluster IP, so it names no pods"
        reason, help = (
            f"the Service {service_name} {mistake}",
            "select labels of the pods" if headless else "set clusterIP to None",
        )
    elif pod.view.hostname:
        return None
    else:
        is_reported, reason, help = False, "the pod has a subdomain but no hostname", f"set hostname to {name.pod}"
    return None if is_reported else UnservedHost(f"nothing answers to {name.within}: {reason}", help, services)


def _is_reported_at_service(pod: Pod) -> bool:
    """Return whether service-not-headless and selector-misses-pods report the Services of this pod."""
    return kind_of(pod.job.manifest) in USER_SERVED


def _is_reported_at_subdomain(pod: Pod) -> bool:
    """Return whether subdomain-differs reports a subdomain other than the Service that selects the pod."""
    indexed = nested_map(pod.job.manifest, "spec").get("completionMode") == "Indexed"
    return indexed and _is_reported_at_service(pod) and pod.job.size > 1


def _has_reported_subdomain(subject: Subject, pod: Pod, name: _ClusterName) -> bool:
    """Return whether subdomain-differs reports a headless Service with another name that selects the pods."""
    if name.service != pod.view.subdomain or not _is_reported_at_subdomain(pod):
        return False
    services = subject.neighbors.services_selecting(pod.view.labels)
    return any(as_string(nested_map(service, "spec").get("clusterIP")) == "None" for service in services)


def _is_own_subdomain_name(pod: Pod, host: str) -> bool:
    """Return whether the host is the pod's own `pod.subdomain`, rather than a Service in a namespace."""
    view = pod.view
    return view.subdomain != view.namespace and host == f"{view.hostname}.{view.subdomain}"


def _wrong_domain(labels: Sequence[str]) -> WrongHost | None:
    """Return the mistake if the name misspells `svc.cluster.local`."""
    tail = ".".join(labels[labels.index("svc", 2) + 1 :]) if "svc" in labels[2:4] else ""
    if tail and tail != _CLUSTER_DOMAIN and nearest(tail, (_CLUSTER_DOMAIN,)):
        corrected = ".".join(labels).removesuffix(tail) + _CLUSTER_DOMAIN
        return WrongHost(f"the cluster's domain is {_CLUSTER_DOMAIN}, not {tail}", corrected, is_certain=True)
    return None


def _parse_name(subject: Subject, job: WorkloadPods, labels: Sequence[str]) -> _ClusterName | None:
    """Return the parts of a host name, or None for a name outside the cluster."""
    is_qualified = "svc" in labels[2:4]
    parts = labels[: labels.index("svc", 2)] if is_qualified else labels
    if len(parts) > 3 or (not is_qualified and len(labels) > 1 and labels[-1] in _TOP_DOMAINS):
        return None
    if len(parts) != 2:
        return _ClusterName("", parts[0], "") if len(parts) == 1 else _ClusterName(parts[0], parts[1], parts[2])
    names_service = (
        is_qualified or parts[1] == subject.metadata.get("namespace") or _services_named(subject, job, parts[0])
    )
    return _ClusterName("", parts[0], parts[1]) if names_service else _ClusterName(parts[0], parts[1], "")


def _services_named(subject: Subject, job: WorkloadPods, name: str) -> list[Json]:
    """Return the operator's and the stream's Services with this name, in any namespace."""
    created = [service for service in job.expansion.services if object_name(service) == name]
    return [*created, *subject.objects.by_name(SERVICE, name)]


def _resolves(job: WorkloadPods, host: str) -> bool:
    """Return whether the name resolves to a pod or a Service of the job."""
    from ptcompile.simulator.meeting import address_of

    pod = next((pod for _, pod in job.first_pods()), None)
    if pod is None:
        return False
    address = address_of(pod, host)
    # a host name without a Service leads to its own pod only
    return not address.is_unknown and not (host == pod.hostname and address.is_blind and job.size > 1)


def _resolves_elsewhere(subject: Subject, job: WorkloadPods, host: str) -> bool:
    """Return whether the name resolves to another job in the same namespace. Only likely jobs are checked."""
    if subject.is_alone:
        return False
    from ptcompile.simulator.pod import hostname_stem

    label = host.partition(".")[0]
    jobs = subject.stream.cached(_jobs_by_name)
    candidates = {
        id(candidate): candidate
        for name in {label, label.rpartition("-")[0], hostname_stem(label), ""}
        for candidate in jobs.get((job.namespace, name), ())
    }
    return any(_resolves(peer, host) for peer in candidates.values() if peer.manifest is not job.manifest)


def _peers_with_pod(subject: Subject, job: WorkloadPods, label: str) -> list[WorkloadPods]:
    """Return the other jobs in the namespace with a pod whose host name differs from the label only in its index."""
    head, _, index = label.rpartition("-")
    if subject.is_alone or not index.isdigit():
        return []
    jobs = subject.stream.cached(_jobs_by_stem).get((job.namespace, head), ())
    return [peer for peer in jobs if peer.manifest is not job.manifest]


def _jobs_by_name(stream: Stream) -> dict[tuple[str, str], list[WorkloadPods]]:
    """Return the jobs by namespace, and by the stems of their pods' host names and the names of their Services."""
    return _index_jobs(stream, lambda job: {*_hostname_stems(job), *map(object_name, job.expansion.services)})


def _hostname_stems(job: WorkloadPods) -> Iterator[str]:
    """Yield for each role the common beginning of its pods' host names, without their indexes."""
    from ptcompile.simulator.pod import hostname_stem

    for role in job.roles:
        if role.count:
            first, last = (job.pod(role, index).hostname or "" for index in (0, role.count - 1))
            head = first.rpartition("-")[0]
            yield (head or first) if head == last.rpartition("-")[0] else hostname_stem(first)


def _jobs_by_stem(stream: Stream) -> dict[tuple[str, str], list[WorkloadPods]]:
    """Return the jobs by namespace, and by their pods' host names without the last part."""
    return _index_jobs(stream, lambda job: {hostname.rpartition("-")[0] for hostname in _hostnames(job)})


def _index_jobs(stream: Stream, names: Callable[[WorkloadPods], set[str]]) -> dict[tuple[str, str], list[WorkloadPods]]:
    index: dict[tuple[str, str], list[WorkloadPods]] = {}
    for job in stream.cached(_jobs):
        for name in names(job):
            index.setdefault((job.namespace, name), []).append(job)
    return index


def _jobs(stream: Stream) -> list[WorkloadPods]:
    """Return all jobs of the stream."""
    from ptcompile.simulator.job import job_of

    # a job that is too large for its own rules still has names that others may use
    return [
        subject_of(manifest, stream).job or job_of(manifest, stream.objects, stream.versions, None)
        for manifest in stream.objects
        if kind_of(manifest) in RUNS_PODS
    ]


def _wrong_namespace(subject: Subject, job: WorkloadPods, name: _ClusterName) -> WrongHost | None:
    """Return the mistake if the name is the job's own, but in another namespace."""
    namespace = as_string(subject.metadata.get("namespace"))
    if not name.space or not namespace or name.space == namespace or not _resolves(job, name.within):
        return None
    return WrongHost(
        f"the pods are in namespace {namespace}, not in {name.space}", f"{name.within}.{namespace}", is_certain=True
    )


def _service_elsewhere(subject: Subject, job: WorkloadPods, name: _ClusterName) -> WrongHost | None:
    """Return the mistake if the stream has the Service only in other namespaces."""
    namespace = as_string(subject.metadata.get("namespace"))
    service_namespaces = {
        as_string(nested_map(service, "metadata").get("namespace"))
        for service in subject.objects.by_name(SERVICE, name.service)
    }
    if (
        not service_namespaces
        or namespace in service_namespaces
        or (not namespace and "default" in service_namespaces)
        or (name.pod and not _has_pod(job, name.pod))
    ):
        return None
    namespaces = ", ".join(sorted(space or "default" for space in service_namespaces))
    reason = f"Service {name.service} is in namespace {namespaces}, but the pods are in {namespace or 'default'}"
    return WrongHost(reason, None, is_certain=bool(namespace) and "" not in service_namespaces)


def _renamed_job(job: WorkloadPods, name: _ClusterName, complete: bool) -> WrongHost | None:
    """Return the mistake if one of the job's pods had the name before a prefix or a suffix was added to the job's name.

    Kustomize's namePrefix and nameSuffix rename objects, but no addresses in commands and no subdomain.
    """
    now, before = object_name(job.manifest), name.service
    is_renamed = now != before and (now.endswith(before) or now.startswith(before))
    if not complete or not is_renamed or not name.pod.startswith(before):
        return None
    if not _has_pod(job, now + name.pod.removeprefix(before)):
        return None
    return WrongHost(
        f"the job is named {now}, but the address still has the name {before}, as after Kustomize's namePrefix",
        None,
        is_certain=True,
        help=f"compile the spec with --name {now}, or rename the address, the subdomain and the Service too",
    )


def _has_pod(job: WorkloadPods, label: str) -> bool:
    """Return whether the label is the host name of one of the job's pods."""
    return pod_with_hostname(job, label) is not None


def _wrong_pod(subject: Subject, job: WorkloadPods, name: _ClusterName, complete: bool) -> WrongHost | None:
    """Return the mistake if no object of the stream has the pod of `pod.service`."""
    exists, subdomains = _find_pod(subject, job, name.pod) is not None, _subdomains(job)
    hosts = _hostnames(job)
    if not exists and kind_of(job.manifest) == POD and _could_be_pod(name.pod, job) and not complete:
        return None  # each Pod is a separate object and may be in another file
    could_exist = exists or _could_be_pod(name.pod, job) or bool(_peers_with_pod(subject, job, name.pod))
    services = _services_named(subject, job, name.service)
    if name.service not in subdomains and not services:
        if not could_exist:
            return None
        reason = (
            f"the pods' subdomain is {min(subdomains)}, not {name.service}"
            if subdomains
            else "the pods have no subdomain"
        )
        return WrongHost(reason, _shortest_pod_name(job), is_certain=True)
    if exists:  # a Service of another file may serve it; the Services here are checked by their own rules
        return None
    is_certain = (
        could_exist or complete or any(map(_selects_one_job, services)) or _is_operator_service(job, name.service)
    )
    is_likely = is_certain or nearest(name.pod, hosts) is not None
    return (
        WrongHost(f"the job has no pod named {name.pod}", _shortest_pod_name(job), is_certain=is_certain)
        if is_likely
        else None
    )


def _wrong_service(subject: Subject, job: WorkloadPods, name: _ClusterName, complete: bool) -> WrongHost | None:
    """Return the mistake if the name is that of a pod without a Service, or misspells a Service."""
    created = {object_name(service) for service in job.expansion.services}
    services = created | {object_name(service) for service in subject.objects.of_kind(SERVICE)}
    if name.service in services:
        return None
    is_user_served = kind_of(job.manifest) in USER_SERVED
    if _has_pod(job, name.service):
        is_certain = not is_user_served or any(pod.dns for _, pod in job.first_pods())
        return WrongHost(
            f"no Service has the pod's name, {name.service}", _shortest_pod_name(job), is_certain=is_certain
        )
    if _could_be_pod(name.service, job):
        return WrongHost(
            f"the job has no pod named {name.service}",
            _shortest_pod_name(job),
            is_certain=complete or not is_user_served,
        )
    near = nearest(name.service, services)
    if near is None:
        return None
    return WrongHost(
        f"no Service is named {name.service}, but {near} exists", near, is_certain=near in created and complete
    )


def _selects_one_job(service: Json) -> bool:
    """Return whether the Service selects the pods of only one job."""
    return bool(_JOB_LABELS & selector(service).keys())


def _is_operator_service(job: WorkloadPods, name: str) -> bool:
    """Return whether the operator creates the Service with this name for the job's pods."""
    return kind_of(job.manifest) not in USER_SERVED and any(
        object_name(service) == name for service in job.expansion.services
    )


def _subdomains(job: WorkloadPods) -> set[str]:
    return {pod.view.subdomain for _, pod in job.first_pods() if pod.view.subdomain}


def _hostnames(job: WorkloadPods) -> set[str]:
    """Return the host names of the first and the last pod of each role."""
    pods = (job.pod(role, i) for role in job.roles if role.count for i in {0, role.count - 1})
    return {pod.hostname for pod in pods if pod.hostname}


def _could_be_pod(label: str, job: WorkloadPods) -> bool:
    """Return whether the label differs only in its index from the host name of one of the job's pods."""
    stem, _, index = label.rpartition("-")
    return index.isdigit() and any(hostname.rpartition("-")[0] == stem for hostname in _hostnames(job))


def _shortest_pod_name(job: WorkloadPods) -> str | None:
    """Return the shortest DNS name of the first pod that has one, or None."""
    from ptcompile.simulator.meeting import dns_names

    return next((dns_names(pod)[-1] for _, pod in job.first_pods() if dns_names(pod)), None)
