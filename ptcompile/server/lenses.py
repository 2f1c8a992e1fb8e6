"""Inlay hints, code lenses, and the commands behind them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from lsprotocol.types import CodeLens, Command, InlayHint, InlayHintKind, Position, Range

from ptcompile.diagnostics import Problem
from ptcompile.server.document import Object, OpenDocument
from ptcompile.simulator import amounts
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.meeting import job_rendezvous
from ptcompile.source import emitter


class Shown(NamedTuple):
    """A text to show beside the one that it is about."""

    name: str
    language: str
    text: str

    def to_dict(self) -> dict[str, Any]:
        """What a client gets."""
        return self._asdict()


def manifests(opened: OpenDocument, number: int, target: str | None) -> Shown | None:
    """The manifests of one TrainingJob for a target, or why there are none; None where it is not there any more."""
    from ptcompile.compiler.pipeline import compile_document

    one = _object(opened, number)
    if one is None or not one.is_spec:
        return None
    compiled = compile_document(one.data, opened.profile, target)
    used = compiled.target.name if compiled.target is not None else target or ""
    text = emitter.emit_all(compiled.manifests) if compiled.manifests else _refused(used, compiled.problems)
    return Shown(f"{_stem(one)}-{used}.yaml", "yaml", text)


def _refused(target: str, problems: tuple[Problem, ...]) -> str:
    """Why there are no manifests, as comments."""
    found = [problem for problem in problems if problem.severity == "error"]
    lines = [f"# There are no manifests for {target}:"]
    for problem in found:
        lines += [f"#   {line}" for line in problem.message.splitlines()]
        lines += [f"#     help: {problem.help}"] if problem.help else []
    return "\n".join(lines) + "\n"


def pods(opened: OpenDocument, number: int) -> Shown | None:
    """What each pod of one object sees, as `simulate` says it; None where there are no pods."""
    from ptcompile.simulator.as_json import shown_jobs
    from ptcompile.simulator.as_text import in_full, overview
    from ptcompile.simulator.world import World

    one = _object(opened, number)
    jobs = opened.jobs.get((one.document.index, one.under), []) if one is not None else []
    if one is None or not jobs:
        return None
    told = [in_full(pod, job) for job in shown_jobs(jobs) for _, pod in job.firsts()]
    text = "\n".join([overview(World(jobs=tuple(jobs))), *told])
    return Shown(f"{_stem(one)}-pods.txt", "plaintext", text)


def page(opened: OpenDocument) -> Shown:
    """The page of `explain --html` for a text."""
    from ptcompile.explainer.page import gather, html

    profile = opened.settings.profile_text if opened.settings.profile_path else None
    name = opened.settings.profile_path or "cluster.yaml"
    select, ignore = opened.settings.select, opened.settings.ignore
    shown = gather(
        opened.text, cluster=profile, filename=opened.path, cluster_filename=name, select=select, ignore=ignore
    )
    return Shown("page.html", "html", html(shown))


def _object(opened: OpenDocument, number: int) -> Object | None:
    return opened.objects[number] if 0 <= number < len(opened.objects) else None


def _stem(one: Object) -> str:
    """A file name made of the object's."""
    metadata = one.data.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return "".join(c if c.isalnum() or c in "-." else "-" for c in str(name or "job"))[:80].lstrip(".") or "job"


SHOW_MANIFESTS: Final = "ptcompile.showManifests"
CHOOSE_TARGET: Final = "ptcompile.chooseTarget"
SHOW_PODS: Final = "ptcompile.showPods"


def inlay_hints(opened: OpenDocument, within: Range) -> list[InlayHint]:
    """Behind the kind of each job: its pods, its processes and its accelerators in all."""
    found: list[InlayHint] = []
    for one in opened.objects:
        jobs = opened.jobs.get((one.document.index, one.under), [])
        place = _kind(opened, one)
        if jobs and place is not None and within.start.line <= place.end.line <= within.end.line:
            label = "; ".join(", ".join(_facts(job)) for job in jobs)
            found.append(InlayHint(place.end, label, kind=InlayHintKind.Type, padding_left=True))
    return found


def _facts(job: SimulatedJob) -> Iterator[str]:
    yield _count(job.size, "pod")
    found = job_rendezvous(job)
    if found is not None:
        yield f"{found.processes_text} process{'' if found.processes == (1, 1) else 'es'}"
    for name, count in amounts.accelerators(job.totals()).items():
        yield f"{count} GPU{'' if str(count) == '1' else 's'}" if name.endswith("/gpu") else f"{count} {name}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _kind(opened: OpenDocument, one: Object) -> Range | None:
    span = one.document.span((*one.under, "kind"))
    return opened.lines.of_span(span) if span is not None else None


def code_lenses(opened: OpenDocument) -> list[CodeLens]:
    """Above each job: its manifests, those for another target, and what each of its pods sees."""
    found: list[CodeLens] = []
    for at, one in enumerate(opened.objects):
        place = _kind(opened, one)
        if place is None:
            continue
        where = Range(Position(place.start.line, 0), place.end)
        compiled = opened.compiled.get((one.document.index, one.under))
        if compiled is not None and compiled.manifests and compiled.target is not None:
            name = compiled.target.name
            show = Command(f"show manifests for {name}", SHOW_MANIFESTS, arguments=[opened.uri, at, name])
            found.append(CodeLens(where, show))
        if compiled is not None:
            choose = Command("show manifests for ...", CHOOSE_TARGET, arguments=[opened.uri, at])
            found.append(CodeLens(where, choose))
        if opened.jobs.get((one.document.index, one.under)):
            pods = Command("what each pod sees", SHOW_PODS, arguments=[opened.uri, at])
            found.append(CodeLens(where, pods))
    return found
