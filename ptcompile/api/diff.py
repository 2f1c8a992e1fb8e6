"""The verb `diff` as a function: specs or manifests, and how their worlds and their fields differ."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal import arguments
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.compiler.reader import load_profile
from ptcompile.diagnostics import Diagnostic
from ptcompile.differ import Difference, DiffSide, compare
from ptcompile.differ.model import Apply
from ptcompile.differ.pairing import same_objects
from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.registry.table import OPERATORS
from ptcompile.source import streams
from ptcompile.source.documents import Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile._internal.arguments import StreamSource
    from ptcompile.extending import Extensions
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Spec
else:
    ClusterProfile = object  # as text, NamedTuple would compile it

_WRITERS = {one.kinds[0].key: one.target_name for one in OPERATORS if one.target_name}
"""The target that writes each kind."""


class _Read(NamedTuple):
    """One side as it was given."""

    documents: tuple[Document, ...]
    profile: ClusterProfile | None
    problems: tuple[Diagnostic, ...]
    filename: str | None

    def manifests(self) -> list[Mapping[str, Any]]:
        """The objects that are not specs of ours."""
        return [one for d in self.documents if not _is_ours(d.data) for _, one in streams.objects_in(d.data)]


def diff(
    a: StreamSource | Spec,
    b: StreamSource | Spec,
    *,
    target: str | None = None,
    from_cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None = None,
    to_cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None = None,
    filenames: tuple[str | None, str | None] = (None, None),
    extensions: Extensions | None = None,
) -> Difference:
    """How `b` differs from `a`: two specs, two streams of manifests, one of each, or one under two profiles.

    Specs are compiled first: for `target`, else their own, else the one that writes the other side's manifests. The
    profiles are ClusterProfiles in any form; their versions also decide what the operators make of manifests.
    Raises nothing for what a user may have written: with an error in the text or in a spec nothing is compared.
    `diagnostics` also say what an apply of `b` over `a` would be refused for (stage apply); `a` may be what
    `kubectl get -o yaml` prints: status and managed fields are set aside. `extensions` are passes and targets of
    plugins, by `ptcompile.extensions`.
    """
    arguments.check(target=target, filenames=filenames, extensions=extensions)
    filenames = arguments.filename(a, filenames[0]), arguments.filename(b, filenames[1])
    one, other = _read(a, from_cluster, filenames[0], "a"), _read(b, to_cluster, filenames[1], "b")
    names = filenames[0] or "a", filenames[1] or "b"
    before, found = _side(one, target, _target(other), extensions)
    after, more = _side(other, target, _target(one), extensions)
    told = (*one.problems, *other.problems, *found, *more)
    diagnostics = tuple({(d.code, d.message, d.path, d.span, d.filename, d.document): d for d in told}.values())
    if any(d.severity == "error" for d in diagnostics):
        return Difference(names, (), diagnostics, compared=False)
    verdicts, refused = _applied(before, after, other)
    told = (*diagnostics, *streams.limit_findings(refused, other.filename))
    return Difference(names, compare(before, after, verdicts), told)


def _applied(before: DiffSide, after: DiffSide, read: _Read) -> tuple[dict[int, Apply], list[Diagnostic]]:
    """What an apply of the second side over the first does, and would be refused for, at the lines of the second."""
    from ptcompile.differ.applying import apply_outcome

    places = {id(one): (d, path) for d in read.documents for path, one in streams.objects_in(d.data)}
    verdicts: dict[int, Apply] = {}
    found: list[Diagnostic] = []
    for old, new in same_objects(before.manifests, after.manifests):
        document, under = places.get(id(new), (None, ()))
        verdicts[id(new)], problems = apply_outcome(old, new, after.versions)
        told = [streams.to_diagnostic(problem, document, read.filename, under, new) for problem in problems]
        refused = next((one for one in told if one.severity == "error"), None)
        if refused is not None:  # its secrets are hidden by now
            why = f"{refused.message}; {refused.help}" if refused.help else refused.message
            verdicts[id(new)] = Apply("refused", why)
        found += told
    return verdicts, found


def _read(
    given: StreamSource | Spec,
    cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None,
    filename: str | None,
    parameter: str,
) -> _Read:
    read = streams.read(given, filename, parameter)
    profile, wrong = load_profile(cluster)
    found = [*wrong, *(streams.to_diagnostic(problem, None, filename) for problem in read.problems)]
    for document in read.documents:
        found += [streams.to_diagnostic(problem, document, filename) for problem in streams.not_objects(document.data)]
    if not read.documents and not read.problems:
        found.append(streams.to_diagnostic(streams.no_documents(), None, filename))
    return _Read(tuple(read.documents), profile, tuple(streams.limit_findings(found, filename)), filename)


def _is_ours(data: Mapping[str, Any]) -> bool:
    return streams.is_ours(data) and data.get("kind") != "ClusterProfile"


def _target(other: _Read) -> str | None:
    """The target that writes the jobs of a side, where they are all of one kind."""
    kinds = {(str(one.get("apiVersion")), str(one.get("kind"))) for one in other.manifests()}
    found = {_WRITERS[kind] for kind in kinds if kind in _WRITERS}
    return found.pop() if len(found) == 1 else None


def _side(
    read: _Read, target: str | None, otherwise: str | None, extensions: Extensions | None
) -> tuple[DiffSide, list[Diagnostic]]:
    """The manifests of a side, its specs compiled for `target`, else their own, else `otherwise`."""
    from ptcompile.compiler.pipeline import compile_document  # manifests alone do without

    if read.profile is None:
        return DiffSide(), []
    manifests = read.manifests()
    found: list[Diagnostic] = []
    for document in read.documents:
        if _is_ours(document.data):
            wanted = target or (None if nested_map(document.data, "spec").get("target") else otherwise)
            compiled = compile_document(document.data, read.profile, wanted, extensions)
            manifests += compiled.manifests
            found += [streams.to_diagnostic(problem, document, read.filename) for problem in compiled.problems]
    return DiffSide(manifests, read.profile.versions()), streams.limit_findings(found, read.filename)
