"""`convert`: one operator's manifests as another operator's, by way of the specs that they
import to.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.api import compile as compiling
from ptcompile.api.compile import Result
from ptcompile.api.import_manifests import Imported, ImportedSpec, import_inputs
from ptcompile.api.inputs import AnyProfile, File, Inputs, SchemaPaths, read_profile
from ptcompile.converter import portable
from ptcompile.converter.endings import differing_sentences, rows_by_topic, topics_of
from ptcompile.converter.fields import rewrite_fields
from ptcompile.converter.leftovers import (
    names_host,
    renamed_hosts,
    renamed_variables,
    rewrite_host_files,
    with_new_hosts,
    with_new_variables,
    without_old_metadata,
)
from ptcompile.converter.queueing import (
    Queueing,
    gang_differences,
    is_admitted,
    profile_for,
    queue_problem,
    queueing_of,
    without_queue,
)
from ptcompile.converter.runtimes import runtime_of, runtime_problems
from ptcompile.converter.selectors import PodPair, Searched, rewrite_selectors
from ptcompile.converter.settings import (
    TIME_TO_LIVE,
    conversion_problem,
    lost_settings,
    own_settings,
)
from ptcompile.diagnostics import (
    Diagnostic,
    Problem,
    Problems,
    Span,
    code_of,
    has_error,
    message_at,
)
from ptcompile.differ.world import compare_worlds
from ptcompile.importer.draft import placeholder_images, replace_images, substitute_images
from ptcompile.kinds.model import Kind
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.selectors import ALL, Chosen
from ptcompile.kubernetes.unstructured import Json, JsonDict, kind_of, without_path
from ptcompile.operators.table import kinds_with
from ptcompile.simulator.equivalence import matching_pods, world_differences
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.world import World, simulate
from ptcompile.source import streams
from ptcompile.source.documents import from_data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile._internal.arguments import StreamSource
    from ptcompile.api.import_manifests import Known
    from ptcompile.differ.model import Fact
    from ptcompile.extending import Extensions


_MAX_ROUNDS = 8
_JOBS = kinds_with(Kind.read)
"""Jobs of other files are converted by themselves."""
_ENDING = "on failure"
_ENDING_FACTS = frozenset({_ENDING, "QoS class", "restartPolicy"})
"""Facts on which operators differ by design, but which matter to the job's owner."""


def convert(
    source: StreamSource,
    *,
    target: str,
    filename: str | None = None,
    cluster: AnyProfile | None = None,
    lossy: bool = False,
    kinds: Iterable[str] = (),
    labels: Mapping[str, str] | None = None,
    beside: Iterable[StreamSource] = (),
    schemas: SchemaPaths = (),
    extensions: Extensions | None = None,
) -> Result:
    """Convert manifests to equivalent ones for another operator: the same pods, processes,
    commands, variables and resources.

    A setting that the other operator cannot express is an error; with `lossy` it is dropped with a
    warning. A setting that it implements differently (how the job ends, QoS) is a warning.
    Auxiliary objects are kept; selectors, field paths and host names that refer to the old pods are
    rewritten, with a note, and where that is not possible they are an error. With `kinds` or
    `labels`, only jobs of one of the kinds that have all the labels are converted; the others stay
    unchanged. `beside` are objects of other files: references of theirs to the old pods are
    reported, not changed. `schemas` are files and folders of CRDs for kinds that ptcompile does not
    know, and CRDs of the stream count too. `extensions` are rules and passes of plugins. Mistakes
    in the manifests or profile never raise. Raises ValueError for a path in `schemas` that cannot
    be read or contains no definition.
    """
    if not isinstance(target, str):
        raise TypeError(f"target must be a string, not {type(target).__name__}")

    inputs = Inputs.read(
        source,
        filename=filename,
        cluster=cluster,
        beside=beside,
        schemas=schemas,
        extensions=extensions,
    )
    chosen = Chosen(frozenset(kinds), frozenset((labels or {}).items()))

    return convert_inputs(inputs, target, lossy=lossy, chosen=chosen)


