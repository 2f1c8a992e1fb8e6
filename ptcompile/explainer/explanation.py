"""Explanation, its builder, and what each pass did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.paths import MISSING
from ptcompile._internal.spelling import closest_match
from ptcompile.compiler import passes
from ptcompile.compiler.advice import advice, apply_suppressions
from ptcompile.compiler.pipeline import compile_document
from ptcompile.diagnostics import Diagnostic, Path, field_path
from ptcompile.explainer.model import Cause, Explained, Input, InputText, PassChange, PassExplanation
from ptcompile.explainer.provenance import provenance
from ptcompile.explainer.sensitivity import InputName
from ptcompile.explainer.values import Named, differences, matches, shown_path, shown_value, value_at, words
from ptcompile.ir import pods as pod_template
from ptcompile.ir.job import Job
from ptcompile.source import streams
from ptcompile.source.documents import Document, Source
from ptcompile.source.secrets.masking import masked_lines
from ptcompile.source.secrets.scanner import without_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.diagnostics.selection import Selection
    from ptcompile.extending import Extensions
    from ptcompile.spec.cluster_profile import ClusterProfile


_SHORT = 64
"""Characters of a value that stands in a trace as one; a longer mapping or list is shown part by part."""


def view(job: Job) -> dict[str, Any]:
    """What passes may change of a job, as plain data: each role's pod template, the objects' metadata, the queue, the
    processes of a node."""
    return {
        "roles": {role.name: pod_template.write(role.template) for role in job.roles},
        "job": {
            "metadata": {"labels": dict(job.labels), "annotations": dict(job.annotations)},
            **({"queue": job.queue} if job.queue else {}),
            **({"nprocPerNode": job.launch.nproc_per_node} if job.launch else {}),
        },
    }


def trace(steps: Sequence[passes.PassRun]) -> tuple[PassExplanation, ...]:
    """What each pass added, changed or removed; the same in several roles is said once."""
    return tuple(PassExplanation(step.name, _changes(step)) for step in steps)


def _changes(step: passes.PassRun) -> tuple[PassChange, ...]:
    if step.before == step.after:
        return ()
    real = view(step.before), view(step.after)
    before, after = map(without_secrets, real)
    found: dict[tuple[Path, str], PassChange] = {}
    named = Named()
    for path, old, new in _short(differences(before, after)):
        (where, *names), inner = path[: 1 if path[0] == "job" else 2], path[1 if path[0] == "job" else 2 :]
        shown = shown_path(inner, value_at(before if new is MISSING else after, (where, *names)), named)
        key = (inner, repr((shown, old, new)))
        roles = (*found[key].roles, *map(str, names)) if key in found else tuple(map(str, names))
        masked = (old, new) != tuple(
            MISSING if side is MISSING else value_at(one, path) for side, one in zip((old, new), real, strict=True)
        )
        found[key] = PassChange(roles, inner, shown, old, new, masked)
    return tuple(found.values())


def _short(found: Iterator[tuple[Path, Any, Any]]) -> Iterator[tuple[Path, Any, Any]]:
    """The same changes, those of long mappings and lists part by part."""
    for path, old, new in found:
        whole = new if old is MISSING else old if new is MISSING else None
        if isinstance(whole, Mapping | list) and whole and len(shown_value(whole, 2 * _SHORT)) > _SHORT:
            parts = whole.items() if isinstance(whole, Mapping) else enumerate(whole)
            gone = new is MISSING
            yield from _short(
                iter([((*path, key), one if gone else MISSING, MISSING if gone else one) for key, one in parts])
            )
        else:
            yield path, old, new


Json = dict[str, Any]


class Explanation(NamedTuple):
    """Why the manifests of a stream of specs are as they are.

    A document that does not compile is in `diagnostics` alone. One that only a rule calls an error is explained.
    """

    jobs: tuple[Explained, ...]
    manifests: tuple[Json, ...]
    """What `compile` gives, unmasked."""
    causes: tuple[Cause, ...]
    """One for each value of the manifests, in their order."""
    diagnostics: tuple[Diagnostic, ...]
    texts: Mapping[InputName, InputText]

    @property
    def ok(self) -> bool:
        """Whether there is no error. Warnings are fine."""
        return not any(d.severity == "error" for d in self.diagnostics)

    def at(self, query: str) -> tuple[Cause, ...]:
        """The causes at and below a path of a manifest, or of any part of one where none begins so.

        `spec.template.spec.containers[0].env[1]`, `containers[pytorch].env[NCCL_DEBUG]`, `env.NCCL_DEBUG`, `volumes`.
        """
        wanted = words(query)
        found = (
            tuple(
                one for one in self.causes if matches(wanted, one.path, self.manifests[one.manifest], anywhere=inside)
            )
            for inside in (False, True)
        )
        return next((causes for causes in found if causes), ()) if wanted else ()

    def near(self, query: str) -> str | None:
        """A path that is there and much like one that is not."""
        return near(query, self.causes)

    def text(self, query: str | None = None) -> str:
        """For people: what each pass did, or the causes at and below a path; empty where nothing is there."""
        from ptcompile.explainer.rendering import causes_text, trace_text

        return trace_text(self) if query is None else causes_text(self, self.at(query))

    def to_dict(self) -> Json:
        """The JSON form (schemas/explanation.schema.json); secret variables are masked."""
        from ptcompile.explainer.rendering import to_dict

        return to_dict(self)


def explain(
    read: Source,
    cluster: ClusterProfile | None,
    cluster_source: Source | None,
    *,
    target: str | None,
    filename: str | None,
    found: Sequence[Diagnostic],
    asked: Selection | None = None,
    extensions: Extensions | None = None,
) -> Explanation:
    """Every TrainingJob of a stream explained. `cluster_source` is the profile's text, `found` what was found in it.

    `asked` are the rules whose findings are wanted; None for those of compiling alone. Where the profile is wrong, and
    None, there is nothing but what was found.
    """
    if cluster is None:
        return Explanation((), (), (), tuple(found), {})
    profile = next(iter(streams.profile_documents(cluster_source)), None) if cluster_source is not None else None
    diagnostics = [streams.to_diagnostic(problem, None, filename) for problem in read.problems]
    advised: list[Diagnostic] = []
    jobs: list[Explained] = []
    manifests: list[Json] = []
    causes: list[Cause] = []
    for document in read.documents:
        compiled = compile_document(document.data, cluster, target, extensions)
        stamp = partial(streams.to_diagnostic, document=document, filename=filename)
        said = advice(compiled, document.data, cluster, asked, stamp, extensions).told
        diagnostics += [*map(stamp, compiled.problems), *said]
        advised += said
        if compiled.manifests and compiled.built is not None:
            first = len(manifests)
            manifests += compiled.manifests
            own = provenance(document.data, compiled, chosen=target is not None)
            causes += [
                one._replace(
                    manifest=first + one.manifest, inputs=tuple(_placed(i, document, profile) for i in one.inputs)
                )
                for one in own
            ]
            name = streams.resource_name(document.data) or "TrainingJob"
            by = "caller" if target else "spec" if document.data["spec"].get("target") else "default"
            built = compiled.built
            steps = trace(passes.steps(built.lowered, built.context, built.passes))
            numbers = tuple(range(first, len(manifests)))
            jobs.append(Explained(name, built.context.target.name, by, numbers, steps))
    if not read.documents and not read.problems:
        diagnostics.append(streams.to_diagnostic(streams.no_documents(), None, filename))
    told = apply_suppressions(read, diagnostics, advised, asked, filename).told
    return Explanation(
        tuple(jobs), tuple(manifests), tuple(causes), (*found, *told), _texts(read, cluster_source, filename)
    )


def _placed(one: Input, spec: Document, cluster: Document | None) -> Input:
    document = spec if one.file == "spec" else cluster
    return one if document is None or not one.given else one._replace(span=document.span(one.path))


def _texts(read: Source, cluster: Source | None, filename: str | None) -> dict[InputName, InputText]:
    texts: dict[InputName, InputText] = {"spec": _text(read, filename)}
    if cluster is not None:
        texts["cluster"] = _text(cluster, cluster.filename)
    return texts


def _text(source: Source, filename: str | None) -> InputText:
    """The lines of a file, secrets masked."""
    return InputText(filename, tuple(masked_lines(source.text, fill="")) if source.text else ())


def near(query: str, causes: Iterable[Cause]) -> str | None:
    """The path that is most like the one typed: as a whole, or by its last word; None where none is near."""
    whole: dict[str, None] = {}
    by_word: dict[str, str] = {}
    for one in causes:
        for length in range(1, len(one.path) + 1):
            if isinstance(one.path[length - 1], str):
                path = field_path(one.path[:length])
                whole.setdefault(path)
                by_word.setdefault(str(one.path[length - 1]), path)
        whole.setdefault(one.shown)
    found = closest_match(query, whole)
    if found is None and (typed := words(query)):
        word = closest_match(typed[-1], by_word)
        found = by_word[word] if word is not None else None
    return found
