"""The API server's own field rules, kind by kind, and one checker of pods for all that hold pods.

What only one kind needs is imported when it comes by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ptcompile.findings.diagnostics import Problem
from ptcompile.kubernetes import names
from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f
from ptcompile.validate.core.metadata import check_finalizers, check_generation, check_metadata, metadata_problems
from ptcompile.validate.core.pod import check_pod_spec, pod_spec
from ptcompile.validate.core.pod_admission import check_pod_annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    Check = Callable[[Mapping[str, Any], ApiServer], Iterator[Problem]]

__all__ = ["KINDS", "ApiServer", "metadata_problems", "pod_spec"]


def _pod(manifest: Mapping[str, Any], context: ApiServer) -> Iterator[Problem]:
    found: f.Found = []
    meta, spec = manifest.get("metadata"), manifest.get("spec")
    check_metadata(meta, ("metadata",), found, names.why_not_dns_subdomain)
    check_pod_annotations(meta, spec, ("metadata",), found)
    check_pod_spec(spec, ("spec",), context, found, template=False)
    return iter(found)


def _job(manifest: Mapping[str, Any], context: ApiServer) -> Iterator[Problem]:
    from ptcompile.validate.core.job import check_job, check_job_pods

    found: f.Found = []
    pods: f.Found = []
    check_metadata(manifest.get("metadata"), ("metadata",), found, names.why_not_dns_subdomain)
    check_job(manifest, context, found)
    check_job_pods(manifest, pods)
    yield from found
    yield from f.at_stage(pods, "pod")


def _service(manifest: Mapping[str, Any], context: ApiServer) -> Iterator[Problem]:
    from ptcompile.validate.core.service import check_service, why_not_service_name

    found: f.Found = []

    def name_rule(name: str) -> str | None:
        return why_not_service_name(name, context)

    check_metadata(manifest.get("metadata"), ("metadata",), found, name_rule)
    check_service(manifest, context, found)
    check_generation(manifest, found)
    return iter(found)


def _config_map(manifest: Mapping[str, Any], context: ApiServer) -> Iterator[Problem]:
    from ptcompile.validate.core.configmap import check_config_map

    found: f.Found = []
    check_metadata(manifest.get("metadata"), ("metadata",), found, names.why_not_dns_subdomain)
    check_config_map(manifest, context, found)
    check_generation(manifest, found)
    return iter(found)


def _secret(manifest: Mapping[str, Any], context: ApiServer) -> Iterator[Problem]:
    from ptcompile.validate.core.configmap import check_secret

    found: f.Found = []
    check_metadata(manifest.get("metadata"), ("metadata",), found, names.why_not_dns_subdomain)
    check_secret(manifest, context, found)
    check_generation(manifest, found)
    return iter(found)


def _claim(manifest: Mapping[str, Any], context: ApiServer) -> Iterator[Problem]:
    from ptcompile.validate.core.pvc import check_claim

    found: f.Found = []
    check_metadata(manifest.get("metadata"), ("metadata",), found, names.why_not_dns_subdomain)
    check_claim(manifest, context, found)
    check_generation(manifest, found)
    return iter(found)


def _namespace(manifest: Mapping[str, Any], context: ApiServer) -> Iterator[Problem]:
    found: f.Found = []
    check_metadata(manifest.get("metadata"), ("metadata",), found, names.why_not_dns_label)
    check_generation(manifest, found)
    check_finalizers(f.mapping(manifest.get("spec")).get("finalizers"), ("spec", "finalizers"), found)
    return iter(found)


def _network_policy(manifest: Mapping[str, Any], context: ApiServer) -> Iterator[Problem]:
    from ptcompile.validate.core.networkpolicy import check_network_policy

    found: f.Found = []
    check_metadata(manifest.get("metadata"), ("metadata",), found, names.why_not_dns_subdomain)
    check_network_policy(manifest, context, found)
    return iter(found)


KINDS: Final[dict[tuple[str, str], Check]] = {
    ("v1", "Pod"): _pod,
    ("batch/v1", "Job"): _job,
    ("v1", "Service"): _service,
    ("v1", "ConfigMap"): _config_map,
    ("v1", "Secret"): _secret,
    ("v1", "PersistentVolumeClaim"): _claim,
    ("v1", "Namespace"): _namespace,
    ("networking.k8s.io/v1", "NetworkPolicy"): _network_policy,
}
"""The built-in kinds that are checked, by apiVersion and kind. For operators' kinds see `templates`."""
