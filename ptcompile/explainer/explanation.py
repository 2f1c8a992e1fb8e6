"""`Explanation`, its builder, and the changes of each pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from ptcompile._internal.lazy import cached_property
from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.spelling import closest_match
from ptcompile.compiler import passes
from ptcompile.compiler.advice import apply_suppressions, findings_of_rules
from ptcompile.compiler.pipeline import Compiled, compile_document
from ptcompile.diagnostics import Diagnostic, Path, field_path, has_error
from ptcompile.explainer.model import (
    Cause,
    Explained,
    Input,
    InputText,
    PassChange,
    PassExplanation,
)
from ptcompile.explainer.provenance import provenance
from ptcompile.explainer.sensitivity import InputName
from ptcompile.explainer.values import (
    ItemNames,
    differences,
    matches,
    path_parts,
    shown_path,
    shown_value,
    value_at,
)
from ptcompile.ir import pods as pod_template
from ptcompile.ir.job import Job
from ptcompile.kubernetes.unstructured import MISSING, JsonDict, entries_of, has
from ptcompile.source import streams
from ptcompile.source.documents import Document, Source
from ptcompile.source.overrides import OverriddenDocument
from ptcompile.source.secrets.masking import masked_lines
from ptcompile.source.secrets.scanner import without_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.diagnostics.selection import Selection
    from ptcompile.extending import Extensions
    from ptcompile.spec.cluster_profile import ClusterProfile


_MAX_WHOLE = 64
"""Number of characters up to which a mapping or list is one change; longer ones are split into
their parts.
"""


def job_view(job: Job) -> JsonDict:
    """Return the parts of a job that passes may change as plain data: each role's pod template, the
    objects' metadata, the queue, and the processes of a node.
    """
    job_fields: JsonDict = {
        "metadata": {"labels": dict(job.labels), "annotations": dict(job.annotations)}
    }
    if job.queue:
        job_fields["queue"] = job.queue
    if job.launch:
        job_fields["nprocPerNode"] = job.launch.nproc_per_node

    return {
        "roles": {role.name: pod_template.write(role.template) for role in job.roles},
        "job": job_fields,
    }


class _MaskedView(NamedTuple):
    """The parts of a job that passes may change, unmasked and with secrets masked."""

    job: Job
    real: JsonDict
    masked: JsonDict


def _masked_view(job: Job, views: list[_MaskedView]) -> _MaskedView:
    """Return the view of a job: that of an equal job among `views`, or a new one, which joins
    them.
    """
    view = next((view for view in views if view.job == job), None)
    if view is None:
        real = job_view(job)
        view = _MaskedView(job, real, without_secrets(real))
        views.append(view)
    return view


def explain_passes(
    steps: Sequence[passes.PassRun], views: list[_MaskedView]
) -> tuple[PassExplanation, ...]:
    """Return what each pass of a run added, changed or removed; a change in several roles
    appears once. Runs for other targets pass the same `views`, empty at first: most of their jobs
    are equal.
    """
    explanations: list[PassExplanation] = []
    for step in steps:
        changes: tuple[PassChange, ...] = ()
        if step.before != step.after:
            before = _masked_view(step.before, views)
            changes = _pass_changes(before, _masked_view(step.after, views))
        explanations.append(PassExplanation(step.name, changes))

    return tuple(explanations)


def _pass_changes(before: _MaskedView, after: _MaskedView) -> tuple[PassChange, ...]:
    """Return what a pass changed in the view of a job; equal changes of several roles are one."""
    changes: dict[tuple[Path, str], PassChange] = {}
    item_names = ItemNames()
    for path, old, new in _split_long(differences(before.masked, after.masked)):
        # a path begins with `job`, or with `roles` and the name of the role
        depth = 1 if path[0] == "job" else 2
        (root, *names), inner = path[:depth], path[depth:]
        shown_in = before.masked if new is MISSING else after.masked
        display_path = shown_path(inner, value_at(shown_in, (root, *names)), item_names)
        key = (inner, repr((display_path, old, new)))
        earlier_roles = changes[key].roles if key in changes else ()
        roles = (*earlier_roles, *map(str, names))
        masked = (old, new) != tuple(
            MISSING if side is MISSING else value_at(view.real, path)
            for side, view in zip((old, new), (before, after), strict=True)
        )
        changes[key] = PassChange(roles, inner, display_path, old, new, masked)

    return tuple(changes.values())


def _split_long(changes: Iterable[tuple[Path, Any, Any]]) -> Iterator[tuple[Path, Any, Any]]:
    """Yield the changes, with those of long mappings and lists split into parts."""
    for path, old, new in changes:
        is_removed = new is MISSING
        only_side = old if is_removed else new
        if (
            (is_removed or old is MISSING)
            and isinstance(only_side, Mapping | list)
            and only_side
            and len(shown_value(only_side, 2 * _MAX_WHOLE)) > _MAX_WHOLE
        ):
            yield from _split_long(
                ((*path, key), part, MISSING) if is_removed else ((*path, key), MISSING, part)
                for key, part in entries_of(only_side)
            )
        else:
            yield path, old, new


class Explanation(NamedTuple):
    """The reasons for the manifests of a stream of specs.

    A document that does not compile only has `diagnostics`. A document with errors of rules alone
    is explained.
    """

    jobs: tuple[Explained, ...]
    """Each spec that compiles, with its stages."""
    manifests: tuple[JsonDict, ...]
    """The manifests that `compile` returns, unmasked."""
    causes: tuple[Cause, ...]
    """One cause for each value of the manifests, in their order."""
    diagnostics: tuple[Diagnostic, ...]
    """Mistakes and the findings of rules."""
    texts: Mapping[InputName, InputText]
    """The texts that the causes quote, by their names."""

    @property
    def ok(self) -> bool:
        """Whether all diagnostics are warnings or notes."""
        return not has_error(self.diagnostics)

    def at(self, query: str) -> tuple[Cause, ...]:
        """Return the causes at and below a path of a manifest, or, if no path begins so, wherever
        it occurs in a path.

        `spec.template.spec.containers[0].env[1]`, `containers[pytorch].env[NCCL_DEBUG]`,
        `env.NCCL_DEBUG`, `volumes`.
        """
        query_parts = path_parts(query)
        if not query_parts:
            return ()

        for inside in (False, True):
            matching = tuple(
                cause
                for cause in self.causes
                if matches(query_parts, cause.path, self.manifests[cause.manifest], anywhere=inside)
            )
            if matching:
                return matching

        return ()

    def near(self, query: str) -> str | None:
        """Return an existing path similar to `query`, or None."""
        return closest_path(query, self.causes)

    def text(self, query: str | None = None) -> str:
        """Return as text what each pass did, or the causes at and below a path; empty if there
        are none.
        """
        from ptcompile.explainer.rendering import causes_text, trace_text

        if query is None:
            return trace_text(self)
        return causes_text(self, self.at(query))

    def to_dict(self) -> JsonDict:
        """Return the JSON form (schemas/explanation.schema.json); secret variables are masked."""
        from ptcompile.explainer.rendering import to_dict

        return to_dict(self)


class Draft(NamedTuple):
    """An explanation for one target, and the jobs whose causes it still lacks."""

    explanation: Explanation
    compiled: Mapping[int, Compiled]
    """The jobs by the numbers of their documents."""
    chosen: bool
    """Whether the target is not the document's own choice."""


