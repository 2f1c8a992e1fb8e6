"""The verb `import`: manifests in, the smallest specs that compile back to them out, with the proof that they do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal import arguments
from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.api import compile
from ptcompile.apiserver import validate
from ptcompile.compiler.reader import load_profile
from ptcompile.diagnostics import Diagnostic, Path, Problem, Span
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.unstructured import kind_of, object_name
from ptcompile.registry import table as operators
from ptcompile.registry.model import Kind
from ptcompile.source import emitter, streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile._internal.arguments import StreamSource
    from ptcompile.source.documents import Document
    from ptcompile.spec.cluster_profile import ClusterProfile


Json = dict[str, Any]

_READ = operators.kinds_with(Kind.read)
"""The kinds that are read back, by apiVersion and kind."""

_OTHER_JOBS = frozenset({"MPIJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "RayJob", "LeaderWorkerSet"})
"""Kinds that make pods that train, and that no target writes."""


class ImportedSpec(NamedTuple):
    """One imported spec, and its differences from the original object."""

    document: Json
    """The TrainingJob as plain data."""
    target: str
    origin: str
    """`Kind/name` of the object."""
    same_world: bool
    same_manifest: bool
    comments: Mapping[Path, str] = {}
    """Why lines are there that the manifest did not force, by their paths."""
    differences: tuple[str, ...] = ()
    """What is not the same, in words."""
    portable: Json | None = None
    """The same job for other operators, where this spec leaves its pods to a runtime."""
    span: Span | None = None
    """Of the object's spec in the text that was read."""
    place: int = 0
    """Of the object's document in its stream, from 0."""

    def yaml(self) -> str:
        """Return the spec with its comments."""
        from ptcompile.spec.text import write

        proof = "same world" if self.same_world else "not the same world"
        proof += ", same manifest" if self.same_manifest else ""
        head = [f"imported from {self.origin}: {proof}"]
        head += [f"differs: {text}" for text in self.differences]
        return write(self.document, self.comments, tuple(head))


class Imported(NamedTuple):
    """The result of importing a stream of manifests."""

    found: tuple[ImportedSpec, ...]
    diagnostics: tuple[Diagnostic, ...]
    profile: Json | None = None
    """The ClusterProfile that the proof was made with; None where that is the built-in one."""
    kept: tuple[Json, ...] = ()
    """Objects that no spec stands for: to be applied as they are."""

    @property
    def specs(self) -> tuple[Json, ...]:
        """The specs as plain data."""
        return tuple([one.document for one in self.found])

    @property
    def target(self) -> str | None:
        """The target that emits all the objects, or None if there is not exactly one."""
        targets = {one.target for one in self.found}
        return targets.pop() if len(targets) == 1 else None

    @property
    def ok(self) -> bool:
        """Whether there are no errors."""
        return not any(one.severity == "error" for one in self.diagnostics)

    def yaml(self) -> str:
        """Return the specs as one YAML stream, with comments."""
        return "---\n".join(one.yaml() for one in self.found)

    def with_documents(self, documents: Iterator[Json]) -> Imported:
        """The same with other specs, taken from the front of `documents`."""
        return self._replace(found=tuple([one._replace(document=next(documents)) for one in self.found]))

    def to_dict(self) -> Json:
        """Return the JSON form."""
        specs = [
            {
                "from": one.origin,
                "spec": one.document,
                "sameWorld": one.same_world,
                "sameManifest": one.same_manifest,
                "differences": list(one.differences),
                "comments": [{"path": list(path), "text": text} for path, text in one.comments.items()],
            }
            for one in self.found
        ]
        return {
            "specs": specs,
            "profile": self.profile,
            "kept": list(self.kept),
            "diagnostics": [one.to_dict() for one in self.diagnostics],
        }

    def profile_yaml(self) -> str | None:
        """Return the profile as YAML, or None if there is none."""
        return None if self.profile is None else emitter.emit(self.profile)


class _ImportedObject(NamedTuple):
    data: Json
    document: Document
    under: Path


def import_manifests(
    source: StreamSource,
    *,
    filename: str | None = None,
    cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None = None,
    lossy: bool = False,
    exact: bool = False,
) -> Imported:
    """Read manifests back into specs, compile these and compare.

    Pod, Job, PyTorchJob, TrainJob, JobSet and Volcano Job, each with what stands beside it. What a spec cannot say
    is an error, and with `lossy` a warning. `exact` keeps every command as it is written; else a torchrun launch
    becomes script, module and elastic, where torchrun would hold the same. `cluster` is the profile that the specs will
    be compiled with; without one, and where the built-in one would add something, `profile` of the result is the one
    to use. An object that the API server rejects is an error, and the jobs are read as if it were not there. Raises
    nothing for what a user may have written.
    """
    from ptcompile.importer import profiles

    arguments.check(filename=filename)
    read = streams.read(source, filename)
    filename = arguments.filename(source, filename)
    diagnostics = [streams.to_diagnostic(problem, None, filename) for problem in read.problems]
    objects = [
        _ImportedObject(dict(data), document, under)
        for document in read.documents
        for under, data in streams.objects_in(document.data)
    ]
    if not objects and not diagnostics:
        diagnostics.append(streams.to_diagnostic(streams.no_documents(), None, filename))
    profile, wrong = load_profile(profiles.MINIMAL if cluster is None else cluster)
    if profile is None:
        return Imported((), (*streams.limit_findings(diagnostics, filename), *wrong))
    found, told = _all(objects, profile, filename, lossy=lossy, exact=exact)
    needed = cluster is None and profiles.needs_profile([one.document for one in found], profile)
    kept = _kept(objects, found, profile)
    every = tuple(streams.limit_findings((*diagnostics, *told), filename))
    return Imported(tuple(found), every, profiles.MINIMAL if needed else None, kept)


