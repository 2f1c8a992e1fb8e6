"""Convert a decoded document to a spec or a profile, with its problems."""

from __future__ import annotations

from ptcompile.diagnostics import Problem
from ptcompile.spec import reader
from ptcompile.spec.reader import CLUSTER, SPEC, Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Spec


def decode_spec(data: Any) -> tuple[Spec | None, list[Problem]]:
    """Convert a decoded TrainingJob document to a `Spec`, or return None and its problems."""
    spec, problems = _decode(SPEC, data)
    return spec and with_placeholder_name(spec), problems


def with_placeholder_name(spec: Spec) -> Spec:
    """Return the spec with a placeholder for a name that the server will complete."""
    prefix = spec.metadata.generate_name
    if prefix is None or "name" in spec.metadata.model_fields_set:
        return spec
    return spec.replace(metadata=spec.metadata.replace(name=placeholder_name(prefix)))


def placeholder_name(prefix: str) -> str:
    """Return a placeholder for a name that the server completes, as long as the final name and
    easy to recognize.
    """
    return f"{prefix[:_MAX_GENERATE_NAME]}xxxxx"


_MAX_GENERATE_NAME = 58
"""Number of generateName's characters that the API server keeps before its five-character suffix
(Kubernetes 1.36).
"""


def decode_profile(data: Any) -> tuple[ClusterProfile | None, list[Problem]]:
    """Convert a decoded ClusterProfile document to a profile, or return None and its problems."""
    return _decode(CLUSTER, data)


def _decode(document: Block, data: Any) -> tuple[Any, list[Problem]]:
    """Return the decoded value, or None with the problems."""
    value, violations = reader.read(document, data)
    if not violations:
        return value, []
    from ptcompile.compiler.frontend import errors

    return None, errors.problems(violations, data, document)
