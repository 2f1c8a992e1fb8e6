"""What a verb was given: sources read once, their objects, and everything that decides about them.

Every verb asks an `Inputs`, and every way in makes one: of sources in Python (`Inputs.read`), of
files on the command line and in editors. What judges a file (selected rules, severities) differs
from file to file and is `ptcompile.api.options.LintOptions`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import partial

from ptcompile._internal import arguments
from ptcompile._internal.lazy import cached_property
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import (
    Diagnostic,
    Path,
    Problem,
    Problems,
    blocking,
    blocking_text,
    has_error,
    own_problem,
)
from ptcompile.diagnostics.selection import Selection
from ptcompile.kinds.wrapped import unwrapped
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.unstructured import Json, get, may_mention, nested_value
from ptcompile.kubernetes.versions import Versions, parse_version
from ptcompile.source import streams
from ptcompile.source.documents import Document, Source
from ptcompile.source.overrides import (
    NO_OVERRIDES,
    OverriddenDocument,
    Overrides,
    apply_overrides,
    read_overrides,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile._internal.arguments import ProfileSource, StreamSource
    from ptcompile.apiserver.crds import Definitions
    from ptcompile.compiler.pipeline import Compiled
    from ptcompile.extending import Extensions
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Spec
    from ptcompile.world.nodes import Pools

    JobSource = StreamSource | Spec
    """A stream in any form."""
    AnyProfile = ProfileSource | ClusterProfile
    """A cluster profile in any form."""
    OverridePairs = Iterable[tuple[str | Path, Any]]
    """Values by their paths in a spec."""
    SchemaPaths = Iterable[str | os.PathLike[str]]
    """Files and folders of CRDs or JSON Schemas."""
else:
    JobSource = AnyProfile = OverridePairs = SchemaPaths = object  # other modules import the names

NODE_KINDS = frozenset({("v1", "Node"), ("karpenter.sh/v1", "NodePool")})
_CRD = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")


class File(NamedTuple):
    """One source, read once."""

    source: Source
    name: str | None = None
    """Its name in findings."""


class Item(NamedTuple):
    """An object, and where it was read."""

    manifest: Json
    file: File
    document: Document
    path: Path = ()
    """The object's place in the document: empty, or an item of a List."""
    overridden: OverriddenDocument | None = None
    """The spec's document with the overrides, if there are any."""
    is_compiled: bool = False
    """Whether a spec compiles to the manifest: the other fields are those of the spec."""

    @property
    def is_spec(self) -> bool:
        """Whether the object is a TrainingJob, or is meant to be one."""
        return streams.is_ours(self.manifest) and self.manifest.get("kind") != "ClusterProfile"

    def to_diagnostic(self, problem: Problem) -> Diagnostic:
        """Return a problem as a diagnostic of the object, of its spec, or of the override that
        caused it.
        """
        if self.overridden is not None:
            return self.overridden.to_diagnostic(problem, self.file.name)

        written = get(self.document.data, self.path) if self.is_compiled else self.manifest
        return streams.to_diagnostic(problem, self.document, self.file.name, self.path, written)


class Family(NamedTuple):
    """The jobs of one document that has variants."""

    file: File
    jobs: Sequence[OverriddenDocument]

    @property
    def first(self) -> OverriddenDocument:
        """The first job; all have its document."""
        return self.jobs[0]


class ItemsFound(NamedTuple):
    """The objects of the inputs after one step, and the diagnostics of the specs for which the step
    had no result.
    """

    items: tuple[Item, ...]
    diagnostics: tuple[Diagnostic, ...]


