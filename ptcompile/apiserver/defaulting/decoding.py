"""An object as each request decodes it: with the defaults of its kind, those of Kubernetes or of its CRD."""

from __future__ import annotations

from ptcompile._internal.schema_files import load
from ptcompile.apiserver.defaulting.built_in import BUILT_IN_DEFAULTS
from ptcompile.apiserver.defaulting.encoding import as_encoded, copy_without_nulls
from ptcompile.apiserver.defaulting.schemas import with_schema_defaults
from ptcompile.apiserver.kinds import CUSTOM, is_built_in
from ptcompile.kubernetes.unstructured import kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.apiserver.crds import Definition, Definitions
    from ptcompile.kubernetes.unstructured import Json


def with_defaults(manifest: Json, definitions: Definitions | None = None) -> dict[str, Any]:
    """Return an object with the defaults of its kind, which it gets at each request: those of Kubernetes or of its CRD.

    Accepts any data; never raises.
    """
    if is_built_in(kind_of(manifest)):
        return with_built_in_defaults(as_encoded(manifest))
    return with_crd_defaults(copy_without_nulls(manifest), definitions)


def with_built_in_defaults(manifest: dict[str, Any]) -> dict[str, Any]:
    """Fill in the defaults of a built-in kind, and return the object."""
    default = BUILT_IN_DEFAULTS.get(kind_of(manifest))
    if default is not None:
        default(manifest)
    return manifest


def with_crd_defaults(manifest: dict[str, Any], definitions: Definitions | None) -> dict[str, Any]:
    """Return an object with the defaults of its CRD."""
    kind = kind_of(manifest)
    if kind in CUSTOM:
        defaulted: dict[str, Any] = with_schema_defaults(load(CUSTOM[kind]), CUSTOM[kind], manifest)
        return defaulted
    definition = _find_definition(kind, definitions)
    return manifest if definition is None else with_schema_defaults(definition.schema, definition.document, manifest)


def _find_definition(kind: tuple[str, str], definitions: Definitions | None) -> Definition | None:
    from ptcompile.apiserver.crds import NO_DEFINITIONS, Definition

    definition = (definitions or NO_DEFINITIONS).find(kind)
    return definition if isinstance(definition, Definition) else None
