"""Which trainers of one object are to meet one another."""

from __future__ import annotations

from collections.abc import Callable

from ptcompile.linting.trainers import Trainer
from ptcompile.linting.workload import Workload
from ptcompile.operators.record import Kind

Trainers = tuple[Trainer, ...]


def groups(subject: Workload, found: Trainers) -> tuple[Trainers, ...]:
    """The trainers that are to meet one another, where the files decide all that their launchers read; else none.

    All of a PyTorchJob are one party, and all that Volcano's pytorch plugin gives a rank. In other kinds roles may be
    jobs of their own: those that name one endpoint are one party.
    """
    return _grouped(subject, found, lambda one: one.modelled)


def parties(found: Trainers, grouped: tuple[Trainers, ...]) -> tuple[Trainers, ...]:
    """The groups where torchrun starts all trainers; else none."""
    return grouped if all(one.torchrun for one in found) else ()


def plain(subject: Workload, found: Trainers) -> tuple[Trainers, ...]:
    """As `parties`, of scripts without a launcher that the user's own variables tell of others (env://)."""
    return _grouped(subject, found, lambda one: one.plain and one.entry("MASTER_ADDR") is not None)


def _grouped(subject: Workload, found: Trainers, wanted: Callable[[Trainer], bool]) -> tuple[Trainers, ...]:
    if not found or not all(wanted(one) and not one.unsure for one in found):
        return ()
    if subject.base is not None and subject.base.assumed:
        return ()
    out: dict[tuple[str, ...], list[Trainer]] = {}
    for one in found:
        out.setdefault(_party(one, subject.record), []).append(one)
    return tuple(tuple(members) for members in out.values())


def _party(one: Trainer, kind: Kind) -> tuple[str, ...]:
    meeting = kind.meeting
    if meeting.all_pods or (meeting.ranked_by and one.pod.env.keys() >= set(meeting.ranked_by)):
        return ()
    alone = one.local or one.standalone
    return (one.role.name,) if alone else (one.seen.backend, one.seen.endpoint, one.options.get("rdzv-id", ""))