def convert_inputs(
    inputs: Inputs,
    target: str,
    *,
    lossy: bool = False,
    chosen: Chosen = ALL,
    known: Known | None = None,
) -> Result:
    """Convert the manifests of a file. `known` is shared by the files of a command."""
    if inputs.given_profile is None and not inputs.has_wrong_settings:
        inputs = _with_own_profile(inputs)
    imported = import_inputs(inputs, lossy=lossy, chosen=chosen, known=known)
    if not imported.ok:
        return Result((), imported.diagnostics)

    others = tuple([dict(data) for data in inputs.related if kind_of(data) not in _JOBS])
    request = _Request(target, inputs, Objects(imported.kept), lossy, others, searched={})
    objects = list(_used_objects(imported, request))
    diagnostics: list[Diagnostic] = []
    manifests: list[JsonDict] = []
    for imported_spec in imported.found:
        converted, objects, findings = _convert_one(imported_spec, objects, request)
        manifests += converted
        diagnostics += findings

    output = [*objects, *manifests]
    if manifests:
        findings = list(_new_findings(output, imported, request))
        diagnostics += findings
        if has_error(findings):
            output = []

    limited = tuple(streams.limit_findings((*imported.diagnostics, *diagnostics), inputs.filename))
    return Result(tuple(output), limited)


def _with_own_profile(inputs: Inputs) -> Inputs:
    """Return the inputs with the profile that adds nothing to their manifests: their queue system
    and gang scheduler.

    A scheduler that profiles do not know is a mistake in that profile.
    """
    data = profile_for(simulate([item.manifest for item in inputs.items]).jobs)
    return inputs.with_profile(read_profile(data))


def _new_findings(
    output: list[JsonDict], imported: Imported, request: _Request
) -> Iterator[Diagnostic]:
    """Yield the findings of lint in the output that the source does not have: an error, or with
    `lossy` a warning.

    A job is compared with itself in the source, since another job may have the same finding.
    """
    from ptcompile.api.lint import lint_inputs
    from ptcompile.api.options import LintOptions

    inputs = request.inputs
    options = LintOptions(
        inputs.given_profile,
        inputs.versions,
        extensions=inputs.extensions,
        schemas=inputs.schemas,
    )
    report = lint_inputs(options.inputs(File(from_data(output))), options)
    findings = [item for item in report.diagnostics if item.severity != "note"]
    known: defaultdict[str, set[str]] = defaultdict(set)
    if findings:
        for finding in lint_inputs(options.inputs(inputs.files[0]), options).diagnostics:
            known[_name_in(finding)].add(finding.code)

    everywhere = set().union(*known.values())
    by_name = {spec.origin.partition("/")[2]: spec for spec in imported.found}
    for finding in findings:
        name = _name_in(finding)
        if finding.code in (known[name] if name in by_name else everywhere):
            continue
        owner = by_name.get(name, imported.found[0])
        message = f"in {finding.resource or 'the output'}, which it converts to: {finding.message}"
        severity = "warning" if request.lossy else finding.severity
        yield _diagnostic(finding.name, message, finding.help, owner, request, severity)


def _name_in(finding: Diagnostic) -> str:
    """Return the name of the object that a finding is about, or an empty string."""
    return (finding.resource or "").partition("/")[2]


def _used_objects(imported: Imported, request: _Request) -> Iterator[JsonDict]:
    """Yield the kept objects without the runtimes of jobs that are converted to another
    operator.
    """
    runtimes: set[int] = set()
    for spec in imported.found if imported.kept else ():
        if spec.portable is not None and spec.target != request.target:
            job = request.compile(spec.document).manifests[-1:]
            bases = [
                runtime_of(manifest, request.kept, request.inputs.versions) for manifest in job
            ]
            runtimes |= {id(base.source) for base in bases if base is not None}
    return (manifest for manifest in imported.kept if id(manifest) not in runtimes)


