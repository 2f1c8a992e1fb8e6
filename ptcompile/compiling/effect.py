"""Words of a spec that change nothing: on this target, or for a job of this shape. They are told, and dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ptcompile.compiling.build import Built, build
from ptcompile.compiling.location import Finding
from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.frontends.spec import lower
from ptcompile.job.model import Target
from ptcompile.vocabulary.fields import yaml_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.vocabulary.spec import JobSpec


def _name(value: str) -> tuple[str, ...]:
    return ("x" if value != "x" else "y",)


def _backend(value: str) -> tuple[str, ...]:
    return tuple(one for one in ("c10d", "static") if one != value)


_OTHERS: Final[dict[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]] = {
    ("master_port",): lambda value: (value % 65535 + 1,),
    ("names", "node"): _name,
    ("names", "master"): _name,
    ("names", "worker"): _name,
    ("elastic", "rdzv_backend"): _backend,
    ("elastic", "rdzv_id"): _name,
}
"""Words that count for some targets and shapes only, and what else each might say. The others are always carried or
told by their target: tests/test_every_word.py tries all."""


def without_effect(built: Built) -> Iterator[Finding]:
    """Yield a note for each word that might say anything else without a change in what was emitted."""
    spec, context = built.spec, built.context
    for words, others in _OTHERS.items():
        value = _given(spec.spec, words)
        if value is None:
            continue
        variants = (spec.but(spec=_with(spec.spec, words, other)) for other in others(value))
        again = (build(one, lower(one, context.cluster), context, built.passes) for one in variants)
        if all(one.emitted == built.emitted for one in again):
            yield Finding(_idle(("spec", *map(yaml_name, words)), context.target))


def _idle(path: Path, target: Target) -> Problem:
    message = f"{field_path(path)}: has no effect: the target {target.name} does not use it for this job"
    return Problem("word-without-effect", path, message, "remove it", "note", "style", "ptcompile")


def _given(fields: Any, words: tuple[str, ...]) -> Any:
    """What the user wrote; None for nothing."""
    for word in words:
        if fields is None or word not in fields.model_fields_set:
            return None
        fields = getattr(fields, word)
    return fields


def _with(fields: Any, words: tuple[str, ...], value: Any) -> JobSpec:
    first, *rest = words
    changed: JobSpec = fields.but(**{first: _with(getattr(fields, first), tuple(rest), value) if rest else value})
    return changed