class _SharedJob(NamedTuple):
    """What the explanations of a job for several targets have in common."""

    document: OverriddenDocument
    views: list[_MaskedView]


class SharedInputs:
    """The files of one explanation, and what explanations of them for several targets have in
    common; each part is made once.
    """

    def __init__(self, spec: Source, cluster: Source | None, filename: str | None) -> None:
        self.filename = filename
        """The name of the spec's file in findings."""
        self.sources: dict[InputName, Source] = {"spec": spec}
        if cluster is not None:
            self.sources["cluster"] = cluster
        self.jobs: dict[int, _SharedJob] = {}
        """What targets share of the jobs that were built, by the numbers of their documents."""

    @cached_property
    def profile_document(self) -> Document | None:
        """The profile's document, or None for a profile without a text."""
        source = self.sources.get("cluster")
        if source is None:
            return None
        return next(iter(streams.profile_documents(source)), None)

    @cached_property
    def texts(self) -> dict[InputName, InputText]:
        """The files with secrets masked."""
        names = {"spec": self.filename}
        return {
            name: InputText(
                names.get(name, source.filename),
                tuple(masked_lines(source.text, fill="")) if source.text else (),
            )
            for name, source in self.sources.items()
        }


def draft(
    documents: Sequence[OverriddenDocument],
    cluster: ClusterProfile,
    shared: SharedInputs,
    *,
    target: str | None,
    settings_diagnostics: Sequence[Diagnostic] = (),
    diagnostics: Sequence[Diagnostic] = (),
    selection: Selection | None = None,
    extensions: Extensions | None = None,
) -> Draft:
    """Explain every TrainingJob of a stream, without the causes of its values, and with the
    findings of the rules in `selection`, if any.

    `diagnostics` are what is wrong with the texts, and `settings_diagnostics` with the profile, to
    which comments in the spec do not apply. Calls for the same files pass the same `shared`.
    """
    findings = [*diagnostics]
    jobs: list[Explained] = []
    manifests: list[JsonDict] = []
    compiled_jobs: dict[int, Compiled] = {}
    seen: set[tuple[str, str]] = set()
    for number, document in enumerate(documents):
        compiled = compile_document(document.data, cluster, target, extensions)
        repeated = streams.repeated_spec(document.data, seen)
        findings += document.to_diagnostics((*repeated, *compiled.problems), shared.filename)
        if document.rejected:
            continue

        stamp = partial(document.to_diagnostic, filename=shared.filename)
        findings += findings_of_rules(
            compiled, document.data, cluster, selection, stamp, extensions
        ).reported
        built = compiled.built
        if repeated or not compiled.manifests or built is None:
            continue

        first = len(manifests)
        manifests += compiled.manifests
        compiled_jobs[number] = compiled
        job = shared.jobs.setdefault(number, _SharedJob(document, []))
        runs = passes.pass_runs(built.lowered, built.context, built.passes)
        jobs.append(
            Explained(
                resource=streams.resource_name(document.data) or "TrainingJob",
                target=built.context.target.name,
                chosen_by="caller" if target else document.target_setter,
                manifests=tuple(range(first, len(manifests))),
                steps=explain_passes(runs, job.views),
            )
        )

    reported = apply_suppressions(
        shared.sources["spec"], findings, selection, shared.filename
    ).reported
    all_diagnostics = (*settings_diagnostics, *reported)
    explanation = Explanation(
        jobs=tuple(jobs),
        manifests=tuple(manifests),
        causes=(),
        diagnostics=all_diagnostics,
        texts=shared.texts,
    )

    return Draft(explanation, compiled_jobs, chosen=target is not None)


