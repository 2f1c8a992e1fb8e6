"""Inlay hints and code lenses: how large a job will be, and what can be asked about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lsprotocol.types import CodeLens, Command, InlayHint, InlayHintKind, Position, Range

from ptcompile.server.document import Object, Open
from ptcompile.simulation import amounts
from ptcompile.simulation.job import Job
from ptcompile.simulation.meeting import meeting

SHOW_MANIFESTS: Final = "ptcompile.showManifests"
CHOOSE_TARGET: Final = "ptcompile.chooseTarget"
SHOW_PODS: Final = "ptcompile.showPods"


def inlay_hints(opened: Open, within: Range) -> list[InlayHint]:
    """Behind the kind of each job: its pods, its processes and its accelerators in all."""
    found: list[InlayHint] = []
    for one in opened.objects:
        jobs = opened.jobs.get((one.document.index, one.under), [])
        place = _kind(opened, one)
        if jobs and place is not None and within.start.line <= place.end.line <= within.end.line:
            label = "; ".join(", ".join(_facts(job)) for job in jobs)
            found.append(InlayHint(place.end, label, kind=InlayHintKind.Type, padding_left=True))
    return found


def _facts(job: Job) -> Iterator[str]:
    yield _count(job.size, "pod")
    found = meeting(job)
    if found is not None:
        yield f"{found.processes_text} process{'' if found.processes == (1, 1) else 'es'}"
    for name, count in amounts.accelerators(job.totals()).items():
        yield f"{count} GPU{'' if str(count) == '1' else 's'}" if name.endswith("/gpu") else f"{count} {name}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _kind(opened: Open, one: Object) -> Range | None:
    span = one.document.span((*one.under, "kind"))
    return opened.lines.of_span(span) if span is not None else None


def code_lenses(opened: Open) -> list[CodeLens]:
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