def _all(
    objects: list[_ImportedObject], profile: ClusterProfile, filename: str | None, *, lossy: bool, exact: bool
) -> tuple[list[ImportedSpec], list[Diagnostic]]:
    from ptcompile.importer.attempt import without_nulls

    found: list[ImportedSpec] = []
    told: list[Diagnostic] = []
    jobs = [one for one in objects if kind_of(one.data) in _READ]
    others = [one for one in objects if kind_of(one.data) not in _READ]
    every = Objects(one.data for one in objects)
    accepted: list[Json] = []
    for one in others if jobs else ():
        refused = _refused(one.data, every, profile)
        told += [_stamp(problem, one, filename) for problem in refused]
        accepted += [] if refused else [one.data]
    beside, decoded = Objects(accepted), Objects(map(without_nulls, accepted))
    for one in objects:
        if kind_of(one.data)[1] in _OTHER_JOBS and one not in jobs:
            told.append(_stamp(_not_a_target(one.data), one, filename))
    if objects and not jobs and not told:
        told.append(_stamp(_no_job(objects[0].data), objects[0], filename))
    for one in jobs:
        spec, problems = _one(one.data, beside, decoded, profile, lossy=lossy, exact=exact)
        told += [_stamp(problem, one, filename) for problem in problems]
        if spec is not None:
            span = one.document.span((*one.under, "spec"))
            found.append(spec._replace(span=span, place=one.document.index))
    return found, told


def _one(
    manifest: Json, beside: Objects, decoded: Objects, profile: ClusterProfile, *, lossy: bool, exact: bool
) -> tuple[ImportedSpec | None, list[Problem]]:
    from ptcompile.importer import draft
    from ptcompile.importer.attempt import (
        comments,
        compile_errors,
        differences,
        import_object,
        inline_runtime,
        without_nulls,
    )

    if refused := _refused(manifest, Objects((manifest,), beside), profile):
        return None, refused
    images = draft.placeholder_images(manifest)
    stand_ins = draft.substitute_images(images, manifest)
    manifest = draft.replace_images(without_nulls(manifest), stand_ins)
    outcome = import_object(manifest, decoded, profile, exact=exact)
    best = outcome.best
    if best is None:
        return None, list(outcome.problems)
    if not best.proof.compiled:
        return None, [
            _stays("not-importable", f"a spec cannot express it: {one.message}") for one in compile_errors(best)
        ]
    differs = () if best.proof.same_manifest else tuple(differences(best))
    lost = not best.proof.same_world
    severity = "error" if lost and not lossy else "warning"
    problems = [_stays("import-differs", f"the spec does not express everything: {text}", severity) for text in differs]
    if lost and not lossy:
        return None, problems
    problems += [draft.placeholder_warning(image, path) for image, path in images.items()]
    as_written = {other: image for image, other in stand_ins.items()}
    origin, proof = f"{kind_of(manifest)[1]}/{object_name(manifest)}", best.proof
    spec = draft.replace_images(best.spec, as_written)
    told = ImportedSpec(spec, best.read.target, origin, proof.same_world, proof.same_manifest)
    portable = draft.replace_images(inline_runtime(best.spec, manifest, beside, profile), as_written)
    return told._replace(comments=comments(best, manifest), differences=differs, portable=portable), problems


def _refused(manifest: Json, others: Objects, profile: ClusterProfile) -> list[Problem]:
    """Return why the API server rejects an object, which therefore cannot exist in a cluster."""
    found = validate(manifest, versions=profile.versions(), others=others)
    return [one for one in found if one.severity == "error" and one.stage == "apply"]


def _kept(objects: list[_ImportedObject], found: list[ImportedSpec], profile: ClusterProfile) -> tuple[Json, ...]:
    """Return the auxiliary objects that no spec emits."""
    others = [one.data for one in objects if kind_of(one.data) not in _READ]
    made = {
        (*kind_of(one), object_name(one))
        for spec in (found if others else ())
        for one in compile.compile(spec.document, cluster=profile, lint=False).manifests
    }
    return tuple([one for one in others if (*kind_of(one), object_name(one)) not in made])


def _stays(name: str, message: str, severity: Any = "error") -> Problem:
    help = "with lossy it is a warning" if name == "import-differs" else "keep the manifest as it is"
    return Problem(name, ("spec",), f"spec: {message}", help, severity, "style", "ptcompile")


def _not_a_target(manifest: Json) -> Problem:
    kind = kind_of(manifest)[1]
    message = f"{kind}: no target writes this kind"
    return Problem("not-importable", ("kind",), message, "keep the manifest as it is", authority="ptcompile")


def _no_job(first: Json) -> Problem:
    meant = next((key for key in first if key != "apiVersion" and key.endswith("apiVersion")), None)
    if meant is not None and "apiVersion" not in first:
        message = f"{meant}: no job: apiVersion is missing"
        return Problem("nothing-to-import", (meant,), message, "write apiVersion", authority="ptcompile", on_key=True)
    kinds = ", ".join(sorted({f"{version} {kind}" for version, kind in _READ}))
    message = f"no job found: import reads {kinds}"
    return Problem("nothing-to-import", ("kind",), message, "pass the file with the job", authority="ptcompile")


def _stamp(problem: Problem, one: _ImportedObject, filename: str | None) -> Diagnostic:
    return streams.to_diagnostic(problem._replace(fix=None), one.document, filename, one.under, one.data)
