"""The verb `convert`: one operator's manifests as another's, by way of the specs that they import to."""

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

    from ptcompile._internal.arguments import StreamSource
    from ptcompile.spec.cluster_profile import ClusterProfile

    Json = dict[str, Any]

_ROUNDS = 8
_OF_THE_END = frozenset({"on failure", "QoS class", "restartPolicy"})
"""Facts of a world that operators have in their own ways and that count for its owner."""


def convert(
    source: StreamSource,
    *,
    target: str,
    filename: str | None = None,
    cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None = None,
    lossy: bool = False,
) -> Result:
    """Manifests for another operator that mean the same: the same pods, processes, commands, variables and amounts.

    What the other operator has no word for is an error, and with `lossy` a warning and left out. What it does in its
    own way (endings, QoS) is a warning. Objects beside the jobs come along as they are. Raises nothing for what a user
    may have written.
    """
    if not isinstance(target, str):
        raise TypeError(f"target must be a string, not {type(target).__name__}")
    imported = import_manifests(source, filename=filename, cluster=cluster, lossy=lossy)
    if not imported.ok:
        return Result((), imported.diagnostics)
    profile = imported.profile if cluster is None else cluster
    kept = Objects(imported.kept)
    manifests: list[Json] = []
    told: list[Diagnostic] = []
    for one in imported.found:
        made, found = _one(one, target, profile, filename, kept, lossy=lossy)
        manifests += made
        told += found
    every = tuple(streams.limit_findings((*imported.diagnostics, *told), filename))
    return Result((*imported.kept, *manifests), every)


def _one(
    imported: ImportedSpec, target: str, profile: Any, filename: str | None, kept: Objects, *, lossy: bool
) -> tuple[list[Json], list[Diagnostic]]:
    own = imported.document if target == imported.target else imported.portable or imported.document
    spec = {**own, "spec": {**own["spec"], "target": target}}
    told: list[Diagnostic] = []
    result = compiling.compile(spec, target=target, cluster=profile, lint=False)
    for _ in range(_ROUNDS if lossy else 0):
        beyond = [one for one in result.diagnostics if one.severity == "error" and one.name == "unsupported-by-target"]
        left = spec
        for one in beyond:
            left = _without(left, one.path)
        if left == spec:
            break
        told += [_told(one, imported, filename, "warning") for one in beyond]
        spec = left
        result = compiling.compile(spec, target=target, cluster=profile, lint=False)
    for one in result.diagnostics:
        if one.severity == "note" and one.name == "done-differently":
            continue  # how jobs end is told below, as one difference
        lost = one.name == "not-carried-over" and not lossy
        told.append(_told(one, imported, filename, "error" if lost else one.severity))
    told += [one for one in _differences(imported, result, profile, filename, kept, lossy=lossy) if one not in told]
    failed = any(one.severity == "error" for one in told)
    return [] if failed else list(result.manifests), told


def _differences(
    imported: ImportedSpec, result: Result, profile: Any, filename: str | None, kept: Objects, *, lossy: bool
) -> Iterator[Diagnostic]:
    """What the worlds have that is not the same: a loss, or what operators do in their own ways."""
    from ptcompile.api.diff import diff
    from ptcompile.simulator.equivalence import world_differences
    from ptcompile.simulator.world import simulate

    before = compiling.compile(imported.document, cluster=profile, lint=False)
    if not before.manifests or not result.manifests:
        return
    versions = _versions(profile)
    was, now = (simulate(one.manifests, versions=versions, others=kept) for one in (before, result))
    lost = world_differences(was, now)
    for text in lost:
        yield _said(imported, filename, f"it would not run the same: {text}", "warning" if lossy else "error")
    facts = [fact for one in diff(before.yaml(), result.yaml(), from_cluster=profile, to_cluster=profile).objects
             for fact in one.facts if fact.what in _OF_THE_END]  # fmt: skip
    for subject, what in dict.fromkeys((fact.subject, fact.what) for fact in facts):
        alike = [fact for fact in facts if (fact.subject, fact.what) == (subject, what)]
        before_it, after_it = (_joined(one) for one in ([f.before for f in alike], [f.after for f in alike]))
        yield _said(imported, filename, f"{subject}: {what} was: {before_it}; and is: {after_it}", "warning")


def _joined(lines: list[str | None]) -> str:
    return ", ".join(line for line in lines if line) or "nothing"


def _versions(profile: Any) -> Any:
    found, _ = load_profile(profile)
    return found.versions() if found is not None else None


def _said(imported: ImportedSpec, filename: str | None, text: str, severity: Any) -> Diagnostic:
    return _diagnostic("convert-differs", f"spec: {text}", None, imported, filename, severity)


def _told(one: Diagnostic, imported: ImportedSpec, filename: str | None, severity: Any) -> Diagnostic:
    """A finding of the spec in between, at the object that it was made of."""
    message = one.message if one.message.startswith("spec") else f"{field_path(one.path)}: {one.message}"
    return _diagnostic(one.name, f"in the spec that it imports to: {message}", one.help, imported, filename, severity)


def _diagnostic(
    name: str, message: str, help: str | None, imported: ImportedSpec, filename: str | None, severity: Any
) -> Diagnostic:
    from ptcompile.diagnostics import code_of

    return Diagnostic(
        code_of(name), name, severity, message, help, ("spec",), imported.span, "run", "ptcompile", filename,
        imported.place, imported.origin,
    )  # fmt: skip


def _without(data: Any, path: Sequence[str | int]) -> Any:
    """A copy of the data without what is at a path; the same where nothing is."""
    if not path or not isinstance(data, Mapping) or path[0] not in data:
        return data
    if len(path) == 1:
        return {key: value for key, value in data.items() if key != path[0]}
    inner = _without(data[path[0]], path[1:])
    return {key: inner if key == path[0] else value for key, value in data.items()}
