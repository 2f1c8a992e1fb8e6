"""Host names, asked against the Services and pods of the stream and against what each operator makes.

A name that nothing here answers to may still be right: a Service of another file may stand for it. It is wrong beyond
doubt where the files settle it: a pod that the job does not have, a Service that publishes the pods of one job alone, a
namespace that the pods are not in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import nearest
from ptcompile.kubernetes.index import SERVICE, selector
from ptcompile.kubernetes.names import is_label
from ptcompile.kubernetes.unstructured import as_mappings, as_string, as_strings, kind_of, nested_map, object_name
from ptcompile.linter.subject import Subject, subject_of
from ptcompile.linter.workload import POD, Stream
from ptcompile.registry.table import KINDS, RUNS_PODS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.unstructured import Json
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
"""Labels that the pods of one job alone have."""
_CLUSTER_DOMAIN: Final = "cluster.local"
_USER_SERVED: Final = frozenset({("v1", "Pod"), ("batch/v1", "Job")})
"""Kinds whose Services people write."""
_TOP_DOMAINS: Final = frozenset(
    {"com", "net", "org", "io", "ai", "dev", "edu", "gov", "cloud", "internal", "local", "lan", "corp", "home"}
)
"""Last labels of names from outside the cluster."""


class WrongHost(NamedTuple):
    """Why a host name leads to no pod of the job."""

    reason: str
    suggestion: str | None
    """A name that does, or None."""
    is_certain: bool
    """Whether no object of another file could make it lead to one."""


class UnservedHost(NamedTuple):
    """Why no Service of the files makes a host name resolve, and what to do."""

    reason: str
    help: str
    services: Sequence[Json]
    """The Services of the name in question, none of which serves it; empty if the files have none."""


class _ClusterName(NamedTuple):
    """A name in the cluster: `pod.service.space`, as far as it is written."""

    pod: str
    service: str
    space: str

    @property
    def within(self) -> str:
        """Without the namespace."""
        return f"{self.pod}.{self.service}" if self.pod else self.service


def wrong_host(subject: Subject, pod: Pod, host: str, *, complete: bool) -> WrongHost | None:
    """Why a host that a pod of the subject asks for is not one; None where it is, or may be.

    `complete` says that all pods that meet are pods of this object, so that the host has to be one of them.
    """
    host = host.removesuffix(".").lower()
    if subject.is_alone and _is_own_subdomain_name(pod, host):
        return None  # the Service is in another file, as that of most Jobs is
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
    found = _wrong_namespace(subject, job, name)
    if found is None and name.space and _resolves(job, name.within):
        return None  # without a namespace in the file any may be meant
    return (
        found
        or _service_elsewhere(subject, job, name)
        or (_wrong_pod if name.pod else _wrong_service)(subject, job, name, complete)
    )


def unserved_host(subject: Subject, pod: Pod, host: str) -> UnservedHost | None:
    """Return why no Service of the stream makes a host resolve that a pod of the subject asks for.

    None if one does, if another finding has the reason, and if the files cannot decide it: addresses, aliases of the
    pod, names outside the cluster or of other namespaces, pods of other files.
    """
    host = host.removesuffix(".").lower()
    labels, job = host.split("."), pod.job
    if (
        not _is_host_name(labels)
        or host in _aliases(pod)
        or _resolves(job, host)
        or _resolves_elsewhere(subject, job, host)
    ):
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
    near = nearest(name.service, {object_name(one) for one in subject.neighbors.of_kind(SERVICE)})
    rename = f", or rename the Service {near}" if near else ""
    return UnservedHost(
        f"{host} needs a headless Service named {name.service}, {missing}",
        f"add the Service {name.service} with clusterIP None and a selector for the pods{rename}",
        (),
    )


def _is_host_name(labels: Sequence[str]) -> bool:
    """Return whether these are the labels of a host name, and neither of an address nor of a placeholder."""
    return any(one.strip("0123456789") for one in labels) and all(map(is_label, labels))


def _aliases(pod: Pod) -> set[str]:
    """Return the names that the pod's own /etc/hosts gives to addresses."""
    return {
        name.lower()
        for one in as_mappings(pod.view.spec.get("hostAliases"))
        for name in as_strings(one.get("hostnames"))
    }


def _is_decidable(subject: Subject, pod: Pod, name: _ClusterName) -> bool:
    """Return whether only a Service in the pods' namespace can give a name an address.

    A name of two labels may be one of the company's, and one label that of a machine, as a pod on its node's network
    sees them.
    """
    space = as_string(subject.metadata.get("namespace"))
    known = _find_pod(subject, pod.job, name.pod) is not None or _could_be_pod(name.pod, pod.job)
    if name.space and name.space != space:
        return known and not space
    return known or name.service in _subdomains(pod.job) if name.pod and not name.space else not pod.on_host


