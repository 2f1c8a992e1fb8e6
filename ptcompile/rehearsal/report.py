"""The text of a rehearsal, and its JSON form (schemas/rehearsal.schema.json)."""

from __future__ import annotations

from ptcompile.diagnosis.model import origin_to_dict, place_of
from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.rehearsal.cast import Actor
from ptcompile.rehearsal.course import TIMED_KINDS, Observation
from ptcompile.rehearsal.runner import Rehearsal
from ptcompile.rehearsal.verdict import END_TEXTS
from ptcompile.report.layout import join_escaped, table, with_label
from ptcompile.simulator.faults import Fault

VERSION = 1
_HEADINGS = ["POD", "RANK", "SEEN", "WORLD", "SEEN", "STARTS", "EXIT", "FIRST ERROR"]


def text(rehearsal: Rehearsal) -> str:
    """Return the rehearsal as text: a heading, one row per pod, the verdict, and the stand-ins."""
    verdict = rehearsal.verdict
    rows = [
        _HEADINGS,
        *(_pod_row(actor, observation, rehearsal) for actor, observation in rehearsal.pods),
    ]
    faults = [fault_text(fault) for fault in rehearsal.faults] or ["none"]
    target = f", target {rehearsal.job.target}" if rehearsal.job.target else ""
    ended = f"after {rehearsal.seconds:.0f} s"
    if rehearsal.limited:
        ended += ", by the time limit"
    claims = [f"{END_TEXTS[verdict.claimed.end]}: {verdict.claimed.why}"]
    # only several faults need the steps of the prediction
    if len(rehearsal.faults) > 1:
        claims += [f"after {step.at:.0f} s: {step.text}" for step in verdict.claimed.steps]
    logs = rehearsal.settings.keep_logs
    lines = [
        f"{rehearsal.job.title}{target}, PyTorch {rehearsal.torch}",
        *with_label("faults", faults),
        *with_label("train since", _training_texts(rehearsal)),
        *with_label(
            "not injected", [f"{fault_text(fault)}: {why}" for fault, why in rehearsal.skipped]
        ),
        *with_label(
            "operator", [f"{seconds:.0f} s: {event}" for seconds, event in rehearsal.events]
        ),
        "",
        *table(rows),
        "",
        *with_label("simulate", claims),
        *with_label("seen", [f"{END_TEXTS[verdict.seen]} ({ended})"]),
        *with_label("differs", verdict.differences),
        *with_label("verdict", [_verdict_text(rehearsal)]),
        *with_label("first cause", _cause_texts(rehearsal)),
        *with_label("hint", rehearsal.hints),
        *with_label("logs", [logs] if logs else []),
        *with_label("stand-ins", rehearsal.stand_ins),
    ]

    return join_escaped(lines)


_SIGN_TEXTS = {
    "rounds": "all pods had met",
    "file": "the script of each pod had created its PTCOMPILE_TRAINING_FILE",
    "connections": "the processes of all pods were connected",
    "start": "containers do not show when they train, so faults count from the start",
    "time": "no process group was seen until then, so faults count from then",
}


def _training_texts(rehearsal: Rehearsal) -> list[str]:
    """Return from when the times of faults count, if a script trains that does not report it."""
    timed = any(fault.kind in TIMED_KINDS for fault in rehearsal.faults)
    if rehearsal.training is None or not timed or not rehearsal.settings.is_blind:
        return []
    return [
        f"{rehearsal.training.seconds:.0f} s after the start: "
        f"{_SIGN_TEXTS[rehearsal.training.sign]}"
    ]


def _verdict_text(rehearsal: Rehearsal) -> str:
    """Return the verdict in a few words. A script that failed by itself precedes differences, which
    it causes.
    """
    own_failures = [
        f"pod {actor.number}: {seen.error}"
        for actor, seen in rehearsal.pods
        if rehearsal.settings.is_blind and seen.exit and seen.error and not seen.lost
    ]
    verdict = rehearsal.verdict
    claimed = verdict.claimed.end
    seen = verdict.seen
    if seen == "fail" and own_failures and (verdict.differences or claimed == "all"):
        began = rehearsal.cause.pod.removeprefix("pod") if rehearsal.cause else ""
        first = [failure for failure in own_failures if failure.startswith(f"pod {began}:")]
        return f"failed: {(first or own_failures)[0]}"

    running = [str(a.number) for a, s in rehearsal.pods if s.exit is None]
    if rehearsal.settings.is_blind and rehearsal.limited and running:
        return f"failed: pods {', '.join(running)} still ran at the time limit"
    if verdict.machine:
        return f"not decided: this machine ended the rehearsal: {verdict.machine}"
    if verdict.differences:
        slow = ", unless this machine needs a longer --limit" if rehearsal.limited else ""
        return f"failed: differs from what simulate predicts{slow}"
    if seen == "fail" and claimed == "all":
        return "failed: the script failed after the pods had met"
    if seen == "fail":
        return "failed, as simulate predicts" if claimed else "failed"

    return "passed"


