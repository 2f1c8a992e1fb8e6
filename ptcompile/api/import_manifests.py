"""`import`: the smallest specs that compile back to given manifests, with proof that they do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.api.inputs import AnyProfile, Inputs, Item, SchemaPaths
from ptcompile.apiserver import validate
from ptcompile.diagnostics import (
    Diagnostic,
    Path,
    Problem,
    has_error,
    own_problem,
    problem_at,
)
from ptcompile.kinds.model import Kind
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.selectors import ALL, Chosen
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    kind_of,
    nested_string,
    object_name,
)
from ptcompile.operators import table as operators
from ptcompile.source import emitter, streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile._internal.arguments import StreamSource
    from ptcompile.apiserver.crds import Definitions
    from ptcompile.extending import Extensions
    from ptcompile.importer.attempt import Attempt
    from ptcompile.spec.cluster_profile import ClusterProfile


_IMPORTABLE = operators.kinds_with(Kind.read)
"""The kinds that can be imported, by apiVersion and kind."""

Known = dict[str, Objects]
"""What was found for jobs without other objects, by profile: jobs of later files that differ only
in their names, or end alike, are not searched for again.
"""

_Identity = tuple[str, ...]
"""The apiVersion, kind and name of an object."""

_UNSUPPORTED_JOBS = frozenset(
    {"MPIJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "RayJob", "LeaderWorkerSet"}
)
"""Kinds that create training pods but that no target emits."""


class ImportedSpec(NamedTuple):
    """One imported spec, and its differences from the original object."""

    document: JsonDict
    """The TrainingJob as plain data."""
    target: str
    """The target that emits the object; empty for a batch script, to which nothing compiles."""
    origin: str
    """`Kind/name` of the object."""
    same_world: bool
    same_manifest: bool
    comments: Mapping[Path, str] = {}
    """Why the spec has lines that the manifest did not require, by path."""
    differences: tuple[str, ...] = ()
    """The remaining differences, as sentences."""
    portable: JsonDict | None = None
    """The same job for other operators, if this spec leaves its pods to a runtime."""
    place: int = 0
    """Index of the object's document in its stream, from 0."""
    path: Path = ()
    """The object's place in the document: empty, or an item of a List."""
    remarks: tuple[str, ...] = ()
    """Comments of the manifest that belong to no field of the spec."""
    manifests: tuple[Json, ...] = ()
    """What the spec compiles to; empty if its images are placeholders, with which it does not."""

    def yaml(self) -> str:
        """Return the spec with its comments."""
        from ptcompile.spec.text import write_yaml

        proof = ": same world" if self.same_world else ": not the same world"
        if self.same_manifest:
            proof += ", same manifest"
        head = [f"imported from {self.origin}{proof if self.target else ''}"]
        head += [f"differs: {text}" for text in self.differences]
        head += self.remarks
        return write_yaml(self.document, self.comments, tuple(head))


class Imported(NamedTuple):
    """The result of importing a stream of manifests."""

    found: tuple[ImportedSpec, ...]
    """The specs, in the order of the jobs."""
    diagnostics: tuple[Diagnostic, ...]
    """Mistakes, and what a spec cannot express."""
    profile: JsonDict | None = None
    """The ClusterProfile used for the proof, or None for the built-in one."""
    kept: tuple[JsonDict, ...] = ()
    """Objects that no spec emits; apply them unchanged."""

    @property
    def specs(self) -> tuple[JsonDict, ...]:
        """The specs as plain data."""
        return tuple([imported.document for imported in self.found])

    @property
    def target(self) -> str | None:
        """The target that emits all the objects, or None if there is not exactly one."""
        targets = {imported.target for imported in self.found}
        return targets.pop() or None if len(targets) == 1 else None

    @property
    def ok(self) -> bool:
        """Whether there are no errors."""
        return not has_error(self.diagnostics)

    def yaml(self) -> str:
        """Return the specs as one YAML stream, with comments."""
        return "---\n".join(imported.yaml() for imported in self.found)

    def with_documents(self, documents: Iterator[JsonDict]) -> Imported:
        """Return a copy with other specs, taken from `documents` in order."""
        return self._replace(
            found=tuple([imported._replace(document=next(documents)) for imported in self.found])
        )

    def to_dict(self) -> JsonDict:
        """Return the JSON form."""
        specs = [
            {
                "from": imported.origin,
                "spec": imported.document,
                "sameWorld": imported.same_world,
                "sameManifest": imported.same_manifest,
                "differences": list(imported.differences),
                "comments": [
                    {"path": list(path), "text": text} for path, text in imported.comments.items()
                ],
            }
            for imported in self.found
        ]
        return {
            "specs": specs,
            "profile": self.profile,
            "kept": list(self.kept),
            "diagnostics": [diagnostic.to_dict() for diagnostic in self.diagnostics],
        }

    def profile_yaml(self) -> str | None:
        """Return the profile as YAML, or None for the built-in one."""
        return None if self.profile is None else emitter.emit(self.profile)


