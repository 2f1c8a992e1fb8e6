"""Endpoints that lead to no pod of a job, in sentences; `simulator.hostnames` finds the reasons."""

from __future__ import annotations

from ptcompile.kubernetes.index import USER_SERVED, is_headless
from ptcompile.kubernetes.unstructured import kind_of, nested_value, object_name
from ptcompile.linter.rule import Subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.simulator.hostnames import HostMistake


_REASONS = {
    "domain": "the cluster's domain is {existing}, not {written}",
    "namespace": "the pods are in namespace {existing}, not in {written}",
    "renamed": (
        "the job is named {existing}, but the address still has the name {written}, as after "
        "Kustomize's namePrefix"
    ),
    "namespace of Service": "Service {written} is in namespace {existing}, but the pods are in {namespace}",
    "subdomain": "the pods' subdomain is {existing}, not {written}",
    "pod": "the job has no pod named {written}",
    "pod as Service": "no Service has the pod's name, {written}",
    "spelling": "no Service is named {written}, but {existing} exists",
    "subdomain of pods": "the pods' {field} is {existing}, not {written}",
    "no subdomain of pods": "{field} is not set",
    "selector": "the Service {written} does not select the pods",
    "cluster IP": "the Service {written} has a cluster IP, so it names no pods",
    "hostname": "the pod has a subdomain but no hostname",
}
_HELP = {
    "renamed": "compile the spec with --name {existing}, or rename the address, the subdomain and the "
    "Service too",
    "subdomain of pods": "set {field} to {written}",
    "selector": "select labels of the pods",
    "cluster IP": "set clusterIP to None",
    "hostname": "set hostname to {better}",
}


def sentence_of(mistake: HostMistake, subject: Subject) -> str:
    """Return why nothing answers to the host."""
    if _is_nameless(mistake):
        return subject.record.rendezvous.nameless or "the pods have no subdomain"
    is_unset = mistake.name == "subdomain of pods" and not mistake.existing
    return _fill_template(
        _REASONS[f"no {mistake.name}" if is_unset else mistake.name], mistake, subject
    )


def help_of(mistake: HostMistake, subject: Subject, otherwise: str) -> str:
    """Return what to do about a host; `otherwise` if the files have no better name."""
    if _is_nameless(mistake):
        return subject.record.rendezvous.naming or otherwise
    fallback = "write {better}" if mistake.better else otherwise
    return _fill_template(_HELP.get(mistake.name, fallback), mistake, subject)


def _is_nameless(mistake: HostMistake) -> bool:
    """Return whether no pod of the job has a subdomain."""
    return mistake.name == "subdomain" and not mistake.existing


def _fill_template(text: str, mistake: HostMistake, subject: Subject) -> str:
    is_stateful = mistake.pod is not None and mistake.pod.job.kind == "StatefulSet"
    return text.format(
        written=mistake.written,
        existing=mistake.existing,
        better=mistake.better,
        namespace=subject.namespace,
        field="serviceName" if is_stateful else "subdomain",
    )


def is_reported_at_service(mistake: HostMistake, subject: Subject) -> bool:
    """Return whether service-not-headless, selector-misses-pods or subdomain-differs reports what
    keeps a Service from resolving the name.
    """
    pod = mistake.pod
    services = mistake.services
    if pod is None or kind_of(pod.job.manifest) not in USER_SERVED or mistake.name == "hostname":
        return False
    if mistake.name in ("selector", "cluster IP"):
        return not any(id(service) in subject.stream.related_ids for service in services)

    is_indexed = nested_value(pod.job.manifest, "spec", "completionMode") == "Indexed"
    serving = [*filter(is_headless, subject.neighbors.services_selecting(pod.view.labels))]
    if services:
        serving = [service for service in serving if object_name(service) == mistake.written]
    elif mistake.written != pod.view.subdomain:
        return False

    return is_indexed and pod.job.size > 1 and bool(serving)
