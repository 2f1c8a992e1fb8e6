"""Volumes, and every source of a volume.

Source: docs/facts/api-server.md#volumes-and-mounts 74 to 78, 85 to 91, Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from ptcompile._internal.lazy import Pattern
from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.context import PodContext, is_dropped
from ptcompile.apiserver.validation.env import VOLUME_FIELDS, check_field_ref, check_resource_ref
from ptcompile.apiserver.validation.mounts import why_not_forward, why_not_relative
from ptcompile.diagnostics import Path
from ptcompile.kubernetes import names
from ptcompile.kubernetes.quantity import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    VolumeSourceCheck = Callable[[dict[str, Any], Path, PodContext], None]


_is_iqn = Pattern(r"iqn\.[0-9]{4}-[0-9]{2}\.[A-Za-z0-9.-]+(?::[^,;*&$|\s]+)?").fullmatch
_is_eui = Pattern(r"eui\.[A-Fa-f0-9]{16}").fullmatch
_is_naa = Pattern(r"naa\.[A-Fa-f0-9]{32}").fullmatch
_CSI_NAME_MAX = 63


def check_csi(source: dict[str, Any], path: Path, scope: PodContext) -> None:
    """`csi`: a volume that a driver makes in place (Kubernetes 1.36 `validateCSIVolumeSource`)."""
    found, driver, secret = scope.found, source.get("driver"), source.get("nodePublishSecretRef")
    if f.is_empty(driver):
        f.required(found, (*path, "driver"))
    elif type(driver) is str:
        if len(driver) > _CSI_NAME_MAX:
            f.too_long(found, (*path, "driver"), _CSI_NAME_MAX)
        elif why := names.why_not_dns_subdomain(driver.lower()):
            f.invalid(found, (*path, "driver"), driver, why)
    if type(secret) is dict and f.is_empty(secret.get("name")):
        f.required(found, (*path, "nodePublishSecretRef", "name"))


def check_fc(source: dict[str, Any], path: Path, scope: PodContext) -> None:
    """`fc`: a Fibre Channel disk, by targetWWNs and lun or by wwids."""
    found, targets, ids, lun = scope.found, source.get("targetWWNs"), source.get("wwids"), source.get("lun")
    if not targets and not ids:
        f.required(found, (*path, "targetWWNs"), "must specify either targetWWNs or wwids, but not both")
    elif targets and ids:
        f.invalid(found, (*path, "targetWWNs"), targets, "targetWWNs and wwids can not be specified simultaneously")
    if targets:
        if lun is None:
            f.required(found, (*path, "lun"), "lun is required if targetWWNs is specified")
        f.check_range(found, (*path, "lun"), lun, 0, 255)


def check_flocker(source: dict[str, Any], path: Path, scope: PodContext) -> None:
    """`flocker`: a data set by name or by UUID."""
    name, uuid = source.get("datasetName"), source.get("datasetUUID")
    if not name and not uuid:
        f.required(scope.found, path, "one of datasetName and datasetUUID is required")
    elif name and uuid:
        why = "datasetName and datasetUUID can not be specified simultaneously"
        f.invalid(scope.found, path, "resource", why)
    elif type(name) is str and "/" in name:
        f.invalid(scope.found, (*path, "datasetName"), name, "must not contain '/'")


def check_iscsi(source: dict[str, Any], path: Path, scope: PodContext) -> None:
    """`iscsi`: portal, target name, logical unit and who may log in."""
    found, target, initiator = scope.found, source.get("iqn"), source.get("initiatorName")
    f.check_required(source, path, scope.found, "targetPortal", "iqn")
    for key, name in (("iqn", target), ("initiatorName", initiator)):
        if type(name) is str and (name or key != "iqn") and not (_is_iqn(name) or _is_eui(name) or _is_naa(name)):
            f.invalid(found, (*path, key), name, "must be valid format", "write iqn.yyyy-mm.domain:name")
    f.check_range(found, (*path, "lun"), source.get("lun"), 0, 255)
    secret = source.get("secretRef")
    if secret is None and (source.get("chapAuthDiscovery") is True or source.get("chapAuthSession") is True):
        f.required(found, (*path, "secretRef"))
    elif type(secret) is dict and f.is_empty(secret.get("name")):
        f.required(found, (*path, "secretRef", "name"))


_MODE_MAX: Final = 0o777
_TOKEN_SECONDS: Final = (600, 2**32)


def why_not_file(text: str) -> str | None:
    """Why a path may not be a file in such a volume."""
    return why_not_relative(text) or ("must not start with '..'" if text.startswith("..") else None)


def _check_mode(found: f.Problems, path: Path, mode: Any) -> None:
    if type(mode) is int and not 0 <= mode <= _MODE_MAX:
        help = "write it in octal with a leading 0, for example 0644"
        f.invalid(found, path, mode, "must be a number between 0 and 0777 (octal), both inclusive", help)


def _check_items(items: Any, path: Path, found: f.Problems) -> None:
    for index, item in f.indexed_mappings(items):
        here, where = (*path, index), item.get("path")
        if f.is_empty(item.get("key")):
            f.required(found, (*here, "key"))
        _check_file(where, (*here, "path"), found)
        _check_mode(found, (*here, "mode"), item.get("mode"))


def _check_file(where: Any, path: Path, found: f.Problems) -> None:
    if f.is_empty(where):
        f.required(found, path)
    elif type(where) is str and (why := why_not_file(where)):
        f.invalid(found, path, where, why)


def check_config_map(source: dict[str, Any], path: Path, scope: PodContext) -> None:
    """`configMap` as a volume."""
    _check_keys(source, path, scope.found, "name")


def check_secret(source: dict[str, Any], path: Path, scope: PodContext) -> None:
    """`secret` as a volume."""
    _check_keys(source, path, scope.found, "secretName")


def _check_keys(source: dict[str, Any], path: Path, found: f.Problems, name: str) -> None:
    if f.is_empty(source.get(name)):
        f.required(found, (*path, name))
    _check_mode(found, (*path, "defaultMode"), source.get("defaultMode"))
    _check_items(source.get("items"), (*path, "items"), found)


def check_downward(source: dict[str, Any], path: Path, scope: PodContext) -> None:
    """`downwardAPI` as a volume."""
    _check_mode(scope.found, (*path, "defaultMode"), source.get("defaultMode"))
    _check_downward_items(source.get("items"), (*path, "items"), scope)


def _check_downward_items(items: Any, path: Path, scope: PodContext) -> None:
    found = scope.found
    for index, item in f.indexed_mappings(items):
        here = (*path, index)
        field, resource = item.get("fieldRef"), item.get("resourceFieldRef")
        _check_file(item.get("path"), (*here, "path"), found)
        if field is not None and resource is not None:
            why = "fieldRef and resourceFieldRef can not be specified simultaneously"
            f.invalid(found, here, "resource", why, "keep one of them")
        if type(field) is dict:
            check_field_ref(field, (*here, "fieldRef"), found, VOLUME_FIELDS)
        elif type(resource) is dict:
            check_resource_ref(resource, (*here, "resourceFieldRef"), found, volume=True)
        elif field is None and resource is None:
            f.required(found, here, "one of fieldRef and resourceFieldRef is required", "say what the file holds")
        _check_mode(found, (*here, "mode"), item.get("mode"))


def check_projected(source: dict[str, Any], path: Path, scope: PodContext) -> None:
    """`projected`: several such sources in one directory."""
    found = scope.found
    _check_mode(found, (*path, "defaultMode"), source.get("defaultMode"))
    seen: set[str] = set()
    for index, item in f.indexed_mappings(source.get("sources")):
        here = (*path, "sources", index)
        given = [key for key in _PROJECTIONS if item.get(key) is not None]
        for key in given[1:]:
            f.forbidden(found, (*here, key), "may not specify more than 1 volume type", f"keep only {given[0]}")
        for key in given[:1]:
            if type(item[key]) is dict:
                _PROJECTIONS[key](item[key], (*here, key), scope)
                _check_conflicts(item[key], (*here, key), seen, found)


def _check_conflicts(source: dict[str, Any], path: Path, seen: set[str], found: f.Problems) -> None:
    places: list[tuple[Path, Any]] = [((*path, "path"), source.get("path"))]
    places += [((*path, "items", i, "path"), item.get("path")) for i, item in f.indexed_mappings(source.get("items"))]
    for here, where in places:
        if type(where) is str and where:
            if where in seen:
                f.invalid(found, here, where, "conflicting duplicate paths", "give each file its own path")
            seen.add(where)


def _project_keys(source: dict[str, Any], path: Path, scope: PodContext) -> None:
    if f.is_empty(source.get("name")):
        f.required(scope.found, (*path, "name"))
    _check_items(source.get("items"), (*path, "items"), scope.found)


def _project_downward(source: dict[str, Any], path: Path, scope: PodContext) -> None:
    _check_downward_items(source.get("items"), (*path, "items"), scope)


def _project_token(source: dict[str, Any], path: Path, scope: PodContext) -> None:
    seconds, here = source.get("expirationSeconds"), (*path, "expirationSeconds")
    low, high = _TOKEN_SECONDS
    if type(seconds) is int and seconds < low:
        f.invalid(scope.found, here, seconds, "may not specify a duration less than 10 minutes", "use 600 or more")
    elif type(seconds) is int and seconds > high:
        f.invalid(scope.found, here, seconds, "may not specify a duration larger than 2^32 seconds")
    _check_token_path(source.get("path"), (*path, "path"), scope)


def _check_token_path(where: Any, path: Path, scope: PodContext) -> None:
    if f.is_empty(where):
        f.required(scope.found, path)
    elif type(where) is str and (why := why_not_file(where)):
        f.invalid(scope.found, path, where, why)


def _project_bundle(source: dict[str, Any], path: Path, scope: PodContext) -> None:
    found, name, signer = scope.found, source.get("name"), source.get("signerName")
    if name and signer:
        f.invalid(found, path, source, "only one of name and signerName may be used")
    elif name is None and signer is None:
        f.required(found, path, "either name or signerName must be specified")
    elif type(name) is str and not name:
        f.required(found, (*path, "name"))
    elif type(name) is str and (why := names.why_not_dns_subdomain(name.replace(":", "."))):
        f.invalid(found, (*path, "name"), name, why)
    _check_token_path(source.get("path"), (*path, "path"), scope)


def _project_certificate(source: dict[str, Any], path: Path, scope: PodContext) -> None:
    for key in ("signerName", "keyType"):
        if f.is_empty(source.get(key)):
            f.required(scope.found, (*path, key))


_PROJECTIONS: Final = {
    "secret": _project_keys,
    "configMap": _project_keys,
    "downwardAPI": _project_downward,
    "serviceAccountToken": _project_token,
    "clusterTrustBundle": _project_bundle,
    "podCertificate": _project_certificate,
}


_HOST_PATH_TYPES: Final = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)


def named(volumes: Any) -> dict[str, Any] | None:
    """The volumes by name; `None` where a name or the list is not what it should be, so that nothing is sure."""
    if volumes is None:
        return {}
    if type(volumes) is not list:
        return None
    out = {}
    for _, volume in f.indexed_mappings(volumes):
        name = volume.get("name")
        if name is not None and type(name) is not str:
            return None
        out[name or ""] = volume
    return out


def check_volumes(value: Any, path: Path, scope: PodContext) -> None:
    """`spec.volumes`. A volume without a source is an emptyDir."""
    found, seen = scope.found, set[str]()
    for index, volume in f.indexed_mappings(value):
        name, here = volume.get("name"), (*path, index)
        if type(name) is str and name:
            if why := names.why_not_dns_label(name):
                f.invalid(found, (*here, "name"), name, why, f.like_label(name))
            if name in seen:
                f.duplicate(found, (*here, "name"), name)
            seen.add(name)
        elif f.is_empty(name):
            f.required(found, (*here, "name"), help="name the volume; containers mount it by this name")
        _check_source(volume, here, scope)


def _check_source(volume: dict[str, Any], path: Path, scope: PodContext) -> None:
    found = scope.found
    given = [key for key, source in volume.items() if source is not None and key in _SOURCES]
    if len(given) > 1:
        given = [key for key in given if not is_dropped(key, scope.context)]
        given.sort(key=_ORDER.__getitem__)
        for key in given[1:]:
            f.forbidden(found, (*path, key), "may not specify more than 1 volume type", f"keep only {given[0]}")
    if given and type(volume[given[0]]) is dict:
        check_one_source(given[0], volume[given[0]], (*path, given[0]), scope)


def check_one_source(kind: str, source: dict[str, Any], path: Path, scope: PodContext) -> None:
    """A volume's source of the kind that the field's name says."""
    _SOURCES[kind](source, path, scope)


def _check_empty_dir(source: dict[str, Any], path: Path, scope: PodContext) -> None:
    size = parse(source.get("sizeLimit"))
    if size is not None and size.nano < 0:
        why = "SizeLimit field must be a valid resource quantity"
        f.forbidden(scope.found, (*path, "sizeLimit"), why, "use an amount of 0 or more")


def _check_host_path(source: dict[str, Any], path: Path, scope: PodContext) -> None:
    where, found = source.get("path"), scope.found
    if f.is_empty(where):
        f.required(found, (*path, "path"))
    elif type(where) is str and (why := why_not_forward(where)):
        f.invalid(found, (*path, "path"), where, why)
    f.check_choice(found, (*path, "type"), source.get("type"), _HOST_PATH_TYPES)


def _check_claim(source: dict[str, Any], path: Path, scope: PodContext) -> None:
    if f.is_empty(source.get("claimName")):
        f.required(scope.found, (*path, "claimName"), help="name a PersistentVolumeClaim of the namespace")


def _check_nfs(source: dict[str, Any], path: Path, scope: PodContext) -> None:
    where = source.get("path")
    f.check_required(source, path, scope.found, "server", "path")
    if type(where) is str and where and not where.startswith("/"):
        f.invalid(scope.found, (*path, "path"), where, "must be an absolute path", f"write /{where}")


def _check_ephemeral(source: dict[str, Any], path: Path, scope: PodContext) -> None:
    template = source.get("volumeClaimTemplate")
    if template is None:
        f.required(scope.found, (*path, "volumeClaimTemplate"))
    elif type(template) is dict:
        from ptcompile.apiserver.validation.volume_claims import check_claim_spec

        check_claim_spec(template.get("spec"), (*path, "volumeClaimTemplate", "spec"), scope.found)


def _check_image(source: dict[str, Any], path: Path, scope: PodContext) -> None:
    if f.is_empty(source.get("reference")) and not scope.template:
        f.required(scope.found, (*path, "reference"))
    if source.get("pullPolicy"):
        f.check_choice(scope.found, (*path, "pullPolicy"), source["pullPolicy"], ("Always", "IfNotPresent", "Never"))


def _check_disk(source: dict[str, Any], path: Path, scope: PodContext) -> None:
    f.check_required(source, path, scope.found, "pdName" if path[-1] == "gcePersistentDisk" else "volumeID")
    f.check_range(scope.found, (*path, "partition"), source.get("partition"), 0, 255)


def _check_git(source: dict[str, Any], path: Path, scope: PodContext) -> None:
    f.check_required(source, path, scope.found, "repository")
    where = source.get("directory")
    if type(where) is str and where and (where.startswith("/") or why_not_forward(where)):
        f.invalid(scope.found, (*path, "directory"), where, "must be a relative path without '..'")


def _check_flex(source: dict[str, Any], path: Path, scope: PodContext) -> None:
    f.check_required(source, path, scope.found, "driver")
    for key in f.as_field_mapping(source.get("options")):
        domain = key.partition("/")[0]
        if domain.endswith((".kubernetes.io", ".k8s.io")) or domain in ("kubernetes.io", "k8s.io"):
            here = (*path, "options", key)
            why = "kubernetes.io and k8s.io namespaces are reserved"
            f.invalid(scope.found, here, key, why, at=f.key_path(here))


def _requiring(*fields: str) -> VolumeSourceCheck:
    def check(source: dict[str, Any], path: Path, scope: PodContext) -> None:
        f.check_required(source, path, scope.found, *fields)
        reference = source.get("secretRef")
        if type(reference) is dict and path[-1] in ("cinder", "scaleIO") and f.is_empty(reference.get("name")):
            f.required(scope.found, (*path, "secretRef", "name"))

    return check


_SOURCES: Final[dict[str, VolumeSourceCheck]] = {
    "emptyDir": _check_empty_dir,
    "hostPath": _check_host_path,
    "gitRepo": _check_git,
    "gcePersistentDisk": _check_disk,
    "awsElasticBlockStore": _check_disk,
    "secret": check_secret,
    "nfs": _check_nfs,
    "iscsi": check_iscsi,
    "glusterfs": _requiring("endpoints", "path"),
    "persistentVolumeClaim": _check_claim,
    "rbd": _requiring("monitors", "image"),
    "cinder": _requiring("volumeID"),
    "cephfs": _requiring("monitors"),
    "flocker": check_flocker,
    "downwardAPI": check_downward,
    "fc": check_fc,
    "flexVolume": _check_flex,
    "configMap": check_config_map,
    "azureFile": _requiring("secretName", "shareName"),
    "vsphereVolume": _requiring("volumePath"),
    "quobyte": _requiring("registry", "volume"),
    "azureDisk": _requiring("diskName", "diskURI"),
    "photonPersistentDisk": _requiring("pdID"),
    "portworxVolume": _requiring("volumeID"),
    "scaleIO": _requiring("gateway", "system", "volumeName"),
    "storageos": _requiring(),
    "projected": check_projected,
    "csi": check_csi,
    "ephemeral": _check_ephemeral,
    "image": _check_image,
}
"""The server looks at the sources in this order: the second one found is the one refused."""

_ORDER: Final = {name: place for place, name in enumerate(_SOURCES)}
