"""The verbs, as functions: text, bytes, a mapping or a `Spec` in, a result out. No files, no printing.

Heavy parts are imported where they are used: linting manifests needs no pydantic.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ptcompile import emit, stream
from ptcompile.diagnostics import Diagnostic, Path, Problem

if TYPE_CHECKING:
    from ptcompile.cluster import ClusterProfile
    from ptcompile.spec import Spec
    from ptcompile.versions import Versions


class CompileError(Exception):
    """A spec that does not compile, for those who asked for an exception with `unwrap()`."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.diagnostics = diagnostics
        super().__init__("\n".join(f"{d.code} {d.message}" for d in diagnostics if d.severity == "error"))


class Result(NamedTuple):
    """What compiling gave: manifests as plain data, and everything there is to say about them.

    A document with an error gives no manifest; the other documents of its stream do.
    """

    manifests: tuple[dict[str, Any], ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def ok(self) -> bool:
        """Whether there is no error. Warnings are fine."""
        return not any(d.severity == "error" for d in self.diagnostics)

    def yaml(self) -> str:
        """The manifests as one YAML stream."""
        return emit.emit_all(self.manifests)

    def unwrap(self) -> tuple[dict[str, Any], ...]:
        """The manifests. Raises `CompileError` where there is an error."""
        if not self.ok:
            raise CompileError(self.diagnostics)
        return self.manifests


class Report(NamedTuple):
    """What linting found, and what it looked at."""

    diagnostics: tuple[Diagnostic, ...]
    documents: int
    """How many documents there were."""
    unchecked: tuple[str, ...]
    """The documents that nobody here can judge, as `Kind/name`."""

    @property
    def ok(self) -> bool:
        """Whether there is no error. Warnings are fine."""
        return not any(d.severity == "error" for d in self.diagnostics)


def compile(
    spec: str | bytes | Mapping[str, Any] | Spec,
    *,
    target: str | None = None,
    cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None = None,
    filename: str | None = None,
    overrides: Sequence[tuple[Path, Any]] = (),
) -> Result:
    """Compile every TrainingJob of a stream into manifests.

    `target` overrides the spec's own; `cluster` is a ClusterProfile in any form, the built-in one where absent.
    `filename` is for the positions in diagnostics only. `overrides` are values by path, laid over each document before
    it is looked at. Raises nothing for what a user may have written.
    """
    from ptcompile.compiler import compile_document  # pydantic starts here

    read = stream.read(spec, filename)
    profile, found = read_cluster(cluster)
    found += [stream.stamp(problem, None, filename) for problem in read.problems]
    manifests: list[dict[str, Any]] = []
    if profile is None:
        return Result((), tuple(found))
    for document in read.documents:
        data = document.data
        for path, value in overrides:
            data = _laid_over(data, path, value)
        compiled = compile_document(data, profile, target)
        manifests += compiled.manifests
        found += [stream.stamp(problem, document, filename) for problem in compiled.problems]
    if not read.documents and not read.problems:
        found.append(stream.stamp(stream.nothing(), None, filename))
    return Result(tuple(manifests), tuple(found))


def read_cluster(
    cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None, *, filename: str | None = None
) -> tuple[ClusterProfile | None, list[Diagnostic]]:
    """A ClusterProfile in any form, the built-in one for None; or None and what is wrong with it."""
    from ptcompile.cluster import DEFAULT_CLUSTER, ClusterProfile
    from ptcompile.frontends.spec import read_cluster as read_document

    if cluster is None:
        return DEFAULT_CLUSTER, []
    if isinstance(cluster, ClusterProfile):
        return cluster, []
    read = stream.read(cluster, filename)
    found = [stream.stamp(problem, None, filename) for problem in read.problems]
    if found:
        return None, found
    documents = [d for d in read.documents if d.data.get("kind") == "ClusterProfile"] or read.documents
    if len(documents) != 1:
        message = f"a profile is one document of kind ClusterProfile, and here are {len(documents)}"
        problem = Problem("no-documents", (), message, "give one", authority="ptcompile")
        return None, [stream.stamp(problem, None, filename)]
    profile, problems = read_document(documents[0].data)
    return profile, [stream.stamp(problem, documents[0], filename) for problem in problems]


def lint(
    source: str | bytes | Mapping[str, Any],
    *,
    filename: str | None = None,
    cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None = None,
    kubernetes: str | None = None,
    webhooks: bool = True,
    unknown_kinds: Literal["count", "error"] = "count",
    rules: Collection[str] | None = None,
) -> Report:
    """Say what an API server, the operators, the kubelet and torchrun would say of every object of a stream.

    First what is refused, then, by the rules, what is accepted and still goes wrong; each at the line where it is.

    `kubernetes` is the server's version, such as "1.34": the profile's, or the newest known, where absent.
    `webhooks=False` is the API server with the CRDs alone, as on a cluster without the operators' webhooks.
    `unknown_kinds="error"` makes a finding of each kind that nobody here knows; they are counted in any case.
    `rules` are the names of the rules to ask, all where absent; an empty collection asks what is refused and no more.
    """
    read = stream.read(source, filename)
    found = [stream.stamp(problem, None, filename) for problem in read.problems]
    profile = None
    if cluster is not None:
        profile, wrong = read_cluster(cluster)
        found += wrong
    versions = _versions(profile, kubernetes)
    unchecked: list[str] = []
    objects = [(document, at, one) for document in read.documents for at, one in stream.objects(document.data)]
    everything = [manifest for _, _, manifest in objects]
    for document in read.documents:
        found += [stream.stamp(problem, document, filename) for problem in stream.not_objects(document.data)]
    for document, at, manifest in objects:
        problems = _nameless(manifest) or _judge(manifest, profile, versions, everything, rules, webhooks=webhooks)
        if problems is None:
            unchecked.append(stream.resource(manifest) or "a document without kind")
            problems = [_unknown(manifest)] if unknown_kinds == "error" else []
        found += [stream.stamp(problem, document, filename, at, manifest) for problem in problems]
    if not read.documents and not read.problems:
        found.append(stream.stamp(stream.nothing(), None, filename))
    return Report(tuple(found), len(read.documents), tuple(unchecked))


def _nameless(manifest: Mapping[str, Any]) -> list[Problem]:
    """Why nobody can tell what an object is: every Kubernetes client refuses one without apiVersion and kind."""
    missing = [key for key in ("apiVersion", "kind") if not isinstance(manifest.get(key), str) or not manifest[key]]
    return [
        Problem("required-value", (key,), f"{key}: Required value: every object says what it is", f"add {key}")
        for key in missing
    ]


def _judge(
    manifest: Mapping[str, Any],
    profile: ClusterProfile | None,
    versions: Versions,
    others: Sequence[Mapping[str, Any]],
    rules: Collection[str] | None,
    *,
    webhooks: bool,
) -> Iterable[Problem] | None:
    """The problems of one object, or None where it is of a kind that nobody here knows. `others` stand beside it."""
    from ptcompile.validate import supported, validate

    if supported(manifest):
        refused = validate(manifest, versions=versions, webhooks=webhooks, others=others)
        asked = _asked(manifest, refused, versions, others, rules) if rules or rules is None else ()
        return [*refused, *asked]
    if not str(manifest.get("apiVersion")).startswith("ptcompile/"):
        return None
    from ptcompile.cluster import DEFAULT_CLUSTER
    from ptcompile.frontends.spec import read_cluster as read_document

    if manifest.get("kind") == "ClusterProfile":
        return read_document(manifest)[1]
    return _judge_spec(manifest, profile or DEFAULT_CLUSTER, rules)


def _judge_spec(
    document: Mapping[str, Any], profile: ClusterProfile, rules: Collection[str] | None
) -> Iterable[Problem]:
    """The problems of a TrainingJob, and what the rules find in its manifests, at the lines of the spec."""
    from ptcompile.compiler import compile_document, traced
    from ptcompile.rules import run

    compiled = compile_document(document, profile)
    said = {(problem.name, problem.path) for problem in compiled.problems}
    found = (
        (one, problem)
        for one in compiled.manifests
        for problem in run(one, versions=profile.versions(), others=compiled.manifests, only=rules)
    )
    asked = traced(found, document) if rules or rules is None else ()
    return [*compiled.problems, *(problem for problem in asked if (problem.name, problem.path) not in said)]


def _asked(
    manifest: Mapping[str, Any],
    refused: Sequence[Problem],
    versions: Versions,
    others: Sequence[Mapping[str, Any]],
    rules: Collection[str] | None,
) -> Iterator[Problem]:
    """What the rules find, without what they say of a place that is refused already."""
    from ptcompile.rules import run

    said = {problem.path for problem in refused}
    for problem in run(manifest, versions=versions, others=others, only=rules):
        if problem.path not in said:
            yield problem


def _versions(profile: ClusterProfile | None, kubernetes: str | None) -> Versions:
    from ptcompile.versions import Versions, parse_version

    versions = profile.versions() if profile is not None else Versions()
    return versions._replace(kubernetes=parse_version(kubernetes)) if kubernetes else versions


def _unknown(manifest: Mapping[str, Any]) -> Problem:
    kind = f"{manifest.get('apiVersion')}/{manifest.get('kind')}"
    return Problem(
        "unknown-kind", ("kind",), f"{kind} is not checked: nobody here knows it", None, authority="ptcompile"
    )


def _laid_over(data: Any, path: Path, value: Any) -> Any:
    """A copy of the data with one value changed; what is missing on the way there is made."""
    if not path:
        return value
    head, *rest = path
    if isinstance(data, list) and isinstance(head, int) and head < len(data):
        return [_laid_over(item, tuple(rest), value) if i == head else item for i, item in enumerate(data)]
    below = data if isinstance(data, Mapping) else {}
    return {**below, str(head): _laid_over(below.get(str(head)), tuple(rest), value)}