def _cause_texts(rehearsal: Rehearsal) -> list[str]:
    """Return where a failure began, with the words of `ptcompile explain --log`."""
    if rehearsal.cause is None:
        return []
    message = rehearsal.cause.sighting.message
    return [f"{place_of(rehearsal.cause)}: {message.id}", message.meaning]


def fault_text(fault: Fault) -> str:
    """Return a fault as text."""
    back = f", recreated {fault.back:g} s later" if fault.back is not None else ""
    return {
        "late": f"pod {fault.pod} starts {fault.at:g} s late",
        "kill": f"pod {fault.pod} is killed {fault.at:g} s after all pods train{back}",
        "drain": f"pod {fault.pod} is drained {fault.at:g} s after all pods train{back}",
        "fail-process": f"a process of pod {fault.pod} fails {fault.at:g} s after all pods train",
        "dns-lag": f"the DNS names of pod {fault.pod} appear {fault.at:g} s after its start",
    }[fault.kind]


def _pod_row(actor: Actor, observation: Observation, rehearsal: Rehearsal) -> list[str]:
    last = observation.rounds[-1] if observation.rounds else observation.joined
    ended = "running" if observation.exit is None else str(observation.exit)
    expected_world = sum(pod.processes for pod, seen in rehearsal.pods if not seen.lost)

    return [
        f"{actor.number} {actor.name}",
        actor.rank or "any",
        str(last.group) if last else "-",
        str(expected_world),
        str(last.world) if last else "-",
        str(observation.starts),
        "lost" if observation.lost else ended,
        observation.error or "",
    ]


def to_dict(rehearsal: Rehearsal) -> JsonDict:
    """Return the JSON form."""
    verdict = rehearsal.verdict
    return {
        "version": VERSION,
        "job": rehearsal.job.title,
        "target": rehearsal.job.target,
        "torch": rehearsal.torch,
        "scale": rehearsal.settings.scale,
        "seconds": round(rehearsal.seconds, 1),
        "limited": rehearsal.limited,
        "faults": [fault._asdict() for fault in rehearsal.faults],
        "pods": [_pod_to_dict(actor, observation) for actor, observation in rehearsal.pods],
        "verdict": {
            "passed": verdict.passed,
            "claimed": verdict.claimed.end,
            "why": verdict.claimed.why,
            "seen": verdict.seen,
            "differences": list(verdict.differences),
            "machine": verdict.machine or None,
        },
        "training": rehearsal.training._asdict() | {"seconds": round(rehearsal.training.seconds, 1)}
        if rehearsal.training
        else None,
        "skipped": [{**fault._asdict(), "why": why} for fault, why in rehearsal.skipped],
        "events": [
            {"seconds": round(seconds, 1), "text": event} for seconds, event in rehearsal.events
        ],
        "cause": rehearsal.cause and origin_to_dict(rehearsal.cause),
        "hints": list(rehearsal.hints),
        "logs": rehearsal.settings.keep_logs,
        "mounts": dict(rehearsal.settings.mounts),
        "standIns": list(rehearsal.stand_ins),
    }


def _pod_to_dict(actor: Actor, observation: Observation) -> JsonDict:
    return {
        "name": actor.name,
        "role": actor.role,
        "index": actor.place,
        "rank": actor.rank,
        "processes": actor.processes,
        "rounds": [{**join._asdict(), "time": round(join.time, 1)} for join in observation.rounds],
        "starts": observation.starts,
        "exit": observation.exit,
        "lost": observation.lost,
        "error": observation.error,
        "joined": observation.joined and observation.joined._asdict(),
    }
