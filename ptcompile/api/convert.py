"""`convert`: one operator's manifests as another operator's, by way of the specs that they import to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.api import compile as compiling
from ptcompile.api.compile import Result
from ptcompile.api.import_manifests import ImportedSpec, import_manifests
from ptcompile.compiler.reader import load_profile
from ptcompile.diagnostics import Diagnostic, field_path
from ptcompile.kubernetes.index import Objects
from ptcompile.source import streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile._internal.arguments import ProfileSource, StreamSource
    from ptcompile.spec.cluster_profile import ClusterProfile

    Json = dict[str, Any]

_MAX_ROUNDS = 8
_ENDING_FACTS = frozenset({"on failure", "QoS class", "restartPolicy"})
"""Facts on which operators differ by design, but which matter to the job's owner."""


def convert(
    source: StreamSource,
    *,
    target: str,
    filename: str | None = None,
    cluster: ProfileSource | ClusterProfile | None = None,
    lossy: bool = False,
) -> Result:
    """Convert manifests to equivalent ones for another operator: the same pods, processes, commands, variables and
    resources.

    A setting that the other operator cannot express is an error; with `lossy` it is dropped with a warning. A setting
    that it implements differently (how the job ends, QoS) is a warning. Auxiliary objects are kept unchanged. Mistakes
    in the manifests or profile never raise.
    """
    if not isinstance(target, str):
        raise TypeError(f"target must be a string, not {type(target).__name__}")
    imported = import_manifests(source, filename=filename, cluster=cluster, lossy=lossy)
    if not imported.ok:
        return Result((), imported.diagnostics)
    profile = imported.profile if cluster is None else cluster
    kept = Objects(imported.kept)
    manifests: list[Json] = []
    diagnostics: list[Diagnostic] = []
    for imported_spec in imported.found:
        converted, problems = _convert_one(imported_spec, target, profile, filename, kept, lossy=lossy)
        manifests += converted
        diagnostics += problems
    limited = tuple(streams.limit_findings((*imported.diagnostics, *diagnostics), filename))
    return Result((*imported.kept, *manifests), limited)


def _convert_one(
    imported: ImportedSpec, target: str, profile: Any, filename: str | None, kept: Objects, *, lossy: bool
) -> tuple[list[Json], list[Diagnostic]]:
    document = imported.document if target == imported.target else imported.portable or imported.document
    spec = {**document, "spec": {**document["spec"], "target": target}}
    diagnostics: list[Diagnostic] = []
    result = compiling.compile(spec, target=target, cluster=profile, lint=False)
    for _ in range(_MAX_ROUNDS if lossy else 0):
        unsupported = [
            diagnostic
            for diagnostic in result.diagnostics
            if diagnostic.severity == "error" and diagnostic.name == "unsupported-by-target"
        ]
        reduced = spec
        for diagnostic in unsupported:
            reduced = _without(reduced, diagnostic.path)
        if reduced == spec:
            break
        diagnostics += [_spec_finding(diagnostic, imported, filename, "warning") for diagnostic in unsupported]
        spec = reduced
        result = compiling.compile(spec, target=target, cluster=profile, lint=False)
    for diagnostic in result.diagnostics:
        if diagnostic.severity == "note" and diagnostic.name == "done-differently":
            continue  # reported below as one difference between the endings
        lost = diagnostic.name == "not-carried-over" and not lossy
        diagnostics.append(_spec_finding(diagnostic, imported, filename, "error" if lost else diagnostic.severity))
    diagnostics += [
        diagnostic
        for diagnostic in _differences(imported, result, profile, filename, kept, lossy=lossy)
        if diagnostic not in diagnostics
    ]
    failed = any(diagnostic.severity == "error" for diagnostic in diagnostics)
    return [] if failed else list(result.manifests), diagnostics


def _differences(
    imported: ImportedSpec, result: Result, profile: Any, filename: str | None, kept: Objects, *, lossy: bool
) -> Iterator[Diagnostic]:
    """Yield the differences between the two worlds: losses, and settings that the operators implement differently."""
    from ptcompile.api.diff import diff
    from ptcompile.simulator.equivalence import world_differences
    from ptcompile.simulator.world import simulate

    before = compiling.compile(imported.document, cluster=profile, lint=False)
    if not before.manifests or not result.manifests:
        return
    versions = _versions(profile)
    old_world, new_world = (simulate(item.manifests, versions=versions, others=kept) for item in (before, result))
    losses = world_differences(old_world, new_world)
    for text in losses:
        yield _difference(imported, filename, f"it would not run the same: {text}", "warning" if lossy else "error")
    facts = [fact for item in diff(before.yaml(), result.yaml(), from_cluster=profile, to_cluster=profile).objects
             for fact in item.facts if fact.what in _ENDING_FACTS]  # fmt: skip
    for subject, aspect in dict.fromkeys((fact.subject, fact.what) for fact in facts):
        same_fact = [fact for fact in facts if (fact.subject, fact.what) == (subject, aspect)]
        before_it, after_it = (_join(item) for item in ([f.before for f in same_fact], [f.after for f in same_fact]))
        yield _difference(imported, filename, f"{subject}: {aspect} before: {before_it}; after: {after_it}", "warning")


def _join(values: list[str | None]) -> str:
    return ", ".join(line for line in values if line) or "nothing"


def _versions(profile: Any) -> Any:
    loaded, _ = load_profile(profile)
    return loaded.versions() if loaded is not None else None


def _difference(imported: ImportedSpec, filename: str | None, text: str, severity: Any) -> Diagnostic:
    return _diagnostic("convert-differs", f"spec: {text}", None, imported, filename, severity)


def _spec_finding(diagnostic: Diagnostic, imported: ImportedSpec, filename: str | None, severity: Any) -> Diagnostic:
    """Return a finding of the intermediate spec as one of the object that the spec was imported from."""
    message = (
        diagnostic.message
        if diagnostic.message.startswith(("spec", field_path(diagnostic.path)))
        else f"{field_path(diagnostic.path)}: {diagnostic.message}"
    )
    return _diagnostic(
        diagnostic.name, f"in the spec that it imports to: {message}", diagnostic.help, imported, filename, severity
    )


def _diagnostic(
    name: str, message: str, help: str | None, imported: ImportedSpec, filename: str | None, severity: Any
) -> Diagnostic:
    from ptcompile.diagnostics import code_of

    return Diagnostic(
        code_of(name), name, severity, message, help, ("spec",), imported.span, "run", "ptcompile", filename,
        imported.place, imported.origin,
    )  # fmt: skip


def _without(data: Any, path: Sequence[str | int]) -> Any:
    """Return a copy of the data without the value at `path`, or the data itself if there is no such value."""
    if not path or not isinstance(data, Mapping) or path[0] not in data:
        return data
    if len(path) == 1:
        return {key: value for key, value in data.items() if key != path[0]}
    inner = _without(data[path[0]], path[1:])
    return {key: inner if key == path[0] else value for key, value in data.items()}
