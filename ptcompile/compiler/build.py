"""Build manifests from a spec and its lowered job: passes, target, the spec's patch, generateName.

compile, `explain`, `import` and `requires` all build here, with plain or traced values.
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.compiler import passes as passing
from ptcompile.compiler.emission import apply_patches, with_generate_name
from ptcompile.diagnostics import Problem
from ptcompile.ir.job import Context, Job, Pass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.spec.training_job import Spec

    Json = dict[str, Any]


class PluginFailedError(Exception):
    """Raised when a plugin's pass or target raises, or returns the wrong type."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class Built(NamedTuple):
    """A spec, its manifests, and every stage between them."""

    spec: Spec
    lowered: Job
    context: Context
    passes: tuple[Pass, ...]
    job: Job
    """After the passes."""
    emitted: tuple[Json, ...]
    """As the target wrote them."""
    named: tuple[Json, ...]
    """With the spec's patches. If the server completes the name, this has the placeholder name that checks use."""
    manifests: tuple[Json, ...]
    """As written to the output."""


def build(
    spec: Spec,
    lowered: Job,
    context: Context,
    passes: tuple[Pass, ...] = passing.PASSES,
    observe: passing.Observer | None = None,
) -> Built:
    """Build the manifests of a spec that lowers to `lowered`. `observe` is called after each pass."""
    job = passing.run(lowered, context, passes, observe)
    emitted = tuple(context.target.emit(job, context.cluster))
    named = apply_patches(emitted, spec.spec.manifest, context.target.name)
    return Built(spec, lowered, context, passes, job, emitted, named, with_generate_name(named, spec))