class Inputs:
    """The files of one call, and what else decides about their objects."""

    def __init__(
        self,
        files: Sequence[File],
        profile: ClusterProfile | None = None,
        *,
        versions: Versions | None = None,
        overrides: Overrides = NO_OVERRIDES,
        beside: Objects | None = None,
        schemas: SchemaPaths = (),
        extensions: Extensions | None = None,
        profile_diagnostics: Iterable[Diagnostic] = (),
        profile_source: Source | None = None,
        only_specs: bool = False,
    ) -> None:
        self.files = files
        self.given_profile = profile
        """The caller's profile, or None for the built-in one and for a wrong one."""
        self.profile_source = profile_source
        """The profile's text or data, for what explains its lines."""
        self.versions = versions if versions is not None else releases_of(profile)
        """The releases in force."""
        self.overrides = overrides
        self.beside = beside
        """Objects of other files, which decide and have no findings; None if there may be
        unknown ones.
        """
        self.schemas = arguments.paths(schemas, "schemas")
        self.extensions = extensions
        self.settings_diagnostics = (*profile_diagnostics, *overrides.diagnostics)
        """Mistakes in the profile and in the paths of overrides."""
        self._expanded: dict[int, Sequence[OverriddenDocument]] = {}
        """The jobs of documents, by their identity."""
        self.only_specs = only_specs
        """Whether every document should be a spec, as for `compile`, so that no API server reads
        the texts.
        """

    @classmethod
    def read(
        cls,
        source: JobSource,
        *,
        parameter: str = "source",
        filename: str | None = None,
        cluster: AnyProfile | None = None,
        cluster_filename: str | None = None,
        kubernetes: str | None = None,
        name: str | None = None,
        overrides: OverridePairs = (),
        variants: Iterable[str] = (),
        default_target: str | None = None,
        beside: Iterable[StreamSource] | None = None,
        schemas: SchemaPaths = (),
        extensions: Extensions | None = None,
        only_specs: bool = False,
    ) -> Inputs:
        """Return the inputs of a function's call; `parameter` is the function's name for the
        source.

        Raises TypeError for an argument of the wrong type, and ValueError for an invalid version of
        `kubernetes`.
        """
        arguments.check(filename=filename, name=name, kubernetes=kubernetes, extensions=extensions)
        parsed_overrides = read_overrides(
            arguments.pairs(overrides, "overrides"),
            name,
            arguments.strings(variants, "variants"),
            default_target,
        )
        others = None if beside is None else read_beside(beside)
        profile_read = read_profile(cluster, filename=cluster_filename)
        versions = releases_of(profile_read.profile, kubernetes)
        parsed = streams.read(source, filename, parameter, kubectl=versions.kubernetes)

        return cls(
            [File(parsed, arguments.filename(source, filename))],
            profile_read.profile,
            versions=versions,
            overrides=parsed_overrides,
            beside=others,
            schemas=schemas,
            extensions=extensions,
            profile_diagnostics=profile_read.diagnostics,
            profile_source=profile_read.source,
            only_specs=only_specs,
        )

    def with_profile(self, read: ProfileRead) -> Inputs:
        """Return the same files for another profile, with its releases."""
        return Inputs(
            self.files,
            read.profile,
            overrides=self.overrides,
            beside=self.beside,
            schemas=self.schemas,
            extensions=self.extensions,
            profile_diagnostics=read.diagnostics,
            profile_source=read.source,
            only_specs=self.only_specs,
        )

    @cached_property
    def profile(self) -> ClusterProfile:
        """The caller's profile, else the built-in one."""
        from ptcompile.spec.reader import default_cluster

        return self.given_profile or default_cluster()

    @property
    def frameworks(self) -> tuple[str, ...]:
        """The kinds that the profile's Kueue manages beyond its defaults."""
        if self.given_profile is not None:
            return tuple(self.given_profile.spec.queue_frameworks)
        return ()

    @cached_property
    def pools(self) -> Pools | None:
        """The node pools of the profile, or None if it shows none."""
        profile = self.given_profile
        if profile is None or not (profile.spec.node_pools or profile.spec.objects):
            return None
        from ptcompile.world.nodes import pools_of_profile

        return pools_of_profile(profile)

    def pools_among(self, objects: Objects) -> Pools | None:
        """Return the node pools of the profile, else those that objects show, or None."""
        if self.pools is not None or not objects.has_any(NODE_KINDS):
            return self.pools
        from ptcompile.world.nodes import pools_of_objects

        return pools_of_objects(objects)

    @property
    def filename(self) -> str | None:
        """The name of the only file, or None if there are several."""
        return self.files[0].name if len(self.files) == 1 else None

    @cached_property
    def definitions(self) -> Definitions | None:
        """The kinds that `schemas` and the CRDs of all files define, or None if there are none.

        Raises ValueError for a schema that cannot be read or defines no kind.
        """
        crds = [
            manifest
            for file in self.files
            if _may_define(file.source)
            for manifest in streams.objects_of(file.source)
        ]
        crds += self.related.of_kind(_CRD)
        if not self.schemas and not crds:
            return None

        from ptcompile.apiserver.crds.loader import definitions_of, read_definitions

        loaded = read_definitions(self.schemas)
        return loaded._replace(kinds={**loaded.kinds, **definitions_of(crds)})

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """All objects in order. A spec has the overrides; one that cannot have them is left out."""
        return self._override_items.items

    @cached_property
    def specs(self) -> list[Item]:
        """The TrainingJobs."""
        return [item for item in self.items if item.is_spec]

    @cached_property
    def objects(self) -> list[Item]:
        """The objects that are no kind of ptcompile's own."""
        return [item for item in self.items if not streams.is_ours(item.manifest)]

    @cached_property
    def created(self) -> list[Json]:
        """All objects as the API server gets them: the objects inside a List or a wrapper take its
        place.
        """
        return [created for item in self.items for created in unwrapped(item.manifest)]

    @cached_property
    def documents(self) -> list[OverriddenDocument]:
        """Every document as a whole, with the overrides applied to any kind, for verbs that read
        each document as a spec. A document with variants counts as its jobs. If the run has a name,
        only the first document is returned.
        """
        documents = [document for document in self._whole_documents if document.data is not None]
        if self.overrides.run_name is not None:
            return documents[:1]
        return documents

    @property
    def surplus_documents(self) -> list[Diagnostic]:
        """An error for each document after the first if the run has a name, because a name can only
        be that of one job.
        """
        name = self.overrides.run_name
        if name is None:
            return []
        return [document.second_job_error(name) for document in self._whole_documents[1:]]

    @cached_property
    def _whole_documents(self) -> list[OverriddenDocument]:
        return [
            job
            for file in self.files
            for document in file.source.documents
            for job in self._jobs_of(document)
        ]

    def _jobs_of(self, document: Document) -> Sequence[OverriddenDocument]:
        """Return the jobs that a document stands for: itself, unless it has variants."""
        if not self._may_vary(document.data):
            return [apply_overrides(document, self.overrides)]
        if id(document) not in self._expanded:
            from ptcompile.spec.variants import jobs_of

            self._expanded[id(document)] = jobs_of(document, self.overrides)
        return self._expanded[id(document)]

    @property
    def _has_options(self) -> bool:
        """Whether the caller changes specs, and not only the configuration."""
        return bool(self.overrides.values or self.overrides.variants)

    def _may_vary(self, data: Json) -> bool:
        """Return whether a document is a spec with variants, or may be changed by an option of the
        call.
        """
        if "variants" not in data and not self._has_options:
            return False
        return data.get("kind") == "TrainingJob" or (
            streams.is_ours(data) and data.get("kind") != "ClusterProfile"
        )

    @cached_property
    def families(self) -> list[Family]:
        """The jobs of each document with variants, or for which an option names some, with its
        file.
        """
        varying = [
            Family(file, self._jobs_of(document))
            for file in self.files
            for document in file.source.documents
            if self._may_vary(document.data)
        ]
        return [
            family
            for family in varying
            if family.first.member is not None or family.first.data is None
        ]

    @cached_property
    def variant_diagnostics(self) -> list[Diagnostic]:
        """What is wrong with variants themselves."""
        in_lists = [
            item
            for item in self._written_items
            if item.path and item.is_spec and "variants" in item.manifest
        ]
        diagnostics = [item.to_diagnostic(_VARIANTS_IN_LIST) for item in in_lists]
        if not self.families:
            return diagnostics

        from ptcompile.spec.variants import without_effect

        for family in self.families:
            file, jobs = family
            refused = [job for job in jobs if job.data is None]
            diagnostics += [error for job in refused for error in job.to_diagnostics((), file.name)]
            members = [job.member for job in jobs if job.member is not None]
            notes = without_effect(members)
            diagnostics += [
                streams.to_diagnostic(note, family.first.document, file.name) for note in notes
            ]
            diagnostics += self._shared_folders(file, jobs)

        return diagnostics

    def _shared_folders(self, file: File, jobs: Sequence[OverriddenDocument]) -> list[Diagnostic]:
        """Return the warnings about jobs of one spec that write to the same place."""
        if len(jobs) < 2 or not may_mention(jobs[0].data, "persistentVolumeClaim"):
            return []
        from ptcompile.compiler.families import problems_between

        problems = problems_between(
            [(job.data, self.compile(job.data)) for job in jobs], self.versions
        )
        return [jobs[number].to_diagnostic(problem, file.name) for number, problem in problems]

    def once_each(self, diagnostics: Iterable[Diagnostic]) -> Iterable[Diagnostic]:
        """Return the findings; a finding that several jobs of one document have is returned
        once.
        """
        if not self.families:
            return diagnostics
        from ptcompile.spec.variants import once_each

        return once_each(diagnostics, [family.jobs for family in self.families])

    @property
    def open_choices(self) -> list[Diagnostic]:
        """An error for each document that stands for several jobs, for verbs that look at one."""
        several = [family for family in self.families if len(family.jobs) > 1]
        if not several:
            return []
        from ptcompile.spec.variants import open_choice

        return [
            streams.to_diagnostic(open_choice(family.jobs), family.first.document, family.file.name)
            for family in several
        ]

    @property
    def related(self) -> Objects:
        """The objects of other files that are known."""
        return self.beside if self.beside is not None else Objects()

    @cached_property
    def text_diagnostics(self) -> list[Diagnostic]:
        """The mistakes in the texts, and a finding for each file without a document."""
        diagnostics: list[Diagnostic] = []
        for file in self.files:
            problems: Iterable[Problem] = text_problems(file.source, file.source.problems)
            if self.only_specs:
                problems = blocking_text(file.source.problems)
            stamp = partial(streams.to_diagnostic, filename=file.name)
            diagnostics += [stamp(problem, None) for problem in problems]
            for document in file.source.documents:
                diagnostics += [
                    stamp(problem, document) for problem in streams.not_objects(document.data)
                ]

            if is_empty(file.source):
                diagnostics.append(
                    stamp(streams.no_documents(blocks_compile=self.only_specs), None)
                )

        return diagnostics

    @cached_property
    def diagnostics(self) -> list[Diagnostic]:
        """The mistakes in the call's inputs, in the order that every verb but lint reports them:
        the profile, overrides, texts, profiles that are not read, specs that cannot have the
        overrides, and specs that repeat the name of an earlier one. Lint judges the texts itself.
        """
        has_no_profile = self.given_profile is None and not self.settings_diagnostics
        unread = [
            item.to_diagnostic(_UNREAD_PROFILE)
            for item in self.items
            if has_no_profile and streams.is_ours(item.manifest) and not item.is_spec
        ]
        seen: set[tuple[str, str]] = set()
        repeated = [
            item.to_diagnostic(problem)
            for item in self.specs
            for problem in streams.repeated_spec(item.manifest, seen)
        ]

        return [
            *self.settings_diagnostics,
            *self.text_diagnostics,
            *unread,
            *self.variant_diagnostics,
            *self._override_items.diagnostics,
            *repeated,
        ]

    @property
    def has_wrong_settings(self) -> bool:
        """Whether the profile or an override is wrong, so that nothing can be compiled."""
        return has_error(self.settings_diagnostics)

    @property
    def has_error(self) -> bool:
        """Whether anything that was given is wrong."""
        return has_error(self.diagnostics)

    def compile(self, spec: Json, target: str | None = None) -> Compiled:
        """Compile a spec for `target`, or for its own target if that is None."""
        from ptcompile.compiler.pipeline import compile_document

        return compile_document(spec, self.profile, target, self.extensions)

    def compile_specs(
        self, target: str | None = None, *, fallback: str | None = None, judged: bool = False
    ) -> ItemsFound:
        """Compile every spec for `target`, else for its own target, else for `fallback`, else for
        the default one.

        The manifests of each spec replace it; a spec with an error has none. If `judged`, the
        errors of rules that `compile` reports count too.
        """
        items: list[Item] = []
        diagnostics: list[Diagnostic] = []
        for item in self.items:
            if not item.is_spec:
                if not streams.is_ours(item.manifest):
                    items += [item]
                continue

            has_own = nested_value(item.manifest, "spec", "target")
            compiled = self.compile(item.manifest, target or (None if has_own else fallback))
            diagnostics += map(item.to_diagnostic, compiled.problems)
            if judged:
                diagnostics += self.refusals(item, compiled)
            items += [
                item._replace(manifest=manifest, is_compiled=True)
                for manifest in compiled.manifests
            ]

        return ItemsFound(tuple(items), tuple(diagnostics))

    def refusals(self, spec: Item, compiled: Compiled) -> Sequence[Diagnostic]:
        """Return the errors of rules for which `compile` gives no manifests of a spec; comments
        suppress them.
        """
        from ptcompile.compiler.advice import rule_findings
        from ptcompile.source.suppression import suppress

        findings = rule_findings(compiled, spec.manifest, self.profile, self.extensions)
        errors = [
            spec.to_diagnostic(finding) for finding in findings if finding.severity == "error"
        ]
        if errors:
            return suppress(spec.file.source, errors, Selection()).remaining

        return ()

    def limited(self, *more: Diagnostic) -> tuple[Diagnostic, ...]:
        """Return the mistakes in the inputs and the findings given, up to the limit for one
        file.
        """
        return tuple(
            streams.limit_findings(self.once_each((*self.diagnostics, *more)), self.filename)
        )

    @cached_property
    def _written_items(self) -> tuple[Item, ...]:
        """The objects as they are written."""
        return tuple([
            Item(manifest, file, document, path)
            for file in self.files
            for document in file.source.documents
            for path, manifest in streams.objects_in(document.data)
        ])  # fmt: skip

    @cached_property
    def _override_items(self) -> ItemsFound:
        """Return the objects with the overrides, and the errors of the specs that cannot have
        them.
        """
        items = self._written_items
        if self.overrides == NO_OVERRIDES and not any(
            "variants" in item.manifest for item in items
        ):
            return ItemsFound(items, ())

        kept: list[Item] = []
        diagnostics: list[Diagnostic] = []
        has_earlier_job = False
        for item in items:
            if not item.is_spec:
                kept.append(item)
                continue
            if item.path and not self._has_options:
                kept += [] if "variants" in item.manifest else [item]
                continue
            if item.path:
                diagnostics.append(item.to_diagnostic(_OVERRIDE_IN_LIST))
                continue

            for job in self._jobs_of(item.document):
                if job.data is None:
                    continue
                errors = job.to_diagnostics((), item.file.name)
                if has_earlier_job and self.overrides.run_name is not None:
                    errors.append(job.second_job_error(self.overrides.run_name))
                has_earlier_job = True
                diagnostics += errors
                if not errors:
                    kept.append(item._replace(manifest=job.data, overridden=job))

        return ItemsFound(tuple(kept), tuple(diagnostics))


