"""Variants of a spec: one document that stands for several jobs.

Each variant is a partial `spec`, merged over the document's own as a role is merged over its job. A
list of maps of variants stands for their product.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from math import prod

from ptcompile._internal.limits import limits
from ptcompile._internal.namedtuple import Any
from ptcompile._internal.spelling import spelling_help
from ptcompile.diagnostics import (
    Diagnostic,
    Path,
    Problem,
    Problems,
    field_path,
    own_problem,
    shorten,
)
from ptcompile.kubernetes.merging import merge, patched_places
from ptcompile.kubernetes.names import why_not_dns_label
from ptcompile.kubernetes.unstructured import Json, as_mapping, get, object_name, without_keys
from ptcompile.source.documents import Document
from ptcompile.source.overrides import (
    VARIANTS_INDEX,
    OverriddenDocument,
    Overrides,
    VariantJob,
    apply_overrides,
    with_value,
)
from ptcompile.source.scalars import resolve

_KEY = "variants"


def jobs_of(document: Document, overrides: Overrides) -> list[OverriddenDocument]:
    """Return the jobs that a document stands for, with overrides; the document itself if it has no
    variants.

    If its variants are wrong there is one without data, which has the problems.
    """
    inside = [
        (number, path, value) for number, path, value in overrides.values if path[:1] == (_KEY,)
    ]
    if _KEY not in document.data:
        return [_without_variants(document, overrides, inside)]

    paths = {
        str(name): (*path, name)
        for path, axis in _axes(document.data[_KEY])
        for name in as_mapping(axis)
    }
    located = [(number, _override_path(path, paths), value) for number, path, value in inside]
    unknown = [
        (number, _unknown_variant(field_path(path[1:2]), paths))
        for number, path, _ in located
        if path[:2] not in paths.values() and path[:3] not in paths.values()
    ]
    changed = apply_overrides(document, Overrides(tuple(located)))
    if unknown or changed.rejected:
        return [_rejected_document(document, (*unknown, *changed.rejected))]

    members, problems = _expand(document, changed.data)
    if not problems:
        problems = [
            _unknown_variant(name, paths)
            for name in overrides.variants
            if not any(member.is_chosen([name]) for member in members)
        ]
    if problems:
        return [_rejected_document(document, [(VARIANTS_INDEX, problem) for problem in problems])]

    # overrides inside `variants` are applied already
    outside = overrides._replace(
        values=tuple(override for override in overrides.values if override not in inside)
    )
    jobs = [
        apply_overrides(document, outside, member)
        for member in members
        if member.is_chosen(overrides.variants)
    ]

    return [job._replace(set_paths=(*changed.set_paths, *job.set_paths)) for job in jobs]


def _without_variants(
    document: Document, overrides: Overrides, inside: Collection[Any]
) -> OverriddenDocument:
    """Return a document that stands for itself, which cannot have overrides of variants."""
    if not (inside or overrides.variants):
        return apply_overrides(document, overrides)
    problem = _error(
        "spec-conflict", (_KEY,), "the spec has no variants", "remove the option, or add some"
    )
    numbers = [number for number, _, _ in inside] or [VARIANTS_INDEX]
    return _rejected_document(document, [(number, problem) for number in numbers])


def _rejected_document(
    document: Document, rejected: Iterable[tuple[int, Problem]]
) -> OverriddenDocument:
    return OverriddenDocument(None, document, (), tuple(rejected))


def _override_path(path: Path, variant_paths: Mapping[str, Path]) -> Path:
    """Return the path of an override in the document: its map is not named."""
    name = str(path[1]) if len(path) > 1 else ""
    return (*variant_paths[name], *path[2:]) if name in variant_paths else path


def _unknown_variant(name: str, variants: Collection[str]) -> Problem:
    """Return the error for an option that names no variant."""
    help = spelling_help(name, variants, f"the variants are {', '.join(variants)}")
    return _error("spec-invalid-value", (_KEY,), f"no variant {name!r}", help)


def without_effect(members: Iterable[VariantJob]) -> Problems:
    """Yield a note for each job that is the same as an earlier one."""
    seen: list[VariantJob] = []
    for member in members:
        twin = next(
            (earlier for earlier in seen if earlier.data["spec"] == member.data["spec"]), None
        )
        seen.append(member)
        if twin is None:
            continue

        choices = zip(twin.choices, member.choices, strict=True)
        path = next(choice for twin_choice, choice in choices if choice != twin_choice)
        text = f"no effect: {member.name} is the same job as {twin.name}"
        help = "check what it should change, or remove it"
        yield own_problem("variant-without-effect", path, text, help, "note", "style", on_key=True)


def once_each(
    diagnostics: Iterable[Diagnostic], families: Iterable[Sequence[OverriddenDocument]]
) -> list[Diagnostic]:
    """Return the findings. A finding that several jobs of a document share is returned once; it
    names these jobs unless the whole family has it.
    """
    by_document = {family[0].document.index: family for family in families}
    times: Counter[Any] = Counter()
    broken: set[str] = set()
    groups: dict[Any, list[Diagnostic]] = {}
    for number, diagnostic in enumerate(diagnostics):
        alone = None if diagnostic.variant else number
        key = (
            alone,
            diagnostic.code,
            diagnostic.document,
            diagnostic.filename,
            diagnostic.path,
            diagnostic.span,
        )
        times[diagnostic.variant, key] += 1
        if diagnostic.severity == "error":
            broken.add(diagnostic.variant)
        groups.setdefault((key, times[diagnostic.variant, key]), []).append(diagnostic)

    return [
        _with_jobs(group, by_document.get(group[0].document, ()), broken)
        for group in groups.values()
    ]


def _with_jobs(
    alike: Sequence[Diagnostic], family: Sequence[OverriddenDocument], broken: Collection[str]
) -> Diagnostic:
    """Return a finding that some jobs of a family share; it names them and their choices if another
    job does not have it. What `broken` jobs would have is not known.
    """
    first = alike[0]
    having = {diagnostic.variant for diagnostic in alike}
    jobs = [
        (job, job.member)
        for job in family
        if job.member is not None and job.member.is_at(first.path)
    ]
    if not first.variant or having.union(broken).issuperset(member.name for _, member in jobs):
        return first

    named = [(job, member) for job, member in jobs if member.name in having]
    choices = dict.fromkeys(choice for _, member in named for choice in member.choices)
    document = jobs[0][0].document
    places = [
        _describe(document, choice) for choice in choices if choice != first.path[: len(choice)]
    ]
    names = ", ".join(object_name(job.data) for job, _ in named)
    text = (
        f"{first.message} (in {shorten(names, _MOST_NAMED)}: "
        f"{shorten(', '.join(places), _MOST_NAMED)})"
    )

    return first._replace(message=text, fix=None)


def _describe(document: Document, choice: Path) -> str:
    """Return the place of a variant, with its line."""
    span = document.span(choice, on_key=True)
    if span is None:
        return field_path(choice)
    return f"{field_path(choice)}, line {span.line}"


_MOST_NAMED = 120
"""Number of characters for the names of jobs in a finding."""


def open_choice(jobs: Sequence[OverriddenDocument]) -> Problem:
    """Return the error for a verb that looks at one job, if the document has several."""
    names = ", ".join(job.member.name for job in jobs if job.member is not None)
    help = f"choose one with --variant: {shorten(names, _MOST_NAMED)}"
    return _error("spec-conflict", (_KEY,), f"{len(jobs)} jobs, and this looks at one", help)


def _expand(document: Document, data: Json) -> tuple[list[VariantJob], list[Problem]]:
    """Return the jobs of a document in order, or what is wrong with its variants."""
    axes = _axes(data[_KEY])
    problems = [problem for path, axis in axes for problem in _axis_problems(document, path, axis)]
    count = prod(len(as_mapping(axis)) for _, axis in axes)
    most = limits().variants
    if count > most:
        help = "write several documents, or generate them in Python"
        problems.append(
            _error("too-large", (_KEY,), f"{count} jobs, and a document has at most {most}", help)
        )
    if not isinstance(data.get("spec", {}), Mapping):
        problems.append(
            _error("spec-wrong-type", ("spec",), "not a mapping", "write the fields of the job")
        )
    if problems:
        return [], problems

    paths = [[(*path, name) for name in axis] for path, axis in axes]
    jobs = [_job_of(data, choices, problems) for choices in product(*paths)]
    members = {job.name: job for job in jobs}
    if len(members) < count:
        problems.append(
            _error("spec-conflict", (_KEY,), "two jobs have the same name", "rename a variant")
        )

    return [*members.values()], [*dict.fromkeys(problems)]


def _axes(written: Any) -> list[tuple[Path, Any]]:
    """Return the maps of variants, with their places in the document."""
    if isinstance(written, list) and written:
        return [((_KEY, index), axis) for index, axis in enumerate(written)]
    return [((_KEY,), written)]


def _axis_problems(document: Document, path: Path, axis: Any) -> Problems:
    """Yield what is wrong with the form of a map of variants, and with its names."""
    if not isinstance(axis, Mapping) or not axis:
        text = "not a mapping of variants"
        yield _error(
            "spec-wrong-type", path, text, "write NAME: and the fields of spec that it changes"
        )
        return

    for name, patch in axis.items():
        place = (*path, name)
        key = document.key_text(place)
        meaning = key if not key or key[0] in "\"'" else resolve(key)
        why_not = why_not_dns_label(str(name))
        if not isinstance(meaning, str):
            kind = "true or false" if isinstance(meaning, bool) else "a number"
            text = f"{key} is read as {kind}, not as a name"
            help = f'write "{key}" in quotes, or a word before it, such as v-{key}'
            yield _error("spec-invalid-value", place, text, help, on_key=True)
        elif why_not:
            help = "it becomes a part of the job's name"
            text = f"not a name for a variant: {why_not}"
            yield _error("spec-invalid-value", place, text, help, on_key=True)
        if not (patch is None or isinstance(patch, Mapping)):
            yield _error(
                "spec-wrong-type",
                place,
                "not a mapping",
                "write the fields of spec that it changes",
            )


def _error(name: str, path: Path, text: str, help: str, *, on_key: bool = False) -> Problem:
    on_key = on_key or path == (_KEY,)
    return own_problem(name, path, text, help, on_key=on_key)._replace(blocks_compile=True)


def _job_of(data: Json, choices: tuple[Path, ...], problems: list[Problem]) -> VariantJob:
    """Return the job of one choice in each map. Two of them cannot set one path, so that no order
    decides; that is appended to `problems`.
    """
    spec: Any = data.get("spec")
    places: dict[Path, Path] = {}
    set_paths: dict[Path, Path] = {}
    for choice in choices:
        patch = as_mapping(get(data, choice))
        merged = merge(spec, patch)
        for place, inside, is_whole in patched_places(patch, merged):
            path = ("spec", *place)
            written = (*choice, *inside)
            if is_whole or not isinstance(get(data, path), Mapping | list):
                places[path] = written
            if not (is_whole and place):
                continue

            earlier = next(
                (setter for set_path, setter in set_paths.items() if _overlaps(set_path, path)),
                choice,
            )
            set_paths.setdefault(path, written)
            if earlier[: len(choice)] != choice:
                text = f"{field_path(earlier)} sets it too, and no order of the two decides"
                problems.append(
                    _error("spec-conflict", written, text, "set it in one of the two", on_key=True)
                )

        spec = _with_nulls(merged, patch)

    name = "-".join(str(path[-1]) for path in choices)
    changed = {"metadata": _with_variant_name(data.get("metadata"), name), "spec": spec}

    return VariantJob(name, {**without_keys(data, _KEY), **changed}, choices, places)


def _overlaps(first: Path, second: Path) -> bool:
    """Return whether one path is the other, or leads to it."""
    shared = min(len(first), len(second))
    return first[:shared] == second[:shared]


def _with_nulls(merged: Any, patch: Json) -> Any:
    """Return merged fields with the nulls of a patch where null is a value, such as no queue;
    elsewhere it removes.
    """
    from ptcompile.spec.reader import accepts_null

    for place, inside, is_whole in patched_places(patch, merged):
        is_null = is_whole and get(patch, inside, ...) is None
        if is_null and accepts_null(("spec", *place)):
            merged = with_value(merged, place, None)[0]
    return merged


def _with_variant_name(metadata: Any, name: str) -> Any:
    """Return the metadata of a job with its own name, or prefix of a name."""
    job_name = get(metadata, ("name",))
    prefix = get(metadata, ("generateName",))
    if isinstance(job_name, str):
        return {**metadata, "name": f"{job_name}-{name}"}
    if isinstance(prefix, str):
        return {**metadata, "generateName": f"{prefix}{name}-"}
    return metadata
