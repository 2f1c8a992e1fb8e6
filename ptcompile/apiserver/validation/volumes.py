"""Volumes and their sources.

Source: docs/facts/api-server.md#volumes-and-mounts 74 to 78, 85 to 91, Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from ptcompile._internal.lazy import Pattern
from ptcompile.apiserver.validation.context import PodContext, is_dropped
from ptcompile.apiserver.validation.env import VOLUME_FIELDS, check_field_ref, check_resource_ref
from ptcompile.apiserver.validation.mounts import why_not_forward, why_not_relative
from ptcompile.apiserver.validation.values import check_driver_name, check_token_seconds
from ptcompile.diagnostics import Path
from ptcompile.diagnostics.field_errors import FieldErrors, indexed_mappings, is_empty, key_path, label_help
from ptcompile.kubernetes import names
from ptcompile.kubernetes.quantity import parse
from ptcompile.kubernetes.unstructured import Json, nested_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    VolumeSourceCheck = Callable[[Json, Path, PodContext], None]


_is_iqn = Pattern(r"iqn\.[0-9]{4}-[0-9]{2}\.[A-Za-z0-9.-]+(?::[^,;*&$|\s]+)?").fullmatch
_is_eui = Pattern(r"eui\.[A-Fa-f0-9]{16}").fullmatch
_is_naa = Pattern(r"naa\.[A-Fa-f0-9]{32}").fullmatch


def check_csi(source: Json, path: Path, scope: PodContext) -> None:
    """Check `csi`: an inline volume of a driver (Kubernetes 1.36 `validateCSIVolumeSource`)."""
    problems = scope.problems
    driver = source.get("driver")
    secret = source.get("nodePublishSecretRef")
    check_driver_name(driver, (*path, "driver"), problems)
    if type(secret) is dict:
        problems.check_required(secret, (*path, "nodePublishSecretRef"), "name")


def check_fc(source: Json, path: Path, scope: PodContext) -> None:
    """Check `fc`: a Fibre Channel disk, named by targetWWNs and lun or by wwids."""
    problems = scope.problems
    targets = source.get("targetWWNs")
    ids = source.get("wwids")
    lun = source.get("lun")
    if not targets and not ids:
        problems.required((*path, "targetWWNs"), "must specify either targetWWNs or wwids, but not both")
    elif targets and ids:
        problems.invalid((*path, "targetWWNs"), targets, "targetWWNs and wwids can not be specified simultaneously")
    if targets:
        if lun is None:
            problems.required((*path, "lun"), "lun is required if targetWWNs is specified")
        problems.check_range((*path, "lun"), lun, 0, 255)


def check_flocker(source: Json, path: Path, scope: PodContext) -> None:
    """Check `flocker`: a data set, given by name or by UUID."""
    name = source.get("datasetName")
    uuid = source.get("datasetUUID")
    if not name and not uuid:
        scope.problems.required(path, "one of datasetName and datasetUUID is required")
    elif name and uuid:
        why = "datasetName and datasetUUID can not be specified simultaneously"
        scope.problems.invalid(path, "resource", why)
    elif type(name) is str and "/" in name:
        scope.problems.invalid((*path, "datasetName"), name, "must not contain '/'")


def check_iscsi(source: Json, path: Path, scope: PodContext) -> None:
    """Check `iscsi`: portal, target name, logical unit and login secret."""
    problems = scope.problems
    target = source.get("iqn")
    initiator = source.get("initiatorName")
    scope.problems.check_required(source, path, "targetPortal", "iqn")
    for key, name in (("iqn", target), ("initiatorName", initiator)):
        if type(name) is str and (name or key != "iqn") and not (_is_iqn(name) or _is_eui(name) or _is_naa(name)):
            problems.invalid((*path, key), name, "must be valid format", "write iqn.yyyy-mm.domain:name")
    problems.check_range((*path, "lun"), source.get("lun"), 0, 255)
    secret = source.get("secretRef")
    if secret is None and (source.get("chapAuthDiscovery") is True or source.get("chapAuthSession") is True):
        problems.required((*path, "secretRef"))
    elif type(secret) is dict:
        problems.check_required(secret, (*path, "secretRef"), "name")


_MODE_MAX = 0o777


def why_not_file(text: str) -> str | None:
    """Return why a path cannot be a file in a volume of keys, or None if it can."""
    return why_not_relative(text) or ("must not start with '..'" if text.startswith("..") else None)


def _check_mode(problems: FieldErrors, path: Path, mode: Any) -> None:
    if type(mode) is int and not 0 <= mode <= _MODE_MAX:
        help = "write it in octal with a leading 0, for example 0644"
        problems.invalid(path, mode, "must be a number between 0 and 0777 (octal), both inclusive", help)


def _check_items(items: Any, path: Path, problems: FieldErrors) -> None:
    for index, item in indexed_mappings(items):
        item_path = (*path, index)
        problems.check_required(item, item_path, "key")
        problems.check_required_text((*item_path, "path"), item.get("path"), why_not_file)
        _check_mode(problems, (*item_path, "mode"), item.get("mode"))


def check_config_map(source: Json, path: Path, scope: PodContext) -> None:
    """Check `configMap` as a volume."""
    _check_keys(source, path, scope.problems, "name")


def check_secret(source: Json, path: Path, scope: PodContext) -> None:
    """Check `secret` as a volume."""
    _check_keys(source, path, scope.problems, "secretName")


def _check_keys(source: Json, path: Path, problems: FieldErrors, name: str) -> None:
    problems.check_required(source, path, name)
    _check_mode(problems, (*path, "defaultMode"), source.get("defaultMode"))
    _check_items(source.get("items"), (*path, "items"), problems)


def check_downward(source: Json, path: Path, scope: PodContext) -> None:
    """Check `downwardAPI` as a volume."""
    _check_mode(scope.problems, (*path, "defaultMode"), source.get("defaultMode"))
    _check_downward_items(source.get("items"), (*path, "items"), scope)


def _check_downward_items(items: Any, path: Path, scope: PodContext) -> None:
    problems = scope.problems
    for index, item in indexed_mappings(items):
        item_path = (*path, index)
        field = item.get("fieldRef")
        resource = item.get("resourceFieldRef")
        problems.check_required_text((*item_path, "path"), item.get("path"), why_not_file)
        if field is not None and resource is not None:
            why = "fieldRef and resourceFieldRef can not be specified simultaneously"
            problems.invalid(item_path, "resource", why, "keep one of them")
        if type(field) is dict:
            check_field_ref(field, (*item_path, "fieldRef"), problems, VOLUME_FIELDS)
        elif type(resource) is dict:
            check_resource_ref(resource, (*item_path, "resourceFieldRef"), problems, volume=True)
        elif field is None and resource is None:
            problems.required(
                item_path,
                "one of fieldRef and resourceFieldRef is required",
                "set fieldRef or resourceFieldRef",
            )
        _check_mode(problems, (*item_path, "mode"), item.get("mode"))


def check_projected(source: Json, path: Path, scope: PodContext) -> None:
    """Check `projected`: several sources in one directory."""
    problems = scope.problems
    _check_mode(problems, (*path, "defaultMode"), source.get("defaultMode"))
    seen: set[str] = set()
    for index, item in indexed_mappings(source.get("sources")):
        item_path = (*path, "sources", index)
        projections = [key for key in _PROJECTIONS if item.get(key) is not None]
        for key in projections[1:]:
            problems.forbidden(
                (*item_path, key), "may not specify more than 1 volume type", f"keep only {projections[0]}"
            )
        for key in projections[:1]:
            if type(item[key]) is dict:
                _PROJECTIONS[key](item[key], (*item_path, key), scope)
                _check_conflicts(item[key], (*item_path, key), seen, problems)


def _check_conflicts(source: Json, path: Path, seen: set[str], problems: FieldErrors) -> None:
    file_paths: list[tuple[Path, Any]] = [((*path, "path"), source.get("path"))]
    file_paths += [((*path, "items", i, "path"), item.get("path")) for i, item in indexed_mappings(source.get("items"))]
    for file_path, file in file_paths:
        if type(file) is str and file:
            if file in seen:
                problems.invalid(file_path, file, "conflicting duplicate paths", "give each file its own path")
            seen.add(file)


def _project_keys(source: Json, path: Path, scope: PodContext) -> None:
    scope.problems.check_required(source, path, "name")
    _check_items(source.get("items"), (*path, "items"), scope.problems)


def _project_downward(source: Json, path: Path, scope: PodContext) -> None:
    _check_downward_items(source.get("items"), (*path, "items"), scope)


def _project_token(source: Json, path: Path, scope: PodContext) -> None:
    check_token_seconds(scope.problems, (*path, "expirationSeconds"), source.get("expirationSeconds"))
    scope.problems.check_required_text((*path, "path"), source.get("path"), why_not_file)


def _project_bundle(source: Json, path: Path, scope: PodContext) -> None:
    problems = scope.problems
    name = source.get("name")
    signer = source.get("signerName")
    if name and signer:
        problems.invalid(path, source, "only one of name and signerName may be used")
    elif name is None and signer is None:
        problems.required(path, "either name or signerName must be specified")
    elif type(name) is str and not name:
        problems.required((*path, "name"))
    elif type(name) is str and (why := names.why_not_dns_subdomain(name.replace(":", "."))):
        problems.invalid((*path, "name"), name, why)
    problems.check_required_text((*path, "path"), source.get("path"), why_not_file)


def _project_certificate(source: Json, path: Path, scope: PodContext) -> None:
    scope.problems.check_required(source, path, "signerName", "keyType")


_PROJECTIONS = {
    "secret": _project_keys,
    "configMap": _project_keys,
    "downwardAPI": _project_downward,
    "serviceAccountToken": _project_token,
    "clusterTrustBundle": _project_bundle,
    "podCertificate": _project_certificate,
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


def check_volumes(value: Any, path: Path, scope: PodContext) -> None:
    """Check `spec.volumes`. A volume without a source is an emptyDir."""
    problems = scope.problems
    seen = set[str]()
    for index, volume in indexed_mappings(value):
        name = volume.get("name")
        volume_path = (*path, index)
        if type(name) is str and name:
            if why := names.why_not_dns_label(name):
                problems.invalid((*volume_path, "name"), name, why, label_help(name))
            problems.check_unseen((*volume_path, "name"), name, seen)
        elif is_empty(name):
            problems.required((*volume_path, "name"), help="name the volume; containers mount it by this name")
        _check_source(volume, volume_path, scope)


def _check_source(volume: Json, path: Path, scope: PodContext) -> None:
    problems = scope.problems
    sources = [key for key, source in volume.items() if source is not None and key in _SOURCES]
    if len(sources) > 1:
        sources = [key for key in sources if not is_dropped(key, scope.context)]
        sources.sort(key=_SOURCE_ORDER.__getitem__)
        for key in sources[1:]:
            problems.forbidden((*path, key), "may not specify more than 1 volume type", f"keep only {sources[0]}")
    if sources and type(volume[sources[0]]) is dict:
        check_one_source(sources[0], volume[sources[0]], (*path, sources[0]), scope)


def check_one_source(kind: str, source: Json, path: Path, scope: PodContext) -> None:
    """Check the volume source in the field `kind`."""
    _SOURCES[kind](source, path, scope)


def _check_empty_dir(source: Json, path: Path, scope: PodContext) -> None:
    size = parse(source.get("sizeLimit"))
    if size is not None and size.nano < 0:
        why = "SizeLimit field must be a valid resource quantity"
        scope.problems.forbidden((*path, "sizeLimit"), why, "use an amount of 0 or more")
    scope.problems.check_range((*path, "mode"), source.get("mode"), 0, 0o1777)


def _check_host_path(source: Json, path: Path, scope: PodContext) -> None:
    host_path = source.get("path")
    problems = scope.problems
    problems.check_required_text((*path, "path"), host_path, why_not_forward)
    problems.check_choice((*path, "type"), source.get("type"), _HOST_PATH_TYPES)


def _check_claim(source: Json, path: Path, scope: PodContext) -> None:
    if is_empty(source.get("claimName")):
        scope.problems.required((*path, "claimName"), help="name a PersistentVolumeClaim of the namespace")


def _check_nfs(source: Json, path: Path, scope: PodContext) -> None:
    exported_path = source.get("path")
    scope.problems.check_required(source, path, "server", "path")
    if type(exported_path) is str and exported_path and not exported_path.startswith("/"):
        scope.problems.invalid((*path, "path"), exported_path, "must be an absolute path", f"write /{exported_path}")


def _check_ephemeral(source: Json, path: Path, scope: PodContext) -> None:
    template = source.get("volumeClaimTemplate")
    if template is None:
        scope.problems.required((*path, "volumeClaimTemplate"))
    elif type(template) is dict:
        from ptcompile.apiserver.validation.volume_claims import check_claim_spec

        check_claim_spec(template.get("spec"), (*path, "volumeClaimTemplate", "spec"), scope.problems)


def _check_image(source: Json, path: Path, scope: PodContext) -> None:
    if is_empty(source.get("reference")) and not scope.template:
        scope.problems.required((*path, "reference"))
    if source.get("pullPolicy"):
        scope.problems.check_choice((*path, "pullPolicy"), source["pullPolicy"], ("Always", "IfNotPresent", "Never"))


def _check_disk(source: Json, path: Path, scope: PodContext) -> None:
    scope.problems.check_required(source, path, "pdName" if path[-1] == "gcePersistentDisk" else "volumeID")
    scope.problems.check_range((*path, "partition"), source.get("partition"), 0, 255)


def _check_git(source: Json, path: Path, scope: PodContext) -> None:
    scope.problems.check_required(source, path, "repository")
    directory = source.get("directory")
    if type(directory) is str and directory and (directory.startswith("/") or why_not_forward(directory)):
        scope.problems.invalid((*path, "directory"), directory, "must be a relative path without '..'")


def _check_flex(source: Json, path: Path, scope: PodContext) -> None:
    scope.problems.check_required(source, path, "driver")
    for key in nested_map(source, "options"):
        domain = key.partition("/")[0]
        if domain.endswith((".kubernetes.io", ".k8s.io")) or domain in ("kubernetes.io", "k8s.io"):
            option_path = (*path, "options", key)
            why = "kubernetes.io and k8s.io namespaces are reserved"
            scope.problems.invalid(option_path, key, why, field=key_path(option_path))


def _require_fields(*fields: str) -> VolumeSourceCheck:
    def check(source: Json, path: Path, scope: PodContext) -> None:
        scope.problems.check_required(source, path, *fields)
        reference = source.get("secretRef")
        if type(reference) is dict and path[-1] in ("cinder", "scaleIO"):
            scope.problems.check_required(reference, (*path, "secretRef"), "name")

    return check


_SOURCES: dict[str, VolumeSourceCheck] = {
    "emptyDir": _check_empty_dir,
    "hostPath": _check_host_path,
    "gitRepo": _check_git,
    "gcePersistentDisk": _check_disk,
    "awsElasticBlockStore": _check_disk,
    "secret": check_secret,
    "nfs": _check_nfs,
    "iscsi": check_iscsi,
    "glusterfs": _require_fields("endpoints", "path"),
    "persistentVolumeClaim": _check_claim,
    "rbd": _require_fields("monitors", "image"),
    "cinder": _require_fields("volumeID"),
    "cephfs": _require_fields("monitors"),
    "flocker": check_flocker,
    "downwardAPI": check_downward,
    "fc": check_fc,
    "flexVolume": _check_flex,
    "configMap": check_config_map,
    "azureFile": _require_fields("secretName", "shareName"),
    "vsphereVolume": _require_fields("volumePath"),
    "quobyte": _require_fields("registry", "volume"),
    "azureDisk": _require_fields("diskName", "diskURI"),
    "photonPersistentDisk": _require_fields("pdID"),
    "portworxVolume": _require_fields("volumeID"),
    "scaleIO": _require_fields("gateway", "system", "volumeName"),
    "storageos": _require_fields(),
    "projected": check_projected,
    "csi": check_csi,
    "ephemeral": _check_ephemeral,
    "image": _check_image,
}
"""Checks per volume source, in the server's order: it rejects the second source that is set."""

_SOURCE_ORDER = {name: place for place, name in enumerate(_SOURCES)}
