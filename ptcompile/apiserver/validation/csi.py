"""CSIDriver and VolumeAttachment.

Source: Kubernetes 1.36 `pkg/apis/storage/validation`, in its order and words.
"""

from __future__ import annotations

from ptcompile.apiserver.validation.field import FieldValue
from ptcompile.apiserver.validation.storage import check_inline_volume
from ptcompile.apiserver.validation.values import check_driver_name, check_token_seconds
from ptcompile.kubernetes import names

_UPDATE_SECONDS_MIN = 10


def check_csi_driver(driver: FieldValue) -> None:
    """Check a CSIDriver, except its metadata."""
    spec = driver["spec"]
    requests = spec["tokenRequests"]
    seconds = spec["nodeAllocatableUpdatePeriodSeconds"]
    in_secrets = spec["serviceAccountTokenInSecrets"]
    spec["fsGroupPolicy"].check_choice(("ReadWriteOnceWithFSType", "File", "None"))
    _check_token_requests(requests)
    for mode in spec["volumeLifecycleModes"].texts():
        mode.check_choice(("Ephemeral", "Persistent"))
    has_period = spec.server.has_gate("MutableCSINodeAllocatableCount", 35)
    if has_period:
        why = f"must be greater than or equal to {_UPDATE_SECONDS_MIN} seconds"
        seconds.check_at_least(_UPDATE_SECONDS_MIN, why)
    has_secrets = spec.server.has_gate("CSIServiceAccountTokenSecrets", 35)
    if has_secrets and in_secrets.value is not None and not requests.value:
        why = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        in_secrets.invalid(why, "add tokenRequests, or remove it")


def _check_token_requests(requests: FieldValue) -> None:
    seen: set[str] = set()
    for request in requests.objects():
        audience = request["audience"].or_default("")
        if audience.is_text:
            if audience.value in seen:
                audience.duplicate()
                continue
            seen.add(audience.value)
        check_token_seconds(request["expirationSeconds"])


def check_volume_attachment(attachment: FieldValue) -> None:
    """Check a VolumeAttachment, except its metadata."""
    spec = attachment["spec"]
    check_driver_name(spec["attacher"])
    _check_attached(spec["source"])
    spec["nodeName"].or_default("").check_text(names.why_not_dns_subdomain)


def _check_attached(source: FieldValue) -> None:
    inline = source["inlineVolumeSpec"]
    volume = source["persistentVolumeName"]
    why_one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
    if inline.value is None and volume.value is None:
        source.required(why_one, "name the volume: persistentVolumeName")
    elif inline.value is not None and volume.value is not None:
        source.forbidden(why_one, "keep one of the two")
    elif volume.value == "":
        volume.required("must specify non empty persistentVolumeName")
    elif inline.is_mapping:
        check_inline_volume(inline)

    volume.check_optional_text(names.why_not_dns_subdomain)