def _find_pod(subject: Subject, job: WorkloadPods, label: str) -> Pod | None:
    """Return the pod with a host name, of the job or of another one of the stream in its namespace."""
    jobs = (job, *_peers_with_pod(subject, job, label))
    return next((pod for one in jobs if (pod := _pod_with_hostname(one, label)) is not None), None)


def _service_mistake(
    subject: Subject, job: WorkloadPods, name: _ClusterName, services: Sequence[Json]
) -> UnservedHost | None:
    """Return why the Services of a name give none to one of the job's pods."""
    pod = _find_pod(subject, job, name.pod) if name.pod else None
    if pod is None:  # it may be a pod of another file
        return None
    service, subdomain, stateful = name.service, pod.view.subdomain, _is_stateful(pod)
    labels = {**pod.view.labels, **({"statefulset.kubernetes.io/pod-name": name.pod} if stateful else {})}
    headless = [one for one in services if as_string(nested_map(one, "spec").get("clusterIP")) == "None"]
    serving = [one for one in headless if _selects(one, labels)]
    if subdomain != service:
        field = "serviceName" if stateful else "subdomain"
        reason = f"the pods' {field} is {subdomain}, not {service}" if subdomain else f"{field} is not set"
        told, help = bool(serving) and _is_reported_at_subdomain(pod), f"set {field} to {service}"
    elif not serving:
        told = _is_reported_at_service(pod) and not any(id(one) in subject.stream.related_ids for one in services)
        fault = "does not select the pods" if headless else "has a cluster IP, so it names no pods"
        reason, help = (
            f"the Service {service} {fault}",
            "select labels of the pods" if headless else "set clusterIP to None",
        )
    elif pod.view.hostname:
        return None
    else:
        told, reason, help = False, "the pod has a subdomain but no hostname", f"set hostname to {name.pod}"
    return None if told else UnservedHost(f"nothing answers to {name.within}: {reason}", help, services)


def _selects(service: Json, labels: Mapping[str, str]) -> bool:
    """Return whether a Service selects pods with these labels."""
    wanted = selector(service)
    return bool(wanted) and wanted.items() <= labels.items()


def _is_stateful(pod: Pod) -> bool:
    """Return whether a StatefulSet makes the pod: it is looked at as an Indexed Job (`linter.nested`)."""
    owners = as_mappings(nested_map(pod.job.manifest, "metadata").get("ownerReferences"))
    return any(one.get("kind") == "StatefulSet" for one in owners)


def _is_reported_at_service(pod: Pod) -> bool:
    """Return whether service-not-headless and selector-misses-pods report Services that fail the pod."""
    return kind_of(pod.job.manifest) in _USER_SERVED and not _is_stateful(pod)


def _is_reported_at_subdomain(pod: Pod) -> bool:
    """Return whether subdomain-differs reports that the pod's subdomain is not the Service that selects it."""
    indexed = nested_map(pod.job.manifest, "spec").get("completionMode") == "Indexed"
    return indexed and _is_reported_at_service(pod) and pod.job.size > 1


def _has_reported_subdomain(subject: Subject, pod: Pod, name: _ClusterName) -> bool:
    """Return whether subdomain-differs reports the headless Service of another name that selects the pods."""
    if name.service != pod.view.subdomain or not _is_reported_at_subdomain(pod):
        return False
    found = subject.neighbors.services_selecting(pod.view.labels)
    return any(as_string(nested_map(one, "spec").get("clusterIP")) == "None" for one in found)


def _is_own_subdomain_name(pod: Pod, host: str) -> bool:
    """Whether a host is the pod's own `pod.subdomain`, and so no name of a Service in a namespace."""
    view = pod.view
    return view.subdomain != view.namespace and host == f"{view.hostname}.{view.subdomain}"


def _wrong_domain(labels: Sequence[str]) -> WrongHost | None:
    """A slip in `svc.cluster.local`."""
    tail = ".".join(labels[labels.index("svc", 2) + 1 :]) if "svc" in labels[2:4] else ""
    if tail and tail != _CLUSTER_DOMAIN and nearest(tail, (_CLUSTER_DOMAIN,)):
        right = ".".join(labels).removesuffix(tail) + _CLUSTER_DOMAIN
        return WrongHost(f"the cluster's domain is {_CLUSTER_DOMAIN}, not {tail}", right, is_certain=True)
    return None


def _parse_name(subject: Subject, job: WorkloadPods, labels: Sequence[str]) -> _ClusterName | None:
    """A host name by its parts; None for one from outside the cluster."""
    full = "svc" in labels[2:4]
    short = labels[: labels.index("svc", 2)] if full else labels
    if len(short) > 3 or (not full and len(labels) > 1 and labels[-1] in _TOP_DOMAINS):
        return None
    if len(short) != 2:
        return _ClusterName("", short[0], "") if len(short) == 1 else _ClusterName(short[0], short[1], short[2])
    service = full or short[1] == subject.metadata.get("namespace") or _services_named(subject, job, short[0])
    return _ClusterName("", short[0], short[1]) if service else _ClusterName(short[0], short[1], "")


