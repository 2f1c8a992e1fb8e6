"""Build manifests from a spec and its lowered job: passes, target, the spec's patches,
generateName.

compile, `explain`, `import` and `requires` all build here, with plain or traced values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.spelling import closest_match
from ptcompile.compiler import passes as passing
from ptcompile.diagnostics import Path, Problem, Problems, field_path, own_problem
from ptcompile.ir.job import Context, Job, Pass, Target
from ptcompile.ir.pods import unshared
from ptcompile.kubernetes.merging import merge
from ptcompile.kubernetes.unstructured import Json, JsonDict, as_mapping
from ptcompile.operators.targets import TARGETS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.training_job import JobSpec, Spec


def with_generate_name(manifests: Sequence[JsonDict], spec: Spec) -> tuple[JsonDict, ...]:
    """Return the manifests with the spec's generateName, if any, on the job, which is the last
    manifest.
    """
    beginning = spec.metadata.generate_name
    if beginning is None or not manifests:
        return tuple(manifests)
    *dependencies, job = manifests
    metadata = {key: value for key, value in job["metadata"].items() if key != "name"}
    return (*dependencies, {**job, "metadata": {"generateName": beginning, **metadata}})


def apply_patches(
    manifests: Sequence[JsonDict], patches: Json, target: str
) -> tuple[JsonDict, ...]:
    """Return the manifests with the target's patches: TARGET for the job's own object, which is the
    last manifest, and TARGET/KIND for objects beside it, which null removes.
    """
    if not patches:
        return tuple(manifests)
    *dependencies, job = manifests
    patched: list[JsonDict] = []
    for manifest in dependencies:
        patch = patches.get(f"{target}/{manifest['kind']}", {})
        if patch is not None:
            patched.append(merge(manifest, patch) if patch else manifest)
    return (*patched, merge(job, patches[target]) if patches.get(target) else job)


def unsupported_patches(job: JobSpec, target: Target) -> Problems:
    """Yield an error for a patch of an unknown target or an unused runtime, a warning for a
    patch of another target.
    """
    for key, patch in job.manifest.items():
        path: Path = ("spec", "manifest", key)
        name, _, kind = key.partition("/")
        # each operator names its pods by its own Services: other targets need no such patch
        serves_names_only = kind == "Service" and as_mapping(patch).keys() <= {"spec"}
        if name not in TARGETS:
            suggestion = closest_match(name, TARGETS)
            if suggestion:
                help = f"did you mean {suggestion}?"
            else:
                help = f"use one of {', '.join(TARGETS)}"
            message = f"unknown target {name!r}"
            yield own_problem("unknown-target", path, message, help, on_key=True)
        elif name != target.name and patch and not serves_names_only:
            set_paths = ", ".join(field_path(leaf) for leaf in _leaves(patch))
            message = f"the target {target.name} ignores what this sets for {name}: {set_paths}"
            help = f"set it in spec.manifest.{target.name} too, or compile for {name}"
            yield own_problem(
                "not-carried-over", path, message, help, "warning", "run", on_key=True
            )

    if job.runtime_ref is not None and target.name != "trainjob":
        path = ("spec", "runtimeRef")
        message = "only a TrainJob runs with a Trainer runtime"
        yield own_problem("unsupported-by-target", path, message, "use the target trainjob")


def _leaves(patch: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the paths that a patch sets, without the values."""
    if isinstance(patch, Mapping) and patch:
        for key, inner in patch.items():
            yield from _leaves(inner, (*path, str(key)))
    else:
        yield path


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
    emitted: tuple[JsonDict, ...]
    """As the target wrote them."""
    named: tuple[JsonDict, ...]
    """With the spec's patches. If the server completes the name, this has the placeholder name
    that checks use.
    """
    manifests: tuple[JsonDict, ...]
    """As written to the output."""


def build(
    spec: Spec,
    lowered: Job,
    context: Context,
    passes: tuple[Pass, ...] = passing.PASSES,
    observe: passing.Observer | None = None,
    *,
    shared: bool = False,
) -> Built:
    """Build the manifests of a spec that lowers to `lowered`. `observe` is called after each
    pass.

    `shared` manifests are only for reading: they have parts in common with the job.
    """
    job = passing.run(lowered, context, passes, observe)
    written = context.target.emit(job, context.cluster)
    emitted = tuple(written if shared else map(unshared, written))
    named = apply_patches(emitted, spec.spec.manifest, context.target.name)
    return Built(
        spec=spec,
        lowered=lowered,
        context=context,
        passes=passes,
        job=job,
        emitted=emitted,
        named=named,
        manifests=with_generate_name(named, spec),
    )
