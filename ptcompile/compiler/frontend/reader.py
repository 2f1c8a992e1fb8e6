"""A decoded document to a spec or a profile: its value, and what is wrong with it."""

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
    """Read a decoded TrainingJob document. Return a `Spec`, or an object that is equal to it, or what is wrong."""
    spec, problems = _decode(SPEC, data)
    return spec and with_stand_in(spec), problems


def with_stand_in(spec: Spec) -> Spec:
    """The spec with a stand-in for a name that the server will complete."""
    beginning = spec.metadata.generate_name
    if beginning is None or "name" in spec.metadata.model_fields_set:
        return spec
    return spec.replace(metadata=spec.metadata.replace(name=stand_in(beginning)))


def stand_in(beginning: str) -> str:
    """What stands for a name that the server completes: as long as it will be, and unlike any other text."""
    return f"{beginning[:_MOST_OF_A_NAME]}x7k2m"


_MOST_OF_A_NAME = 58
"""Characters of a generateName that the API server keeps, before the five that it adds (Kubernetes 1.36)."""


def decode_profile(data: Any) -> tuple[ClusterProfile | None, list[Problem]]:
    """Read a decoded ClusterProfile document, as `read_spec` does."""
    return _decode(CLUSTER, data)


def _decode(document: Block, data: Any) -> tuple[Any, list[Problem]]:
    value, faults = reader.read(document, data)
    if not faults:
        return value, []
    from ptcompile.compiler.frontend import errors

    return None, errors.problems(faults, data, document)
