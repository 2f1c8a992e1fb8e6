"""StorageClass and VolumeAttributesClass (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.findings.diagnostics import Path
from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f
from ptcompile.validate.core.metadata import why_not_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_PARAMETERS_MAX: Final = 512
_PARAMETERS_SIZE_MAX: Final = 256 * 1024


def check_storage_class(manifest: Mapping[str, Any], context: ApiServer, found: f.Found) -> None:
    """A StorageClass without its metadata."""
    check_provisioner(manifest.get("provisioner"), ("provisioner",), found)
    _check_parameters(manifest.get("parameters"), ("parameters",), found)
    for name, known in (
        ("reclaimPolicy", ("Delete", "Retain")),
        ("volumeBindingMode", ("Immediate", "WaitForFirstConsumer")),
    ):
        f.check_choice(found, (name,), manifest.get(name), known)
    _check_topologies(manifest.get("allowedTopologies"), ("allowedTopologies",), found)


def check_provisioner(value: Any, path: Path, found: f.Found) -> None:
    """The name of what makes the volumes."""
    if value is None or value == "":
        f.required(found, path)
    elif type(value) is str and (why := why_not_key(value.lower())):
        f.invalid(found, path, value, why)


def _check_parameters(parameters: Any, path: Path, found: f.Found) -> None:
    if type(parameters) is not dict:
        return
    if len(parameters) > _PARAMETERS_MAX:
        f.too_long(found, path, _PARAMETERS_MAX)
    size = 0
    for key, value in parameters.items():
        if key == "":
            f.invalid(found, path, key, "field can not be empty")
        size += len(key) + len(value if type(value) is str else "")
    if size > _PARAMETERS_SIZE_MAX:
        f.too_long(found, path, _PARAMETERS_SIZE_MAX)


def _check_topologies(terms: Any, path: Path, found: f.Found) -> None:
    seen: list[dict[Any, Any]] = [{}]  # a term without expressions counts as a repeated one
    for index, term in f.objects(terms):
        here, wanted = (*path, index, "matchLabelExpressions"), {}
        for number, expression in f.objects(term.get("matchLabelExpressions")):
            key, values = expression.get("key"), expression.get("values")
            text = "" if key is None else key
            if type(text) is str and (why := why_not_key(text)):
                f.invalid(found, (*here, number, "key"), text, why)
            if not values:
                f.required(found, (*here, number, "values"))
            elif type(values) is list:
                plain = [value for value in values if type(value) is str]
                for place, value in enumerate(plain):
                    if value in plain[:place]:
                        f.duplicate(found, (*here, number, "values", place), value)
                if key in wanted:
                    f.duplicate(found, (*here, number, "key"), key)
                wanted[text] = frozenset(plain)
        if wanted in seen:
            f.duplicate(found, here, "", "remove one of the two terms")
        seen.append(wanted)


def check_volume_attributes_class(manifest: Mapping[str, Any], context: ApiServer, found: f.Found) -> None:
    """A VolumeAttributesClass without its metadata."""
    check_provisioner(manifest.get("driverName"), ("driverName",), found)
    parameters = manifest.get("parameters")
    if not parameters:
        f.required(found, ("parameters",), "must contain at least one key/value pair")
    _check_parameters(parameters, ("parameters",), found)
