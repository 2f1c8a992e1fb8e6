"""A CustomResourceDefinition: the schemas of its versions."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.apiserver.validation import field_errors as f
from ptcompile.registry.model import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def check_custom_definition(manifest: Mapping[str, Any], context: ApiServer, found: f.Found) -> None:
    """Check the schemas. What else the server demands of a CRD (names, columns, conversion) is not checked."""
    from ptcompile.apiserver.cel.cost import crd_cost_problems
    from ptcompile.apiserver.crds.schema import crd_schema_problems

    # as on the server, rules are estimated only in a schema that is sound
    found += crd_schema_problems(manifest) or crd_cost_problems(manifest)
