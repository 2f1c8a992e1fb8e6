"""CSIDriver and VolumeAttachment.

Source: Kubernetes 1.36 `pkg/apis/storage/validation`, in its order and words.
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.validation.storage import check_inline_volume
from ptcompile.apiserver.validation.values import check_driver_name, check_token_seconds
from ptcompile.diagnostics import Path
from ptcompile.diagnostics.field_errors import FieldErrors, indexed_mappings, indexed_texts
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, nested_map

_UPDATE_SECONDS_MIN = 10


def check_csi_driver(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a CSIDriver, except its metadata."""
    spec = nested_map(manifest, "spec")
    path = ("spec",)
    policy = spec.get("fsGroupPolicy")
    problems.check_choice((*path, "fsGroupPolicy"), policy, ("ReadWriteOnceWithFSType", "File", "None"))
    _check_token_requests(spec.get("tokenRequests"), (*path, "tokenRequests"), problems)
    for index, mode in indexed_texts(spec.get("volumeLifecycleModes")):
        problems.check_choice((*path, "volumeLifecycleModes", index), mode, ("Ephemeral", "Persistent"))
    seconds = spec.get("nodeAllocatableUpdatePeriodSeconds")
    has_period = context.has_gate("MutableCSINodeAllocatableCount", 35)
    if has_period and type(seconds) is int and seconds < _UPDATE_SECONDS_MIN:
        why = f"must be greater than or equal to {_UPDATE_SECONDS_MIN} seconds"
        problems.invalid((*path, "nodeAllocatableUpdatePeriodSeconds"), seconds, why)
    in_secrets = spec.get("serviceAccountTokenInSecrets")
    has_secrets = context.has_gate("CSIServiceAccountTokenSecrets", 35)
    if has_secrets and in_secrets is not None and not spec.get("tokenRequests"):
        why = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        problems.invalid((*path, "serviceAccountTokenInSecrets"), in_secrets, why, "add tokenRequests, or remove it")


def _check_token_requests(requests: Any, path: Path, problems: FieldErrors) -> None:
    seen: set[str] = set()
    for index, request in indexed_mappings(requests):
        audience = request.get("audience") or ""
        if type(audience) is str:
            if audience in seen:
                problems.duplicate((*path, index, "audience"), audience)
                continue
            seen.add(audience)
        check_token_seconds(problems, (*path, index, "expirationSeconds"), request.get("expirationSeconds"))


def check_volume_attachment(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a VolumeAttachment, except its metadata."""
    spec = nested_map(manifest, "spec")
    path = ("spec",)
    check_driver_name(spec.get("attacher"), (*path, "attacher"), problems)
    _check_attached(nested_map(spec, "source"), (*path, "source"), context, problems)
    problems.check_text((*path, "nodeName"), spec.get("nodeName") or "", names.why_not_dns_subdomain)


def _check_attached(source: Json, path: Path, context: ApiServer, problems: FieldErrors) -> None:
    inline = source.get("inlineVolumeSpec")
    volume = source.get("persistentVolumeName")
    why_one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
    if inline is None and volume is None:
        problems.required(path, why_one, "name the volume: persistentVolumeName")
    elif inline is not None and volume is not None:
        problems.forbidden(path, why_one, "keep one of the two")
    elif volume == "":
        why = "must specify non empty persistentVolumeName"
        problems.required((*path, "persistentVolumeName"), why)
    elif type(inline) is dict:
        check_inline_volume(inline, (*path, "inlineVolumeSpec"), context, problems)
    problems.check_optional_text((*path, "persistentVolumeName"), volume, names.why_not_dns_subdomain)
