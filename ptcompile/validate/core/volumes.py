"""A pod's volumes: names, and that each has one source.

Source: docs/facts/api-server.md#volumes-and-mounts 74 to 78, Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes import names
from ptcompile.kubernetes.quantity import parse
from ptcompile.validate.core import found as f
from ptcompile.validate.core.context import Scope
from ptcompile.validate.core.gates import is_dropped
from ptcompile.validate.core.mounts import why_not_forward
from ptcompile.validate.core.volume_devices import check_csi, check_fc, check_flocker, check_iscsi
from ptcompile.validate.core.volume_files import check_config_map, check_downward, check_projected, check_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    Source = Callable[[dict[str, Any], Path, Scope], None]

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
    for _, volume in f.objects(volumes):
        name = volume.get("name")
        if name is not None and type(name) is not str:
            return None
        out[name or ""] = volume
    return out


def check_volumes(value: Any, path: Path, scope: Scope) -> None:
    """`spec.volumes`. A volume without a source is an emptyDir."""
    found, seen = scope.found, set[str]()
    for index, volume in f.objects(value):
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


def _check_source(volume: dict[str, Any], path: Path, scope: Scope) -> None:
    found = scope.found
    given = [key for key, source in volume.items() if source is not None and key in _SOURCES]
    if len(given) > 1:
        given = [key for key in given if not is_dropped(key, scope.context)]
        given.sort(key=_ORDER.__getitem__)
        for key in given[1:]:
            f.forbidden(found, (*path, key), "may not specify more than 1 volume type", f"keep only {given[0]}")
    if given and type(volume[given[0]]) is dict:
        check_one_source(given[0], volume[given[0]], (*path, given[0]), scope)


def check_one_source(kind: str, source: dict[str, Any], path: Path, scope: Scope) -> None:
    """A volume's source of the kind that the field's name says."""
    _SOURCES[kind](source, path, scope)


def _check_empty_dir(source: dict[str, Any], path: Path, scope: Scope) -> None:
    size = parse(source.get("sizeLimit"))
    if size is not None and size.nano < 0:
        why = "SizeLimit field must be a valid resource quantity"
        f.forbidden(scope.found, (*path, "sizeLimit"), why, "use an amount of 0 or more")


def _check_host_path(source: dict[str, Any], path: Path, scope: Scope) -> None:
    where, found = source.get("path"), scope.found
    if f.is_empty(where):
        f.required(found, (*path, "path"))
    elif type(where) is str and (why := why_not_forward(where)):
        f.invalid(found, (*path, "path"), where, why)
    f.check_choice(found, (*path, "type"), source.get("type"), _HOST_PATH_TYPES)


def _check_claim(source: dict[str, Any], path: Path, scope: Scope) -> None:
    if f.is_empty(source.get("claimName")):
        f.required(scope.found, (*path, "claimName"), help="name a PersistentVolumeClaim of the namespace")


def _check_nfs(source: dict[str, Any], path: Path, scope: Scope) -> None:
    where = source.get("path")
    f.require(source, path, scope.found, "server", "path")
    if type(where) is str and where and not where.startswith("/"):
        f.invalid(scope.found, (*path, "path"), where, "must be an absolute path", f"write /{where}")


def _check_ephemeral(source: dict[str, Any], path: Path, scope: Scope) -> None:
    template = source.get("volumeClaimTemplate")
    if template is None:
        f.required(scope.found, (*path, "volumeClaimTemplate"))
    elif type(template) is dict:
        from ptcompile.validate.core.pvc import check_claim_spec

        check_claim_spec(template.get("spec"), (*path, "volumeClaimTemplate", "spec"), scope.found)


def _check_image(source: dict[str, Any], path: Path, scope: Scope) -> None:
    if f.is_empty(source.get("reference")) and not scope.template:
        f.required(scope.found, (*path, "reference"))
    if source.get("pullPolicy"):
        f.check_choice(scope.found, (*path, "pullPolicy"), source["pullPolicy"], ("Always", "IfNotPresent", "Never"))


def _check_disk(source: dict[str, Any], path: Path, scope: Scope) -> None:
    f.require(source, path, scope.found, "pdName" if path[-1] == "gcePersistentDisk" else "volumeID")
    f.check_range(scope.found, (*path, "partition"), source.get("partition"), 0, 255)


def _check_git(source: dict[str, Any], path: Path, scope: Scope) -> None:
    f.require(source, path, scope.found, "repository")
    where = source.get("directory")
    if type(where) is str and where and (where.startswith("/") or why_not_forward(where)):
        f.invalid(scope.found, (*path, "directory"), where, "must be a relative path without '..'")


def _check_flex(source: dict[str, Any], path: Path, scope: Scope) -> None:
    f.require(source, path, scope.found, "driver")
    for key in f.mapping(source.get("options")):
        domain = key.partition("/")[0]
        if domain.endswith((".kubernetes.io", ".k8s.io")) or domain in ("kubernetes.io", "k8s.io"):
            here = (*path, "options", key)
            why = "kubernetes.io and k8s.io namespaces are reserved"
            f.invalid(scope.found, here, key, why, at=f.key_path(here))


def _requiring(*fields: str) -> Source:
    def check(source: dict[str, Any], path: Path, scope: Scope) -> None:
        f.require(source, path, scope.found, *fields)
        reference = source.get("secretRef")
        if type(reference) is dict and path[-1] in ("cinder", "scaleIO") and f.is_empty(reference.get("name")):
            f.required(scope.found, (*path, "secretRef", "name"))

    return check


_SOURCES: Final[dict[str, Source]] = {
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
