"""Volumes and their sources.

Source: docs/facts/api-server.md#volumes-and-mounts 74 to 78, 85 to 91, Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.schema_files import load_table
from ptcompile.apiserver.validation.context import is_dropped
from ptcompile.apiserver.validation.env import VOLUME_FIELDS, check_field_ref, check_resource_ref
from ptcompile.apiserver.validation.field import FieldValue, only_field
from ptcompile.apiserver.validation.mounts import why_not_forward, why_not_relative
from ptcompile.apiserver.validation.values import (
    PULL_POLICIES,
    check_driver_name,
    check_token_seconds,
)
from ptcompile.diagnostics.field_errors import indexed_mappings, key_path, label_help
from ptcompile.kubernetes import names
from ptcompile.kubernetes.quantity import parse
from ptcompile.kubernetes.unstructured import Json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    VolumeSourceCheck = Callable[[FieldValue], None]


_is_iscsi_name = Pattern(
    r"iqn\.[0-9]{4}-[0-9]{2}\.[A-Za-z0-9.-]+(?::[^,;*&$|\s]+)?|eui\.[A-Fa-f0-9]{16}|naa\.[A-Fa-f0-9]{32}"
).fullmatch


def _check_csi(source: FieldValue) -> None:
    """Check an inline volume of a driver (Kubernetes 1.36 `validateCSIVolumeSource`)."""
    secret = source["nodePublishSecretRef"]
    check_driver_name(source["driver"])
    if secret.is_mapping:
        secret.require("name")


def _check_fc(source: FieldValue) -> None:
    """Check a Fibre Channel disk, named by targetWWNs and lun or by wwids."""
    targets = source["targetWWNs"]
    has_ids = bool(source.get("wwids"))
    if not targets.value and not has_ids:
        targets.required("must specify either targetWWNs or wwids, but not both")
    elif targets.value and has_ids:
        targets.invalid("targetWWNs and wwids can not be specified simultaneously")
    if targets.value:
        source["lun"].check_set("lun is required if targetWWNs is specified")
        source["lun"].check_range(0, 255)


def _check_flocker(source: FieldValue) -> None:
    """Check a data set, given by name or by UUID."""
    name = source["datasetName"]
    uuid = source["datasetUUID"]
    if not name.value and not uuid.value:
        source.required("one of datasetName and datasetUUID is required")
    elif name.value and uuid.value:
        source.replaced("resource").invalid(
            "datasetName and datasetUUID can not be specified simultaneously"
        )
    elif name.is_text and "/" in name.value:
        name.invalid("must not contain '/'")


def _check_iscsi(source: FieldValue) -> None:
    """Check portal, target name, logical unit and login secret."""
    secret = source["secretRef"]
    uses_secret = source.get("chapAuthDiscovery") is True or source.get("chapAuthSession") is True
    help = "write iqn.yyyy-mm.domain:name"
    source["iqn"].check_optional_text(_why_not_iscsi_name, help)
    source["initiatorName"].check_text(_why_not_iscsi_name, help)
    source["lun"].check_range(0, 255)
    if secret.value is None and uses_secret:
        secret.required()
    elif secret.is_mapping:
        secret.require("name")


def _why_not_iscsi_name(name: str) -> str | None:
    return None if _is_iscsi_name(name) else "must be valid format"


_MODE_MAX = 0o777


def why_not_file(text: str) -> str | None:
    """Return why a path cannot be a file in a volume of keys, or None if it can."""
    return why_not_relative(text) or ("must not start with '..'" if text.startswith("..") else None)


def _check_mode(mode: FieldValue) -> None:
    why = "must be a number between 0 and 0777 (octal), both inclusive"
    help = "write it in octal with a leading 0, for example 0644"
    mode.check_range(0, _MODE_MAX, why, help)


def _check_items(items: FieldValue) -> None:
    for item in items.objects():
        item.require("key")
        item["path"].check_required_text(why_not_file)
        _check_mode(item["mode"])


def _check_keys(source: FieldValue) -> None:
    """Check `configMap` and `secret` as volumes."""
    _check_mode(source["defaultMode"])
    _check_items(source["items"])


def _check_downward(source: FieldValue) -> None:
    """Check `downwardAPI` as a volume."""
    _check_mode(source["defaultMode"])
    _project_downward(source)


def _project_downward(source: FieldValue) -> None:
    for item in source["items"].objects():
        field = item["fieldRef"]
        resource = item["resourceFieldRef"]
        item["path"].check_required_text(why_not_file)
        if field.value is not None and resource.value is not None:
            why = "fieldRef and resourceFieldRef can not be specified simultaneously"
            item.replaced("resource").invalid(why, "keep one of them")
        if field.is_mapping:
            check_field_ref(field, VOLUME_FIELDS)
        elif resource.is_mapping:
            check_resource_ref(resource, volume=True)
        elif field.value is None and resource.value is None:
            item.required(
                "one of fieldRef and resourceFieldRef is required",
                "set fieldRef or resourceFieldRef",
            )

        _check_mode(item["mode"])


def _check_projected(source: FieldValue) -> None:
    """Check several sources in one directory."""
    _check_mode(source["defaultMode"])
    seen: set[str] = set()
    for item in source["sources"].objects():
        projection = only_field(item.set_fields(_PROJECTIONS), "volume")
        if projection is not None and projection.is_mapping:
            _PROJECTIONS[str(projection.key)](projection)
            _check_conflicts(projection, seen)


def _check_conflicts(source: FieldValue, seen: set[str]) -> None:
    for file in (source["path"], *(item["path"] for item in source["items"].objects())):
        if file.is_text and file.value:
            if file.value in seen:
                file.invalid("conflicting duplicate paths", "give each file its own path")
            seen.add(file.value)


def _project_keys(source: FieldValue) -> None:
    source.require("name")
    _check_items(source["items"])


def _project_token(source: FieldValue) -> None:
    check_token_seconds(source["expirationSeconds"])
    source["path"].check_required_text(why_not_file)


def _project_bundle(source: FieldValue) -> None:
    name = source["name"]
    signer = source["signerName"]
    if name.value and signer.value:
        source.invalid("only one of name and signerName may be used")
    elif name.value is None and signer.value is None:
        source.required("either name or signerName must be specified")
    elif name.is_text:
        name.check_required_text(lambda text: names.why_not_dns_subdomain(text.replace(":", ".")))
    source["path"].check_required_text(why_not_file)


_PROJECTIONS: dict[str, VolumeSourceCheck] = {
    "secret": _project_keys,
    "configMap": _project_keys,
    "downwardAPI": _project_downward,
    "serviceAccountToken": _project_token,
    "clusterTrustBundle": _project_bundle,
    "podCertificate": lambda source: source.require("signerName", "keyType"),
}


_HOST_PATH_TYPES = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)


def volumes_by_name(volumes: Any) -> Json | None:
    """Return the volumes by name, or None if the list or one of the names has the wrong type."""
    if volumes is None:
        return {}
    if type(volumes) is not list:
        return None

    out = {}
    for _, volume in indexed_mappings(volumes):
        name = volume.get("name")
        if name is not None and type(name) is not str:
            return None
        out[name or ""] = volume

    return out


def check_volumes(volumes: FieldValue) -> None:
    """Check `spec.volumes`. A volume without a source is an emptyDir."""
    seen = set[str]()
    for volume in volumes.objects():
        name = volume["name"]
        if name.is_text and name.value:
            why = names.why_not_dns_label(name.value)
            if why:
                name.invalid(why, label_help(name.value))
            name.check_unseen(seen)
        elif name.is_empty:
            name.required(help="name the volume; containers mount it by this name")
        _check_source(volume)


def _check_source(volume: FieldValue) -> None:
    sources = [
        key for key, source in volume.mapping.items() if source is not None and key in _SOURCE_ORDER
    ]
    if len(sources) > 1:
        sources = [key for key in sources if not is_dropped(key, volume.server)]
        sources.sort(key=_SOURCE_ORDER.__getitem__)

    source = only_field(volume.set_fields(sources), "volume")
    if source is not None and source.is_mapping:
        check_one_source(source)


def check_one_source(source: FieldValue) -> None:
    """Check a volume source: the key of the field is its kind."""
    row = _SOURCES[str(source.key)]
    source.require(*row.get("required", ()))
    for key in row.get("references", ()):
        if source[key].is_mapping:
            source[key].require("name")
    if check := _CHECKS.get(str(source.key)):
        check(source)


def _check_empty_dir(source: FieldValue) -> None:
    size = parse(source.get("sizeLimit"))
    if size is not None and size.nano < 0:
        source["sizeLimit"].forbidden(
            "SizeLimit field must be a valid resource quantity", "use an amount of 0 or more"
        )
    source["mode"].check_range(0, 0o1777)


def _check_host_path(source: FieldValue) -> None:
    source["path"].check_required_text(why_not_forward)
    source["type"].check_choice(_HOST_PATH_TYPES)


def _check_claim(source: FieldValue) -> None:
    source["claimName"].check_filled(help="name a PersistentVolumeClaim of the namespace")


def _check_nfs(source: FieldValue) -> None:
    path = source["path"]
    if path.is_text and path.value and not path.value.startswith("/"):
        path.invalid("must be an absolute path", f"write /{path.value}")


def _check_ephemeral(source: FieldValue) -> None:
    template = source["volumeClaimTemplate"]
    template.check_set()
    if template.is_mapping:
        from ptcompile.apiserver.validation.volume_claims import check_claim_spec

        spec = template["spec"]
        check_claim_spec(spec.value, spec.path, spec.problems)


def _check_image(source: FieldValue) -> None:
    if source["reference"].is_empty and not source.scope.template:
        source["reference"].required()
    source["pullPolicy"].check_optional_choice(PULL_POLICIES)


def _check_disk(source: FieldValue) -> None:
    source["partition"].check_range(0, 255)


def _why_not_inside(path: str) -> str | None:
    if why_not_relative(path):
        return "must be a relative path without '..'"
    return None


def _check_flex(source: FieldValue) -> None:
    for key, option in source["options"].entries():
        domain, _, _ = key.partition("/")
        if domain.endswith((".kubernetes.io", ".k8s.io")) or domain in ("kubernetes.io", "k8s.io"):
            why = "kubernetes.io and k8s.io namespaces are reserved"
            option.replaced(key).invalid(why, field=key_path(option.path))


_SOURCES: dict[str, Json] = load_table("apiserver/validation/volume_sources.json")["sources"]
"""Fields that each volume source requires, and its references that need a name, in the server's
order: it rejects the second source that is set.
"""

_SOURCE_ORDER = {name: place for place, name in enumerate(_SOURCES)}

_CHECKS: dict[str, VolumeSourceCheck] = {
    "emptyDir": _check_empty_dir,
    "hostPath": _check_host_path,
    "gitRepo": lambda source: source["directory"].check_optional_text(_why_not_inside),
    "gcePersistentDisk": _check_disk,
    "awsElasticBlockStore": _check_disk,
    "secret": _check_keys,
    "nfs": _check_nfs,
    "iscsi": _check_iscsi,
    "persistentVolumeClaim": _check_claim,
    "flocker": _check_flocker,
    "downwardAPI": _check_downward,
    "fc": _check_fc,
    "flexVolume": _check_flex,
    "configMap": _check_keys,
    "projected": _check_projected,
    "csi": _check_csi,
    "ephemeral": _check_ephemeral,
    "image": _check_image,
}
"""What the server checks of a volume source besides."""