_OVERRIDE_IN_LIST = Problem(
    name="spec-conflict",
    path=(),
    text="an override changes a TrainingJob that is a document, and this one is an item of a List",
    help="write it as a separate document",
    authority="ptcompile",
)
_VARIANTS_IN_LIST = _OVERRIDE_IN_LIST._replace(
    text="variants are of a TrainingJob that is a document, and this one is an item of a List",
    blocks_compile=True,
)
_UNREAD_PROFILE = own_problem(
    "unknown-kind",
    ("kind",),
    "a ClusterProfile among the files is not read",
    "pass it with --cluster FILE",
    "warning",
    "run",
)


def read_file(content: str | bytes, name: str | None, profile: ClusterProfile | None) -> File:
    """Read a file as the kubectl of the profile's release reads it."""
    return File(streams.read(content, name, kubectl=releases_of(profile).kubernetes), name)


def is_empty(source: Source) -> bool:
    """Return whether a source has no document, and nothing wrong that would explain it."""
    return not source.documents and not has_error(source.problems)


def text_problems(source: Source, problems: Iterable[Problem]) -> Problems:
    """Yield the problems of a source's text in the words of the program that reads it: ptcompile
    for a spec, kubectl for manifests.

    A duplicate key is only a warning in a manifest, because kubectl silently uses the last value.
    """
    has_spec = any(streams.is_ours(document.data) for document in source.documents)
    has_manifest = not all(streams.is_ours(document.data) for document in source.documents)
    # the unreadable document may be the spec or the profile
    may_have_spec = has_spec or "TrainingJob" in source.text or "ClusterProfile" in source.text
    for problem in problems:
        if problem.name == "duplicate-key" and not has_spec:
            problem = problem._replace(severity="warning", stage="run")
        if may_have_spec:
            yield from blocking([problem]) if has_manifest else blocking_text([problem])
        else:
            yield problem