class _Request(NamedTuple):
    """What one conversion is for."""

    target: str
    inputs: Inputs
    kept: Objects
    lossy: bool
    beside: tuple[JsonDict, ...]
    searched: Searched

    def span(self, imported: ImportedSpec) -> Span | None:
        """Return the position of the spec of an imported object in the text."""
        documents = self.inputs.files[0].source.documents
        index = bisect_left(documents, imported.place, key=attrgetter("index"))
        return documents[index].span((*imported.path, "spec"))

    def compile(self, spec: JsonDict, target: str | None = None) -> Result:
        """Return what a spec compiles to, without the findings of rules."""
        inputs = self.inputs
        return compiling.compile(
            spec,
            target=target,
            cluster=inputs.given_profile,
            lint=False,
            extensions=inputs.extensions,
        )

    def world(self, manifests: Sequence[Json]) -> World:
        """Return the world of compiled manifests together with the kept objects."""
        return simulate(manifests, versions=self.inputs.versions, others=self.kept)


def _convert_one(
    imported: ImportedSpec, objects: list[JsonDict], request: _Request
) -> tuple[list[JsonDict], list[JsonDict], list[Diagnostic]]:
    """Return the manifests of one job for the target, or none if an error remains, with the
    stream's other objects and the findings.

    The first candidate without an error decides, else the first one.
    """
    images = placeholder_images(imported.document)
    stand_ins = substitute_images(images, imported.document)
    document = replace_images(imported.document, stand_ins)
    old_world = request.world(imported.manifests or request.compile(document).manifests)
    inlined = replace_images(imported.portable, stand_ins)
    as_written = {stand_in: image for image, stand_in in stand_ins.items()}
    outcomes: list[list[Diagnostic]] = []
    is_moved = request.target != imported.target
    specs: Iterable[JsonDict] = (document,)
    if is_moved:
        specs = portable.candidates(document, inlined, request.target, old_world)
    for spec in specs:
        result, new_world, diagnostics = _convert_spec(spec, imported, request, old_world)
        manifests = list(result.manifests)
        others = objects
        jobs = _first_jobs(old_world, new_world)
        if is_moved and manifests and jobs is not None:
            manifests, others, problems = _rewrite_references(manifests, objects, *jobs, request)
            diagnostics += [_from_problem(item, imported, request) for item in problems]
        if not has_error(diagnostics):
            return replace_images(manifests, as_written), others, diagnostics

        outcomes.append(diagnostics)

    return [], objects, outcomes[0]


def _first_jobs(old_world: World, new_world: World) -> tuple[SimulatedJob, SimulatedJob] | None:
    """Return the first job of each world, or None if one of them has none."""
    return next(zip(old_world.jobs, new_world.jobs, strict=False), None)


def _rewrite_references(
    manifests: list[JsonDict],
    objects: list[JsonDict],
    old_job: SimulatedJob,
    new_job: SimulatedJob,
    request: _Request,
) -> tuple[list[JsonDict], list[JsonDict], list[Problem]]:
    """Return the converted manifests and the other objects with references to the new pods, and
    the findings.
    """
    pairs = [PodPair(old.view, new.view) for old, new in matching_pods(old_job, new_job)]
    manifests, problems = without_old_metadata(manifests, old_job, new_job)
    manifests, field_problems = rewrite_fields(manifests, pairs, new_job)
    searched = request.searched
    rewritten = rewrite_selectors([*objects, *manifests], pairs, new_job, searched)
    hosts = renamed_hosts(pairs)
    output, host_problems = rewrite_host_files(rewritten.objects, hosts, searched)
    problems += [*field_problems, *rewritten.problems, *host_problems]
    others = request.beside
    selecting = rewrite_selectors(others, pairs, new_job, searched).problems
    _, naming = rewrite_host_files(others, hosts, searched)
    problems += map(_in_other_file, [*selecting, *naming])

    return output[len(objects) :], output[: len(objects)], problems