def import_manifests(
    source: StreamSource,
    *,
    filename: str | None = None,
    cluster: AnyProfile | None = None,
    lossy: bool = False,
    exact: bool = False,
    schemas: SchemaPaths = (),
    extensions: Extensions | None = None,
    values: Mapping[str, str] | None = None,
) -> Imported:
    """Import manifests as specs, compile these and compare the results, or a batch script of Slurm
    as a spec.

    Reads Pods, Jobs, PyTorchJobs, TrainJobs, JobSets and Volcano Jobs, each with its auxiliary
    objects. A setting that a spec cannot express is an error, or a warning with `lossy`. `exact`
    keeps every command as written; otherwise a torchrun command becomes `script`, `module` and
    `elastic` if that gives torchrun the same settings. `cluster` is the profile that the specs will
    be compiled with. Without one, `profile` of the result is the profile to use, if the built-in
    one would add something to the manifests. An object that the API server rejects is an error, and
    the jobs are imported as if it did not exist; `schemas` are files and folders of CRDs for kinds
    that ptcompile does not know, and CRDs of the stream count too. `extensions` are passes of
    plugins that compile will run: what they change is a difference.

    Of a batch script, recognized by `#SBATCH` or a name that ends in `.sbatch` or `.slurm`,
    everything that a spec does not have is a finding with its line. `values` are its arguments
    (`1`), variables of the submitting shell, and what partitions, accounts and QOS are on the
    cluster (`partition.gpu`). Mistakes in the manifests, the script or the profile never raise.
    Raises ValueError for a path in `schemas` that cannot be read or contains no definition.
    """
    inputs = Inputs.read(
        source, filename=filename, cluster=cluster, schemas=schemas, extensions=extensions
    )
    return import_inputs(inputs, lossy=lossy, exact=exact, script_values=values or {})


def import_inputs(
    inputs: Inputs,
    *,
    lossy: bool = False,
    exact: bool = False,
    chosen: Chosen = ALL,
    script_values: Mapping[str, str] | None = None,
    known: Known | None = None,
) -> Imported:
    """Import the manifests of a file, or its batch script with these values; without them a
    script is an error. `known` is shared by the files of a command.
    """
    from ptcompile.importer import profiles

    if inputs.has_wrong_settings:
        return Imported((), inputs.limited())
    if script_values is not None and any(file.source.is_script for file in inputs.files):
        return _import_scripts(inputs, script_values)

    profile = inputs.given_profile or profiles.minimal_cluster()
    known = {} if known is None else known
    alone = known.setdefault(repr(profile), Objects())
    imported, emitted, problems = _import_all(
        inputs, profile, chosen, alone, lossy=lossy, exact=exact
    )
    fitted: Sequence[ImportedSpec | None] = imported
    if inputs.given_profile is None:
        fitted = _fit_built_in(imported, profile, alone)
    imported = [spec if fit is None else fit for spec, fit in zip(imported, fitted, strict=True)]
    needed = profiles.MINIMAL if None in fitted else None

    return Imported(
        tuple(imported),
        inputs.limited(*problems),
        needed,
        _kept_objects(inputs.items, emitted, chosen),
    )


def _import_scripts(inputs: Inputs, values: Mapping[str, str]) -> Imported:
    """Import batch scripts. Nothing proves such a spec: Slurm's job is not an object of
    Kubernetes.
    """
    from ptcompile.importer.slurm.batch import import_script

    imported: list[ImportedSpec] = []
    diagnostics = [*inputs.settings_diagnostics]
    for file in inputs.files:
        result = import_script(file.source, file.name, values)
        diagnostics += [
            streams.to_diagnostic(problem, None, file.name) for problem in result.problems
        ]
        if result.document is None:
            continue

        imported.append(
            ImportedSpec(
                document=result.document,
                target="",
                origin=f"{file.name or 'a batch script'} of Slurm",
                same_world=False,
                same_manifest=False,
                comments=result.comments,
            )
        )

    return Imported(tuple(imported), tuple(streams.limit_findings(diagnostics, inputs.filename)))