class ProfileRead(NamedTuple):
    """A profile as it was read."""

    profile: ClusterProfile | None
    """None for one that is wrong, and if none was given."""
    diagnostics: Sequence[Diagnostic] = ()
    source: Source | None = None
    """The profile's text or data, or None for a model."""


NO_PROFILE = ProfileRead(None)


def read_profile(cluster: AnyProfile | None, *, filename: str | None = None) -> ProfileRead:
    """Return the profile from any form, with its problems."""
    if cluster is None:
        return NO_PROFILE
    from ptcompile.compiler.reader import load_profile, profile_in
    from ptcompile.spec.objects import Profile

    if isinstance(cluster, Profile):
        return ProfileRead(*load_profile(cluster, filename=filename))
    source = streams.read(cluster, filename, "cluster")
    return ProfileRead(*profile_in(source, filename), source)


def releases_of(profile: ClusterProfile | None, kubernetes: str | None = None) -> Versions:
    """Return the releases of a profile, with this version of Kubernetes if one is given.

    Raises ValueError for an invalid version.
    """
    versions = profile.versions() if profile is not None else Versions()
    if kubernetes:
        return versions._replace(kubernetes=parse_version(kubernetes))
    return versions


def read_beside(sources: Iterable[StreamSource]) -> Objects:
    """Return the objects of several sources. Problems of their texts are not reported here: they
    are findings of the run that checks those files.

    Raises TypeError for anything that is not a list of sources.
    """
    if isinstance(sources, Objects):
        return sources
    arguments.check(beside=sources)
    return Objects(
        manifest
        for source in sources
        for manifest in streams.objects_of(streams.read(source, None, "beside"))
    )


def _may_define(source: Source) -> bool:
    """Return whether a stream may contain a CRD. A text is searched for the word; mappings are
    checked by kind.
    """
    if source.text:
        return "CustomResourceDefinition" in source.text
    return any(
        manifest.get("kind") == "CustomResourceDefinition"
        for manifest in streams.objects_of(source)
    )


def unique(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics, each once; the two sides of one file have some in common."""
    return tuple(
        {
            (d.code, d.message, d.path, d.span, d.filename, d.document): d for d in diagnostics
        }.values()
    )
