"""Inlay hints, code lenses, and the commands that they run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from lsprotocol.types import CodeLens, Command, InlayHint, InlayHintKind, Position, Range

from ptcompile._internal.spelling import pluralize
from ptcompile.api.inputs import Inputs, Item
from ptcompile.diagnostics import Problem
from ptcompile.kubernetes import amounts
from ptcompile.kubernetes.unstructured import JsonDict, nested_value
from ptcompile.server.document import OpenDocument
from ptcompile.simulator.job import SimulatedJob
from ptcompile.source import emitter


class TextView(NamedTuple):
    """A text for the client to open next to the document."""

    name: str
    language: str
    text: str

    def to_dict(self) -> JsonDict:
        """Return the fields as the client receives them."""
        return self._asdict()


def manifests(opened: OpenDocument, number: int, target: str | None) -> TextView | None:
    """Return a TrainingJob's manifests for a target, or why there are none. Return None if the
    TrainingJob no longer exists.
    """
    obj = _find_object(opened, number)
    if obj is None or not obj.is_spec:
        return None

    compiled = opened.inputs.compile(obj.manifest, target)
    target_name = _as_file_name(target or "")
    if compiled.target is not None:
        target_name = compiled.target.name
    if compiled.manifests:
        text = emitter.emit_all(compiled.manifests)
    else:
        text = _explain_failure(target_name, compiled.problems)

    return TextView(f"{_file_stem(obj)}-{target_name}.yaml", "yaml", text)


def _explain_failure(target: str, problems: tuple[Problem, ...]) -> str:
    """Return the errors of a failed compilation as YAML comments."""
    lines = [f"# No manifests for {target}:"]
    for problem in problems:
        if problem.severity != "error":
            continue

        lines += [f"#   {line}" for line in problem.message.splitlines()]
        if problem.help:
            lines.append(f"#     help: {problem.help}")

    return "\n".join(lines) + "\n"


def pods(opened: OpenDocument, number: int) -> TextView | None:
    """Return the report of `simulate` on the pods of one object, or None if the object has no
    pods.
    """
    from ptcompile.simulator.as_json import mask_jobs
    from ptcompile.simulator.as_text import overview, pod_text
    from ptcompile.simulator.world import World

    obj = _find_object(opened, number)
    jobs = opened.jobs_of(obj) if obj is not None else []
    if obj is None or not jobs:
        return None

    descriptions = [pod_text(pod, job) for job in mask_jobs(jobs) for _, pod in job.first_pods]
    text = "\n".join([overview(World(jobs=tuple(jobs))), *descriptions])

    return TextView(f"{_file_stem(obj)}-pods.txt", "plaintext", text)


def page(opened: OpenDocument, scheme: str = "") -> TextView:
    """Return the page of `explain --html` for a text, with the last manifests if it does not
    compile.

    `scheme` is the editor's color scheme, "light" or "dark".
    """
    from ptcompile.api.explain import explain_page
    from ptcompile.explainer.page import html, with_earlier_manifests

    profile = opened.settings.profile_text if opened.settings.profile_path else None
    name = opened.settings.profile_path or "cluster.yaml"
    inputs = Inputs.read(
        opened.text,
        filename=opened.path,
        cluster=profile,
        cluster_filename=name,
        extensions=opened.settings.options.extensions,
        only_specs=True,
    )
    content = explain_page(inputs, None, opened.settings.options.selection)
    if content.compiles:
        opened.compiled_page = content
    elif opened.compiled_page is not None:
        content = with_earlier_manifests(content, opened.compiled_page)

    return TextView("page.html", "html", html(content, scheme))


def _find_object(opened: OpenDocument, number: int) -> Item | None:
    if 0 <= number < len(opened.objects):
        return opened.objects[number]
    return None


def _file_stem(obj: Item) -> str:
    """Return a file name made from the object's name."""
    name = nested_value(obj.manifest, "metadata", "name") or "job"
    return _as_file_name(str(name)) or "job"


def _as_file_name(text: str) -> str:
    """Return a text of a document or of a client as a part of a file name."""
    return re.sub(r"[^0-9A-Za-z.-]", "-", text)[:80].lstrip(".")


SHOW_MANIFESTS = "ptcompile.showManifests"
CHOOSE_TARGET = "ptcompile.chooseTarget"
SHOW_PODS = "ptcompile.showPods"


def inlay_hints(opened: OpenDocument, within: Range) -> list[InlayHint]:
    """Return the hint after each job's kind: the total numbers of pods, processes and
    accelerators.
    """
    hints: list[InlayHint] = []
    for obj in opened.objects:
        kind_range = _kind_range(opened, obj)
        if kind_range is None or not within.start.line <= kind_range.end.line <= within.end.line:
            continue
        jobs = opened.jobs_of(obj)
        if jobs:
            label = "; ".join(", ".join(_job_totals(job)) for job in jobs)
            hints.append(
                InlayHint(kind_range.end, label, kind=InlayHintKind.Type, padding_left=True)
            )

    return hints


def _job_totals(job: SimulatedJob) -> Iterator[str]:
    yield pluralize(job.size, "pod")
    rendezvous = job.rendezvous
    if rendezvous is not None:
        yield f"{rendezvous.processes_text} process{'' if rendezvous.processes == (1, 1) else 'es'}"
    for name, count in amounts.accelerators(job.totals()).items():
        unit = name
        if name.endswith("/gpu"):
            unit = "GPU" if str(count) == "1" else "GPUs"
        yield f"{count} {unit}"


def _kind_range(opened: OpenDocument, obj: Item) -> Range | None:
    span = obj.document.span((*obj.path, "kind"))
    return opened.lines.of_span(span) if span is not None else None


def code_lenses(opened: OpenDocument) -> list[CodeLens]:
    """Return the lenses above each job: its manifests, those for another target, and the view of
    each pod.
    """
    lenses: list[CodeLens] = []
    for number, obj in enumerate(opened.objects):
        kind_range = _kind_range(opened, obj)
        if kind_range is None:
            continue

        line_range = Range(Position(kind_range.start.line, 0), kind_range.end)
        compiled = opened.compiled_of(obj)
        if compiled is not None and compiled.manifests and compiled.target is not None:
            name = compiled.target.name
            show = Command(
                f"show manifests for {name}", SHOW_MANIFESTS, arguments=[opened.uri, number, name]
            )
            lenses.append(CodeLens(line_range, show))
        if compiled is not None:
            choose = Command(
                "show manifests for ...", CHOOSE_TARGET, arguments=[opened.uri, number]
            )
            lenses.append(CodeLens(line_range, choose))
        if opened.jobs_of(obj):
            show_pods = Command("what each pod sees", SHOW_PODS, arguments=[opened.uri, number])
            lenses.append(CodeLens(line_range, show_pods))

    return lenses