def with_causes(drafts: Mapping[str, Draft], shared: SharedInputs) -> dict[str, Explanation]:
    """Return the explanations of the same files for some targets with the causes of their values,
    which are found for all targets at once.
    """
    causes: dict[str, list[Cause]] = {name: [] for name in drafts}
    for number, job in sorted(shared.jobs.items()):
        able = [name for name, each in drafts.items() if number in each.compiled]
        of_targets = provenance(
            job.document.data,
            [drafts[name].compiled[number] for name in able],
            [drafts[name].chosen for name in able],
            partial(_with_span, spec=job.document, cluster=shared.profile_document),
        )
        for name, of_target in zip(able, of_targets, strict=True):
            earlier = causes[name]
            first = earlier[-1].manifest + 1 if earlier else 0
            causes[name] += _causes_as_written(of_target, job.document, first)

    return {
        name: each.explanation._replace(causes=tuple(causes[name])) for name, each in drafts.items()
    }


def _causes_as_written(
    causes: Sequence[Cause], document: OverriddenDocument, first: int
) -> Sequence[Cause]:
    """Return the causes of a job's values with the paths as written, and with its manifests counted
    from `first`.
    """
    if document.member is None and not first:
        return causes
    as_written = partial(_with_written_path, spec=document)
    return [
        cause._replace(manifest=first + cause.manifest, inputs=tuple(map(as_written, cause.inputs)))
        for cause in causes
    ]


def _with_span(line: Input, spec: OverriddenDocument, cluster: Document | None) -> Input:
    document, path = cluster, line.path
    if line.file == "spec":
        if spec.causing_override(path) is not None:
            return line._replace(overridden=True)
        document, path = spec.document, spec.written_path(path)
    if document is None or not line.given:
        return line
    return line._replace(span=document.span(path))


def _with_written_path(line: Input, spec: OverriddenDocument) -> Input:
    """Return a line with its path in the document and, if it is a variant's, the line whose
    value it replaces.
    """
    path = spec.written_path(line.path)
    if line.file != "spec" or path == line.path:
        return line
    shared = spec.document.span(line.path) if has(spec.document.data, line.path) else None
    over = f"{field_path(line.path)}, line {shared.line}" if shared is not None else ""
    return line._replace(path=path, over=over)


def closest_path(query: str, causes: Iterable[Cause]) -> str | None:
    """Return the path most similar to the typed one, as a whole or by its last part, or None."""
    paths: dict[str, None] = {}
    by_word: dict[str, str] = {}
    for cause in causes:
        for length in range(1, len(cause.path) + 1):
            if isinstance(cause.path[length - 1], str):
                path = field_path(cause.path[:length])
                paths.setdefault(path)
                by_word.setdefault(str(cause.path[length - 1]), path)
        paths.setdefault(cause.shown)

    closest = closest_match(query, paths)
    if closest is None and (parts := path_parts(query)):
        part = closest_match(parts[-1], by_word)
        closest = by_word[part] if part is not None else None

    return closest
