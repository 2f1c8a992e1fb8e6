"""The annotation `admission-gated-by`: controllers whose gates keep a workload from admission,
since Kueue 0.19.

Source: Kueue 0.19, pkg/util/webhook, the validation of the annotation.
"""

from __future__ import annotations

from ptcompile.diagnostics.field_errors import FieldErrors
from ptcompile.kubernetes import names
from ptcompile.kubernetes.unstructured import Json, nested_string_map
from ptcompile.operators.kueue.queues import PREFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.diagnostics import Path

GATES = f"{PREFIX}admission-gated-by"
_PATH: Path = ("metadata", "annotations", GATES)
_FIELD = f"metadata.annotations[{GATES}]"
_MAX_BYTES = 63


def split_gates(text: str) -> list[str]:
    """Return the gates of the annotation; whitespace alone has none."""
    if text.strip():
        return [gate.strip() for gate in text.split(",")]
    return []


def check_gates(manifest: Json, problems: FieldErrors) -> None:
    """Check the names of the gates, which commas separate."""
    text = gates_of(manifest)
    seen: set[str] = set()

    for gate in split_gates(text):
        if not gate:
            problems.invalid(
                _PATH, text, "cannot contain empty gate names", "remove the empty name", _FIELD
            )
        elif gate in seen:
            problems.invalid(
                _PATH, text, f"duplicate gate name: {gate}", "keep one of them", _FIELD
            )
        elif why_not := names.why_not_domain_prefixed_path(gate):
            problems.invalid(
                _PATH,
                gate,
                why_not,
                "write domain/name, as the controller of the gate does",
                _FIELD,
            )
        elif len(gate.encode("utf-8", "surrogatepass")) > _MAX_BYTES:
            problems.too_long(_PATH, _MAX_BYTES, field=_FIELD)

        seen.add(gate)


def check_gates_update(old: Json, new: Json, problems: FieldErrors) -> None:
    """Check that gates are only removed."""
    before = gates_of(old)
    after = gates_of(new)
    help = "leave the gates unchanged, or delete the object and apply again"

    if after and not before:
        problems.forbidden(_PATH, "cannot add admission gate after creation", help, _FIELD)
    elif not set(split_gates(after)) <= set(split_gates(before)):
        problems.forbidden(_PATH, "can only remove gates, not add new ones", help, _FIELD)


def gates_of(manifest: Json) -> str:
    """Return the annotation, or an empty string."""
    return nested_string_map(manifest, "metadata", "annotations").get(GATES, "")