def _services_named(subject: Subject, job: WorkloadPods, name: str) -> list[Json]:
    """The Services of a name: the operator's own, and those of the stream, of whatever namespace."""
    made = [one for one in job.expansion.services if object_name(one) == name]
    return [*made, *subject.objects.by_name(SERVICE, name)]


def _resolves(job: WorkloadPods, host: str) -> bool:
    """Whether a pod or a Service of a job answers to a name."""
    from ptcompile.simulator.meeting import resolve_host

    asking = next(iter(job.first_pods()), None)
    return asking is not None and resolve_host(job, host, asking[1]) is not None


def _resolves_elsewhere(subject: Subject, job: WorkloadPods, host: str) -> bool:
    """Whether another job of the stream answers, in the same namespace: only those are asked that may."""
    if subject.is_alone:
        return False
    from ptcompile.simulator.pod import hostname_stem

    label = host.partition(".")[0]
    known = subject.stream.cached(_jobs_by_name).get(job.namespace, {})
    near = {
        id(one): one
        for name in {label, label.rpartition("-")[0], hostname_stem(label), ""}
        for one in known.get(name, ())
    }
    return any(_resolves(one, host) for one in near.values() if one.manifest is not job.manifest)


def _peers_with_pod(subject: Subject, job: WorkloadPods, label: str) -> list[WorkloadPods]:
    """The other jobs of the stream, in the same namespace, of which a label is a pod's host name but for the index."""
    head, _, index = label.rpartition("-")
    if subject.is_alone or not index.isdigit():
        return []
    near = subject.stream.cached(_jobs_by_stem).get(job.namespace, {}).get(head, ())
    return [one for one in near if one.manifest is not job.manifest]


def _jobs_by_name(stream: Stream) -> dict[str, dict[str, list[WorkloadPods]]]:
    """The jobs of a stream by namespace, and by what their pods' host names begin with and their Services' names."""
    return _index_jobs(stream, lambda job: {*_hostname_stems(job), *map(object_name, job.expansion.services)})


def _hostname_stems(job: WorkloadPods) -> Iterator[str]:
    """For each role what its pods' host names have in common, without the indexes that end them."""
    from ptcompile.simulator.pod import hostname_stem

    for role in job.roles:
        if role.count:
            first, last = (job.pod(role, index).hostname or "" for index in (0, role.count - 1))
            head = first.rpartition("-")[0]
            yield (head or first) if head == last.rpartition("-")[0] else hostname_stem(first)


def _jobs_by_stem(stream: Stream) -> dict[str, dict[str, list[WorkloadPods]]]:
    """The jobs of a stream by namespace, and by their pods' host names without the last part."""
    return _index_jobs(stream, lambda job: {one.rpartition("-")[0] for one in _hostnames(job)})


def _index_jobs(stream: Stream, names: Callable[[WorkloadPods], set[str]]) -> dict[str, dict[str, list[WorkloadPods]]]:
    found: dict[str, dict[str, list[WorkloadPods]]] = {}
    for namespace, jobs in stream.cached(_jobs_by_namespace).items():
        there = found.setdefault(namespace, {})
        for job in jobs:
            for name in names(job):
                there.setdefault(name, []).append(job)
    return found


def _jobs_by_namespace(stream: Stream) -> dict[str, list[WorkloadPods]]:
    """All jobs of a stream by their namespaces."""
    from ptcompile.simulator.job import job_of

    found: dict[str, list[WorkloadPods]] = {}
    for manifest in stream.objects:
        if kind_of(manifest) in RUNS_PODS:
            # One that is too wide for its own rules still has names that others may ask for.
            job = subject_of(manifest, stream).job or job_of(manifest, stream.objects, stream.versions, None)
            found.setdefault(job.namespace, []).append(job)
    return found


def _wrong_namespace(subject: Subject, job: WorkloadPods, name: _ClusterName) -> WrongHost | None:
    """The job's own name, in a namespace that the job is not in."""
    space = as_string(subject.metadata.get("namespace"))
    if not name.space or not space or name.space == space or not _resolves(job, name.within):
        return None
    return WrongHost(
        f"the pods are in namespace {space}, not in {name.space}", f"{name.within}.{space}", is_certain=True
    )