def _fit_built_in(
    specs: Sequence[ImportedSpec], profile: ClusterProfile, alone: Objects
) -> list[ImportedSpec | None]:
    """Return specs that compile with the built-in profile as these do with `profile`, and None in
    the place of each that cannot. Specs that differ only in their names are compiled once.
    """
    from ptcompile.importer.attempt import shape_of
    from ptcompile.importer.profiles import built_in_fields

    comment = "no tolerations in the manifest; delete this line to get those for GPUs"
    fitted: list[ImportedSpec | None] = []
    for spec in specs:
        document = spec.document
        key = built_in_fields, shape_of(document)
        fields = alone.cached(key, partial(built_in_fields, document, profile))
        if not fields:
            fitted.append(None if fields is None else spec)
            continue

        closed = {**document, "spec": {**document["spec"], **fields}}
        comments = {**spec.comments, ("spec", "podTemplate"): comment}
        fitted.append(spec._replace(document=closed, comments=comments))

    return fitted


def _import_all(
    inputs: Inputs,
    profile: ClusterProfile,
    chosen: Chosen,
    alone: Objects,
    *,
    lossy: bool,
    exact: bool,
) -> tuple[list[ImportedSpec], set[_Identity], list[Diagnostic]]:
    """Return the specs of all chosen jobs, the objects that they compile to, and the
    diagnostics.
    """
    from ptcompile.importer.attempt import without_nulls
    from ptcompile.importer.draft import unsupported_kind

    objects = inputs.items
    imported: list[ImportedSpec] = []
    emitted: set[_Identity] = set()
    diagnostics: list[Diagnostic] = []
    jobs = [
        item
        for item in objects
        if kind_of(item.manifest) in _IMPORTABLE and chosen.includes(item.manifest)
    ]
    auxiliary = [item for item in objects if kind_of(item.manifest) not in _IMPORTABLE]
    stream = Objects(item.manifest for item in objects)
    accepted: list[JsonDict] = []
    if jobs:
        for item in auxiliary:
            rejections = _rejections(item.manifest, stream, profile, inputs.definitions)
            diagnostics += [_to_diagnostic(problem, item) for problem in rejections]
            if not rejections:
                accepted += [dict(item.manifest)]

    related = Objects(accepted)
    decoded = Objects(map(without_nulls, accepted)) if accepted else alone

    for item in auxiliary:
        if nested_string(item.manifest, "kind") in _UNSUPPORTED_JOBS and chosen.includes(
            item.manifest
        ):
            diagnostics.append(_to_diagnostic(unsupported_kind(item.manifest), item))
    if objects and not jobs and not diagnostics:
        first, *_ = objects
        diagnostics.append(_to_diagnostic(_no_job(first.manifest), first))
    for item in jobs:
        spec, manifests, problems = _import_one(
            item.manifest, related, decoded, profile, inputs, lossy=lossy, exact=exact
        )
        emitted.update(map(_identity, manifests))
        diagnostics += [_to_diagnostic(problem, item) for problem in problems]
        if spec is not None:
            spec = spec._replace(place=item.document.index, path=item.path)
            imported.append(_with_remarks(spec, item))

    return imported, emitted, diagnostics


def _with_remarks(spec: ImportedSpec, item: Item) -> ImportedSpec:
    """Return the spec with the comments of its manifest, before those about the import."""
    from ptcompile.importer.remarks import carry_remarks

    remarks = carry_remarks(item.file.source, item.document, item.path, spec.document)
    comments = {**remarks.by_path}
    for path, text in spec.comments.items():
        comments[path] = f"{comments[path]}\n{text}" if path in comments else text
    return spec._replace(comments=comments, remarks=remarks.others)


def _import_one(
    manifest: Json,
    related: Objects,
    decoded: Objects,
    profile: ClusterProfile,
    inputs: Inputs,
    *,
    lossy: bool,
    exact: bool,
) -> tuple[ImportedSpec | None, Sequence[Json], list[Problem]]:
    """Return the spec of a job with the objects that it compiles to, and the problems."""
    from ptcompile.importer import draft
    from ptcompile.importer.attempt import compile_errors, differences, import_object, without_nulls

    if rejections := _rejections(
        manifest, Objects((manifest,), related), profile, inputs.definitions
    ):
        return None, (), rejections

    images = draft.placeholder_images(manifest)
    stand_ins = draft.substitute_images(images, manifest)
    manifest = draft.replace_images(without_nulls(manifest), stand_ins)
    outcome = import_object(manifest, decoded, profile, exact=exact)
    if outcome.best is None:
        return None, (), list(outcome.problems)

    best = _prove_with_plugins(outcome.best, manifest, decoded, profile, inputs.extensions)
    if not best.proof.compiled:
        text = "a spec cannot express it"
        return (
            None,
            (),
            [_spec_problem("not-importable", f"{text}: {e.message}") for e in compile_errors(best)],
        )

    sentences = () if best.proof.same_manifest else tuple(differences(best))
    is_different = not best.proof.same_world
    severity = "error" if is_different and not lossy else "warning"
    problems = [
        _spec_problem("import-differs", f"the spec does not express everything: {text}", severity)
        for text in sentences
    ]
    if is_different and not lossy:
        return None, (), problems

    problems += [draft.placeholder_warning(image, path) for image, path in images.items()]
    imported = _imported_spec(best, manifest, related, profile, stand_ins)
    return imported._replace(differences=sentences), best.proof.manifests, problems


