"""The variables that NCCL, PyTorch and OpenMP read, and where a container's are written.

The simulator resolves values: their order, the operators' variables and references.

environment.json has them with their sources; another rule checks torchrun's PET_*.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.lazy import bounded_cache
from ptcompile._internal.schema_files import load_table
from ptcompile._internal.spelling import nearest
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import Json
from ptcompile.linter.rule import Subject
from ptcompile.world.templates import ManifestContainer

_TABLE = load_table("linter/environment.json")
_NEVER_NUMBERS: list[str] = _TABLE["never_numbers"]
"""Sources whose text is not a whole number: a name of a pod or a node, an address, a UID."""


def is_never_number(value: str) -> bool:
    """Return whether an unresolved value is certainly not a whole number."""
    return ("<" in value or "hostname" in value) and any(
        source in value for source in _NEVER_NUMBERS
    )


RENAMED_VARIABLES: Mapping[str, str] = _TABLE["renamed"]
"""PyTorch's own variables, keyed by their names before PyTorch 2.2."""

KNOWN_VARIABLES = frozenset({*_TABLE["known"], *RENAMED_VARIABLES})

INTERFACE_VARIABLES = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME")
"""Variables that name the network interface of a backend."""

LEVEL_VARIABLES: Mapping[str, list[str]] = _TABLE["levels"]
"""Variables that accept a fixed set of values, in any letter case."""

NCCL_INTEGERS = frozenset(_TABLE["integers"])
"""Variables that NCCL reads as whole numbers."""

THREAD_COUNTS = frozenset({"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"})
"""Numbers above 0; OpenMP accepts a list of them, one per level."""

_PREFIXES = ("NCCL", "NCLL", "NNCL", "NCC_", "TORCH", "GLOO", "OMP_", "CUDA_", "PYTORCH")


@bounded_cache(512)
def closest_variable(name: str) -> str | None:
    """Return the known variable that a name misspells by one or two characters, or None."""
    if name in KNOWN_VARIABLES or not name.startswith(_PREFIXES) or not 6 < len(name) < 64:
        return None
    return nearest(name, KNOWN_VARIABLES)


def variable_path(subject: Subject, path: Path, container: Json, name: str) -> Path:
    """Return the path of a container's variable, or of the container if a script sets it."""
    variables = ManifestContainer(
        path, container, init=False, main=True, find=subject.find
    ).variables
    return next((entry.place for entry in variables if entry.name == name), path)
