"""A rehearsal for people, and its JSON form (schemas/rehearsal.schema.json)."""

from __future__ import annotations

from typing import Any

from ptcompile.rehearsal.cast import Actor
from ptcompile.rehearsal.course import Round, Seen
from ptcompile.rehearsal.runner import Rehearsal
from ptcompile.rehearsal.verdict import WORDS
from ptcompile.report.layout import join_printable, table, with_label
from ptcompile.simulator.faults import Fault

VERSION = 1
_HEAD = ["POD", "RANK", "SEEN", "WORLD", "SEEN", "STARTS", "EXIT", "FIRST ERROR"]


def text(found: Rehearsal) -> str:
    """A heading, a row for each pod, the verdict, and what was a stand-in."""
    verdict = found.verdict
    rows = [_HEAD, *(_row(actor, seen, found) for actor, seen in zip(found.actors, found.seen, strict=True))]
    faults = [describe(one) for one in found.faults] or ["none"]
    ended = f"after {found.seconds:.0f} s" + (", by the time limit" * found.limited)
    lines = [
        f"{found.job.title}{f', target {found.job.target}' if found.job.target else ''}, PyTorch {found.torch}",
        *with_label("faults", faults),
        "",
        *table(rows, cut=120),
        "",
        *with_label("simulate", [f"{WORDS[verdict.claimed.end]}: {verdict.claimed.why}"]),
        *with_label("seen", [f"{WORDS[verdict.seen]} ({ended})"]),
        *with_label("differs", verdict.differences),
        *with_label("verdict", [_verdict(found)]),
        *with_label("stand-ins", found.stand_ins),
    ]
    return join_printable(lines)


def _verdict(found: Rehearsal) -> str:
    if found.verdict.differences:
        return "failed: not as simulate claims"
    if found.verdict.seen == "fail":
        return "failed, as simulate claims" if found.verdict.claimed.end else "failed"
    return "passed"


def describe(fault: Fault) -> str:
    """A fault in words."""
    back = f", recreated {fault.back:g} s later" if fault.back is not None else ""
    return {
        "late": f"pod {fault.pod} starts {fault.at:g} s late",
        "kill": f"pod {fault.pod} is killed {fault.at:g} s after all train{back}",
        "drain": f"pod {fault.pod} is drained {fault.at:g} s after all train{back}",
        "fail-process": f"a process of pod {fault.pod} fails {fault.at:g} s after all train",
        "dns-lag": f"the DNS names of pod {fault.pod} come {fault.at:g} s after its start",
    }[fault.kind]


def _row(actor: Actor, seen: Seen, found: Rehearsal) -> list[str]:
    last = seen.rounds[-1] if seen.rounds else None
    running = "lost" if seen.lost else "running"
    return [
        f"{actor.number} {actor.name}",
        actor.rank or "any",
        str(last.group) if last else "-",
        str(_world(found)),
        str(last.world) if last else "-",
        str(seen.starts),
        "lost" if seen.lost else running if seen.exit is None else str(seen.exit),
        seen.error or "",
    ]


def _world(found: Rehearsal) -> int:
    """The world that is claimed for the end."""
    return sum(actor.processes for actor, seen in zip(found.actors, found.seen, strict=True) if not seen.lost)


def to_dict(found: Rehearsal) -> dict[str, Any]:
    """The JSON form."""
    verdict = found.verdict
    return {
        "version": VERSION,
        "job": found.job.title,
        "target": found.job.target,
        "torch": found.torch,
        "scale": found.settings.scale,
        "seconds": round(found.seconds, 1),
        "limited": found.limited,
        "faults": [one._asdict() for one in found.faults],
        "pods": [_pod(actor, seen) for actor, seen in zip(found.actors, found.seen, strict=True)],
        "verdict": {
            "passed": verdict.passed,
            "claimed": verdict.claimed.end,
            "why": verdict.claimed.why,
            "seen": verdict.seen,
            "differences": list(verdict.differences),
        },
        "standIns": list(found.stand_ins),
    }


def _pod(actor: Actor, seen: Seen) -> dict[str, Any]:
    return {
        "name": actor.name,
        "role": actor.role,
        "index": actor.place,
        "rank": actor.rank,
        "processes": actor.processes,
        "rounds": [_round(one) for one in seen.rounds],
        "starts": seen.starts,
        "exit": seen.exit,
        "lost": seen.lost,
        "error": seen.error,
    }


def _round(one: Round) -> dict[str, Any]:
    return {**one._asdict(), "time": round(one.time, 1)}
