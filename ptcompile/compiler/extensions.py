"""Passes and targets of plugins as the compiler calls them: any exception of theirs becomes a
PluginFailedError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps

from ptcompile.compiler.build import PluginFailedError
from ptcompile.extending import Extensions
from ptcompile.extending.calls import extension_failure, led_by_field
from ptcompile.ir.job import Context, Job, Pass, Target
from ptcompile.ir.pods import unshared
from ptcompile.kubernetes.unstructured import JsonDict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ParamSpec, TypeVar

    from ptcompile.spec.cluster_profile import ClusterProfile

    PassInput = ParamSpec("PassInput")
    PassResult = TypeVar("PassResult")


def passes_of(extensions: Extensions) -> tuple[Pass, ...]:
    """Return the passes of plugins, named after their entry points."""
    return tuple(_safe_pass(name, run) for name, run in extensions.passes)


def _safe_pass(name: str, run: Pass) -> Pass:
    def checked_run(job: Job, context: Context) -> Job:
        result = run(job, context)
        if not isinstance(result, Job):
            raise TypeError(f"a pass must return a Job, not {type(result).__name__}")
        return result

    safe = wraps(run)(_guard(f"pass {name}", checked_run))
    safe.__name__ = name
    return safe


def safe_target(target: Target) -> Target:
    """Return a plugin's target with each of its functions guarded."""
    label = f"target {target.name}"

    def unsupported(job: Job, cluster: ClusterProfile) -> Iterable[Any]:
        return list(map(led_by_field, target.unsupported(job, cluster)))

    def emit(job: Job, cluster: ClusterProfile) -> list[JsonDict]:
        manifests: list[Any] = list(map(unshared, target.emit(job, cluster)))
        for manifest in manifests:
            if not (
                isinstance(manifest, Mapping)
                and "kind" in manifest
                and isinstance(manifest.get("metadata"), Mapping)
            ):
                raise TypeError("emit must return objects with kind and metadata")
        return manifests

    return target._replace(
        wiring=_guard(label, target.wiring),
        unsupported=_guard(label, unsupported),
        emit=_guard(label, emit),
        groups=_guard(label, target.groups),
    )


def _guard(
    label: str, function: Callable[PassInput, PassResult]
) -> Callable[PassInput, PassResult]:
    """Return a function of a plugin that raises PluginFailedError for any exception."""

    def guarded(*args: PassInput.args, **kwargs: PassInput.kwargs) -> PassResult:
        try:
            return function(*args, **kwargs)
        except PluginFailedError:
            raise
        except Exception as error:  # third-party code
            help = "report it to the plugin's author; without the plugin the spec may compile"
            raise PluginFailedError(extension_failure(label, error, help)) from error

    return guarded