def _convert_spec(
    spec: JsonDict, imported: ImportedSpec, request: _Request, old_world: World
) -> tuple[Result, World, list[Diagnostic]]:
    """Return the spec's manifests for the target with their world, and all findings of the
    conversion.
    """
    queueing = queueing_of(old_world.jobs[0]) if old_world.jobs else Queueing()
    problems = list(_setting_problems(imported, request, old_world))
    if not is_admitted(queueing.system, request.target):
        spec = without_queue(spec, queueing.system)
        problems.append(queue_problem(queueing, request.target))
        queueing = Queueing(gang=queueing.gang)

    spec, result, dropped = _compile_reduced(spec, request)
    result, new_world, renamings = _with_new_names(spec, result, old_world, request)
    problems += renamings
    diagnostics = [
        _spec_finding(diagnostic, imported, request, "warning") for diagnostic in dropped
    ]
    for diagnostic in result.diagnostics:
        if diagnostic.severity == "note" and diagnostic.name == "done-differently":
            continue  # reported below as one difference between the endings
        if diagnostic.name == "word-without-effect" and diagnostic.path[:2] == ("spec", "names"):
            continue  # the names are those of the old pods, which import wrote
        is_lost = diagnostic.name == "not-carried-over"
        if is_lost and diagnostic.path[:2] == ("spec", "manifest"):
            continue  # reported with the settings
        severity = "error" if is_lost and not request.lossy else diagnostic.severity
        diagnostics.append(_spec_finding(diagnostic, imported, request, severity))

    jobs = _first_jobs(old_world, new_world)
    if jobs is not None:
        _, new_job = jobs
        problems += gang_differences(queueing, queueing_of(new_job), request.target)
    if result.manifests:
        problems += [
            conversion_problem(f"it would not run the same: {text}")
            for text in world_differences(old_world, new_world)
        ]
    if jobs is not None:
        facts = [fact for fact in compare_worlds(*jobs).facts if fact.what in _ENDING_FACTS]
        problems += _changed_settings(facts)
        diagnostics += _ending_finding(facts, *jobs, imported, request)

    stamped = [_from_problem(problem, imported, request) for problem in problems]
    return result, new_world, list(dict.fromkeys((*diagnostics, *stamped)))


def _with_new_names(
    spec: JsonDict, result: Result, old_world: World, request: _Request
) -> tuple[Result, World, list[Problem]]:
    """Return the spec's compilation and its world, with a note for each host name or rank variable
    of an old pod that the manifest names and that is replaced by the new pod's.
    """
    new_world = request.world(result.manifests)
    jobs = _first_jobs(old_world, new_world)
    if jobs is None:
        return result, new_world, []

    pods = matching_pods(*jobs)
    hosts = renamed_hosts([PodPair(old.view, new.view) for old, new in pods])
    hosts = {name: now for name, now in hosts.items() if now and names_host(spec["spec"], name)}
    variables = renamed_variables(spec["spec"], pods)
    if not hosts and not variables:
        return result, new_world, []

    job = with_new_hosts(spec["spec"], hosts)
    if variables:
        job = with_new_variables(job, variables)
    notes = [
        f"the host {name}, which the manifest names, becomes {now}, the pod of the same rank"
        for name, now in hosts.items()
    ]
    notes += [
        f"{name}, which the command reads, becomes {now}, which has the same value"
        for name, now in variables.items()
    ]
    result = request.compile({**spec, "spec": job}, request.target)

    return (
        result,
        request.world(result.manifests),
        [conversion_problem(note, severity="note") for note in notes],
    )


def _setting_problems(imported: ImportedSpec, request: _Request, old_world: World) -> Problems:
    """Yield the findings for what only the manifest's own operator has: settings, and the pods
    of its runtime.
    """
    if request.target == imported.target:
        return

    carried = portable.without_job_settings(imported.document["spec"], request.target)
    settings = own_settings(carried, imported.target)
    yield from lost_settings(settings, imported.target, request.target)
    for job in old_world.jobs:
        is_inlined = imported.portable is not None
        yield from runtime_problems(
            job.manifest, request.kept, request.inputs.versions, is_inlined=is_inlined
        )


def _in_other_file(problem: Problem) -> Problem:
    """Return the finding for an object of another file, which is not rewritten."""
    text = f"in another file: {problem.text}, but the file stays unchanged"
    return problem._replace(text=text, help="change it when the job moves", severity="warning")


