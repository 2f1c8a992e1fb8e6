"""The verb `compile` as a function: text, bytes, a mapping or a `Spec` in, a result out. No files, no printing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ptcompile import streams
from ptcompile.documents import emit
from ptcompile.findings.diagnostics import Diagnostic, Path, Problem

if TYPE_CHECKING:
    from ptcompile.explaining.explanation import Explanation
    from ptcompile.vocabulary.cluster.model import ClusterProfile
    from ptcompile.vocabulary.spec import Spec


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
    from ptcompile.compiling.compiler import compile_document

    read = streams.read(spec, filename)
    profile, found = read_cluster(cluster)
    found += [streams.stamp(problem, None, filename) for problem in read.problems]
    manifests: list[dict[str, Any]] = []
    if profile is None:
        return Result((), tuple(found))
    for document in read.documents:
        data = document.data
        for path, value in overrides:
            data = _laid_over(data, path, value)
        compiled = compile_document(data, profile, target)
        manifests += compiled.manifests
        found += [streams.stamp(problem, document, filename) for problem in compiled.problems]
    if not read.documents and not read.problems:
        found.append(streams.stamp(streams.nothing(), None, filename))
    return Result(tuple(manifests), tuple(found))


def explain(
    spec: str | bytes | Mapping[str, Any] | Spec,
    *,
    target: str | None = None,
    cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None = None,
    filename: str | None = None,
    cluster_filename: str | None = None,
) -> Explanation:
    """Why every value of the manifests of a stream is there: the pass that wrote it, the rule, the lines behind it.

    Arguments as for `compile`; the file names are for positions only. Compiles each document again for its lines, some
    hundred times: long lists many lines at a time. Raises nothing for what a user may have written.
    """
    from ptcompile.explaining import explanation

    profile, found = read_cluster(cluster, filename=cluster_filename)
    if profile is None:
        return explanation.Explanation((), (), (), tuple(found), {})
    text = streams.read(cluster, cluster_filename) if isinstance(cluster, str | bytes) else None
    return explanation.explain(
        streams.read(spec, filename), profile, text, target=target, filename=filename, found=found
    )


def read_cluster(
    cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None, *, filename: str | None = None
) -> tuple[ClusterProfile | None, list[Diagnostic]]:
    """A ClusterProfile in any form, the built-in one for None; or None and what is wrong with it."""
    from ptcompile.compiling.kubernetes_parts import freeform_cluster, read_profile
    from ptcompile.vocabulary.cluster.questions import Profile
    from ptcompile.vocabulary.from_schema import default_cluster

    if cluster is None:
        return default_cluster(), []
    if isinstance(cluster, Profile):
        refused = [streams.stamp(problem, None, filename) for problem in freeform_cluster(cluster)]
        return None if refused else cluster, refused
    read = streams.read(cluster, filename)
    found = [streams.stamp(problem, None, filename) for problem in read.problems]
    if any(one.severity == "error" for one in found):
        return None, found
    documents = streams.profiles(read)
    if len(documents) != 1:
        message = f"a profile is one document of kind ClusterProfile, and here are {len(documents)}"
        problem = Problem("no-documents", (), message, "give one", authority="ptcompile")
        return None, [*found, streams.stamp(problem, None, filename)]
    profile, problems = read_profile(documents[0].data)
    return profile, [*found, *(streams.stamp(problem, documents[0], filename) for problem in problems)]


def _laid_over(data: Any, path: Path, value: Any) -> Any:
    """A copy of the data with one value changed; what is missing on the way there is made."""
    if not path:
        return value
    head, *rest = path
    if isinstance(data, list) and isinstance(head, int) and head < len(data):
        return [_laid_over(item, tuple(rest), value) if i == head else item for i, item in enumerate(data)]
    below = data if isinstance(data, Mapping) else {}
    return {**below, str(head): _laid_over(below.get(str(head)), tuple(rest), value)}
