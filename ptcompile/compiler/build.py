"""A spec and its lowered job to manifests: the passes, the target, the spec's patch, generateName. The one pipeline.

Compiling, the trace of values, `explain`, import and `requires` all build here, on plain values or on traced ones.
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.compiler import passes as passing
from ptcompile.compiler.emission import apply_patch, with_generate_name
from ptcompile.diagnostics import Problem
from ptcompile.ir.job import Context, Job, Pass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.spec.training_job import Spec

    Json = dict[str, Any]


class PluginFailedError(Exception):
    """Raised when a pass or a target of a plugin raises, or returns something else than it has to."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class Built(NamedTuple):
    """What a spec is built to, and what of."""

    spec: Spec
    lowered: Job
    context: Context
    passes: tuple[Pass, ...]
    job: Job
    """After the passes."""
    emitted: tuple[Json, ...]
    """As the target wrote them."""
    named: tuple[Json, ...]
    """With the spec's patch. A name that the server completes is still the stand-in by which checks know it."""
    manifests: tuple[Json, ...]
    """As they are written."""


def build(
    spec: Spec,
    lowered: Job,
    context: Context,
    passes: tuple[Pass, ...] = passing.PASSES,
    observe: passing.Observer | None = None,
) -> Built:
    """Build the manifests of a spec that lowers to `lowered`. `observe` is asked after each pass."""
    job = passing.run(lowered, context, passes, observe)
    emitted = tuple(context.target.emit(job, context.cluster))
    named = apply_patch(emitted, spec.spec.manifest.get(context.target.name))
    return Built(spec, lowered, context, passes, job, emitted, named, with_generate_name(named, spec))