def _service_elsewhere(subject: Subject, job: WorkloadPods, name: _ClusterName) -> WrongHost | None:
    """A name of a Service that the stream has in other namespaces alone."""
    here = as_string(subject.metadata.get("namespace"))
    there = {
        as_string(nested_map(one, "metadata").get("namespace"))
        for one in subject.objects.by_name(SERVICE, name.service)
    }
    if not there or here in there or (not here and "default" in there) or (name.pod and not _has_pod(job, name.pod)):
        return None
    where = ", ".join(sorted(one or "default" for one in there))
    reason = f"Service {name.service} is in namespace {where}, the pods are in {here or 'default'}"
    return WrongHost(reason, None, is_certain=bool(here) and "" not in there)


def _has_pod(job: WorkloadPods, label: str) -> bool:
    """Whether a label is the host name of one of the job's pods."""
    return _pod_with_hostname(job, label) is not None


def _pod_with_hostname(job: WorkloadPods, label: str) -> Pod | None:
    """Return the pod of the job that has a host name."""
    numbers = {int(one) for one in label.split("-")[-2:] if one.isascii() and one.isdigit() and len(one) < 10}
    pods = (job.pod(role, i) for role in job.roles_for_host(label) for i in sorted({0, *numbers}) if i < role.count)
    return next((pod for pod in pods if pod.hostname == label), None)


def _wrong_pod(subject: Subject, job: WorkloadPods, name: _ClusterName, complete: bool) -> WrongHost | None:
    """`pod.service`, which is not a pod of any object of the stream."""
    own, ours = _find_pod(subject, job, name.pod) is not None, _subdomains(job)
    hosts = _hostnames(job)
    if not own and kind_of(job.manifest) == POD and _could_be_pod(name.pod, job) and not complete:
        return None  # each Pod is an object of its own, and may be in another file
    alike = own or _could_be_pod(name.pod, job) or bool(_peers_with_pod(subject, job, name.pod))
    services = _services_named(subject, job, name.service)
    if name.service not in ours and not services:
        if not alike:
            return None
        said = f"the pods' subdomain is {min(ours)}, not {name.service}" if ours else "the pods have no subdomain"
        return WrongHost(said, _shortest_pod_name(job), is_certain=True)
    if own:  # a Service of another file may stand for them; of those here one that does not is told at the Service
        return None
    certain = alike or complete or any(map(_selects_one_job, services)) or _is_operator_service(job, name.service)
    near = certain or nearest(name.pod, hosts) is not None
    return (
        WrongHost(f"the job has no pod named {name.pod}", _shortest_pod_name(job), is_certain=certain) if near else None
    )


def _wrong_service(subject: Subject, job: WorkloadPods, name: _ClusterName, complete: bool) -> WrongHost | None:
    """The name of a Service, or of nothing."""
    made = {object_name(one) for one in job.expansion.services}
    known = made | {object_name(one) for one in subject.objects.of_kind(SERVICE)}
    if name.service in known:
        return None
    by_people = kind_of(job.manifest) in _USER_SERVED
    if _has_pod(job, name.service):
        served = not by_people or any(pod.dns for _, pod in job.first_pods())
        return WrongHost(f"no Service has the pod's name, {name.service}", _shortest_pod_name(job), is_certain=served)
    if _could_be_pod(name.service, job):
        return WrongHost(
            f"the job has no pod named {name.service}", _shortest_pod_name(job), is_certain=complete or not by_people
        )
    near = nearest(name.service, known)
    if near is None:
        return None
    return WrongHost(f"there is no Service {name.service}, but {near}", near, is_certain=near in made and complete)


def _selects_one_job(service: Json) -> bool:
    """Whether a Service selects the pods of one job alone."""
    return bool(_JOB_LABELS & selector(service).keys())


def _is_operator_service(job: WorkloadPods, name: str) -> bool:
    """Whether the operator makes the Service of this name, for the pods of this job."""
    return kind_of(job.manifest) not in _USER_SERVED and any(object_name(one) == name for one in job.expansion.services)


def _subdomains(job: WorkloadPods) -> set[str]:
    return {pod.view.subdomain for _, pod in job.first_pods() if pod.view.subdomain}


def _hostnames(job: WorkloadPods) -> set[str]:
    """The host names of the first and the last pod of each role."""
    pods = (job.pod(role, i) for role in job.roles if role.count for i in {0, role.count - 1})
    return {pod.hostname for pod in pods if pod.hostname}


def _could_be_pod(label: str, job: WorkloadPods) -> bool:
    """Whether a label is the host name of a pod of the job but for the index."""
    stem, _, index = label.rpartition("-")
    return index.isdigit() and any(one.rpartition("-")[0] == stem for one in _hostnames(job))


def _shortest_pod_name(job: WorkloadPods) -> str | None:
    """The shortest name of the first pod that has one."""
    from ptcompile.simulator.meeting import dns_names

    return next((dns_names(pod)[-1] for _, pod in job.first_pods() if dns_names(pod)), None)
