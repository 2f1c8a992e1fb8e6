"""What follows a target's own manifests: patches of the spec, and generateName."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile._internal.spelling import closest_match
from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.ir import pods as pod_template
from ptcompile.ir.job import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.spec.training_job import JobSpec, Spec

    Json = dict[str, Any]


def with_generate_name(manifests: Sequence[dict[str, Any]], spec: Spec) -> tuple[dict[str, Any], ...]:
    """Return the manifests with the spec's generateName, where it has one, on the job, which is the last of them."""
    beginning = spec.metadata.generate_name
    if beginning is None or not manifests:
        return tuple(manifests)
    *others, last = manifests
    metadata = {key: value for key, value in last["metadata"].items() if key != "name"}
    return (*others, {**last, "metadata": {"generateName": beginning, **metadata}})


def apply_patch(manifests: Sequence[Json], patch: Mapping[str, Any] | None) -> tuple[Json, ...]:
    """Return the manifests with the patch laid over the job's own object, which is the last one."""
    if not patch:
        return tuple(manifests)
    *beside, job = manifests
    return (*beside, pod_template.merge(job, patch))


def unsupported(job: JobSpec, target: Target) -> Iterator[Problem]:
    """Patches for targets that do not exist, a warning for those of other targets, and a runtime that nothing runs."""
    from ptcompile.registry.targets import TARGETS

    for name, patch in job.manifest.items():
        path: Path = ("spec", "manifest", name)
        if name not in TARGETS:
            near = closest_match(name, TARGETS)
            help = f"did you mean {near}?" if near else f"the targets are {', '.join(TARGETS)}"
            message = f"{field_path(path)}: unknown target {name!r}"
            yield Problem("unknown-target", path, message, help, authority="ptcompile", on_key=True)
        elif name != target.name and patch:
            said = ", ".join(field_path(one) for one in _leaves(patch))
            message = f"{field_path(path)}: the target {target.name} ignores what this sets for {name}: {said}"
            help = f"set it in spec.manifest.{target.name} too, or compile for {name}"
            yield Problem("not-carried-over", path, message, help, "warning", "run", "ptcompile", on_key=True)
    if job.runtime_ref is not None and target.name != "trainjob":
        path = ("spec", "runtimeRef")
        message = f"{field_path(path)}: only a TrainJob runs with a Trainer runtime"
        yield Problem("unsupported-by-target", path, message, "use the target trainjob", authority="ptcompile")


def _leaves(patch: Any, path: Path = ()) -> Iterator[Path]:
    """The places where a patch says something, without the values."""
    if isinstance(patch, Mapping) and patch:
        for key, inner in patch.items():
            yield from _leaves(inner, (*path, str(key)))
    else:
        yield path