def _imported_spec(
    attempt: Attempt,
    manifest: Json,
    related: Objects,
    profile: ClusterProfile,
    stand_ins: Mapping[str, str],
) -> ImportedSpec:
    """Return the spec of an attempt, with the images of the manifest in place of `stand_ins`."""
    from ptcompile.importer.attempt import comments, inline_runtime
    from ptcompile.importer.draft import replace_images

    as_written = {substitute: image for image, substitute in stand_ins.items()}
    portable = inline_runtime(attempt.spec, manifest, related, profile)
    kind = nested_string(manifest, "kind")

    return ImportedSpec(
        document=replace_images(attempt.spec, as_written),
        target=attempt.read.target,
        origin=f"{kind}/{object_name(manifest)}",
        same_world=attempt.proof.same_world,
        same_manifest=attempt.proof.same_manifest,
        comments=comments(attempt),
        portable=replace_images(portable, as_written),
        manifests=() if stand_ins else attempt.proof.manifests,
    )


def _prove_with_plugins(
    attempt: Attempt,
    manifest: Any,
    related: Objects,
    profile: ClusterProfile,
    extensions: Extensions | None,
) -> Attempt:
    """Return the attempt with the proof that the passes of plugins leave it equivalent; the search
    ran without them.
    """
    if extensions is None:
        return attempt
    from ptcompile.importer.attempt import prove_spec

    return attempt._replace(
        proof=prove_spec(attempt.spec, manifest, related, profile, extensions=extensions)
    )


def _rejections(
    manifest: Json, related: Objects, profile: ClusterProfile, definitions: Definitions | None
) -> list[Problem]:
    """Return the errors for which the API server rejects an object, which therefore cannot exist
    in a cluster.
    """
    problems = validate(
        manifest, versions=profile.versions(), others=related, definitions=definitions
    )
    return [
        problem for problem in problems if problem.severity == "error" and problem.stage == "apply"
    ]


def _kept_objects(
    objects: Sequence[Item], emitted: set[_Identity], chosen: Chosen
) -> tuple[JsonDict, ...]:
    """Return the auxiliary objects that no spec emits, and the jobs that are not chosen."""
    auxiliary = [
        item.manifest
        for item in objects
        if kind_of(item.manifest) not in _IMPORTABLE or not chosen.includes(item.manifest)
    ]
    return tuple([dict(manifest) for manifest in auxiliary if _identity(manifest) not in emitted])


def _identity(manifest: Json) -> _Identity:
    return (*kind_of(manifest), object_name(manifest))


_DROP_HELP = "use --lossy, or lossy=True, to drop it with a warning"


def _spec_problem(name: str, message: str, severity: Any = "error") -> Problem:
    is_error = severity == "error"
    help = _DROP_HELP if name == "import-differs" and is_error else "keep the manifest as it is"
    return problem_at(name, ("spec",), message, help, severity, "style", "ptcompile")


def _no_job(manifest: Json) -> Problem:
    misplaced_key = next(
        (key for key in manifest if key != "apiVersion" and key.endswith("apiVersion")), None
    )
    if misplaced_key is not None and "apiVersion" not in manifest:
        message = "no job: apiVersion is missing"
        return own_problem(
            "nothing-to-import",
            (misplaced_key,),
            message,
            "write apiVersion",
            on_key=True,
        )

    kinds = ", ".join(sorted({f"{version} {kind}" for version, kind in _IMPORTABLE}))
    message = f"no job found: import reads {kinds}"

    return Problem(
        "nothing-to-import", ("kind",), message, "pass the file with the job", authority="ptcompile"
    )


def _to_diagnostic(problem: Problem, item: Item) -> Diagnostic:
    """Return the diagnostic of a problem, without its fix, which would edit the spec and not the
    manifest.
    """
    return item.to_diagnostic(problem._replace(fix=None))