def _compile_reduced(
    spec: JsonDict, request: _Request
) -> tuple[JsonDict, Result, tuple[Diagnostic, ...]]:
    """Return the spec without the fields that the target cannot express, its compilation, and the
    findings for them.

    Only `lossy` drops fields that the job trains with.
    """
    result = request.compile(spec, request.target)
    dropped: list[Diagnostic] = []
    for _ in range(_MAX_ROUNDS):
        unsupported = [
            diagnostic
            for diagnostic in result.diagnostics
            if diagnostic.severity == "error"
            and diagnostic.name == "unsupported-by-target"
            and (
                request.lossy
                or diagnostic.path == TIME_TO_LIVE
                or portable.is_absence(spec, diagnostic.path)
            )
        ]
        reduced = spec
        for diagnostic in unsupported:
            reduced = without_path(reduced, diagnostic.path)
        if reduced == spec:
            break

        dropped += [
            portable.with_dropped_fields(item, spec)
            for item in unsupported
            if not portable.is_absence(spec, item.path)
        ]
        spec = reduced
        result = request.compile(spec, request.target)

    return spec, result, tuple(dropped)


def _from_problem(problem: Problem, imported: ImportedSpec, request: _Request) -> Diagnostic:
    """Return the finding for a loss: an error, or with `lossy` a warning without the way to get
    one.
    """
    is_accepted = request.lossy and problem.severity == "error"
    severity, help = ("warning", None) if is_accepted else (problem.severity, problem.help)
    return _diagnostic(problem.name, problem.message, help, imported, request, severity)


def _changed_settings(facts: Sequence[Fact]) -> Problems:
    """Yield a warning for each pod setting that the two operators write differently, such as the
    QoS class.
    """
    for fact in facts:
        if fact.what != _ENDING:
            old = fact.before or "nothing"
            new = fact.after or "nothing"
            yield conversion_problem(
                f"{fact.subject}: {fact.what} changes from {old} to {new}", severity="warning"
            )


def _ending_finding(
    facts: Sequence[Fact],
    old_job: SimulatedJob,
    new_job: SimulatedJob,
    imported: ImportedSpec,
    request: _Request,
) -> Iterator[Diagnostic]:
    """Yield a warning if the operators differ in what follows a failure or the end of the job; the
    comparison has the sentences of both.
    """
    before, after = differing_sentences(
        [fact.before for fact in facts if fact.what == _ENDING and fact.before],
        [fact.after for fact in facts if fact.what == _ENDING and fact.after],
        [role.name for role in old_job.roles],
        [role.name for role in new_job.roles],
    )
    if before or after:
        old_group, old = kind_of(old_job.manifest)
        new_group, new = kind_of(new_job.manifest)
        if old == new:
            # a Job may be Kubernetes' or Volcano's
            old, new = f"{old} of {old_group}", f"{new} of {new_group}"
        topics = " and ".join(", ".join(topics_of((*before, *after))).rsplit(", ", 1))
        message = f"spec: the {new} handles {topics} differently from the {old}"
        finding = _diagnostic("convert-differs", message, None, imported, request, "warning")
        yield finding._replace(
            comparison=((f"before ({old})", f"after ({new})"), *rows_by_topic(before, after))
        )


def _spec_finding(
    diagnostic: Diagnostic, imported: ImportedSpec, request: _Request, severity: Any
) -> Diagnostic:
    """Return a finding about the intermediate spec as a finding about the object that it was
    imported from.
    """
    if diagnostic.field:
        message = diagnostic.message
    else:
        message = message_at(diagnostic.path, diagnostic.message)

    return _diagnostic(
        diagnostic.name,
        f"in the spec that it imports to: {message}",
        diagnostic.help,
        imported,
        request,
        severity,
    )


def _diagnostic(
    name: str,
    message: str,
    help: str | None,
    imported: ImportedSpec,
    request: _Request,
    severity: Any,
) -> Diagnostic:
    return Diagnostic(
        code=code_of(name),
        name=name,
        severity=severity,
        message=message,
        help=help,
        path=("spec",),
        span=request.span(imported),
        stage="run",
        authority="ptcompile",
        filename=request.inputs.filename,
        document=imported.place,
        resource=imported.origin,
    )
