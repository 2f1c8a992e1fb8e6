"""Which trainers are to meet one another: in one object, and across the objects of a stream."""

from __future__ import annotations

from collections.abc import Callable

from ptcompile.kubernetes.untyped import kind_of, namespace
from ptcompile.linting.stream import Stream
from ptcompile.linting.subject import Subject, subject_of
from ptcompile.linting.trainers import POD, PYTORCHJOB, TRAINJOB, VOLCANO, Trainer

MEETING = frozenset({POD, ("batch/v1", "Job"), ("jobset.x-k8s.io/v1alpha2", "JobSet"), VOLCANO})
"""Kinds of which several objects may share one rendezvous."""


def parties(subject: Subject) -> tuple[tuple[Trainer, ...], ...]:
    """The trainers of torchrun that are to meet one another, where the files decide all that it reads; else none.

    All of a PyTorchJob are one party, and all that Volcano's pytorch plugin gives a rank. In other kinds roles may be
    jobs of their own: those that name one endpoint are one party.
    """
    return _grouped(subject, lambda one: one.torchrun)


def groups(subject: Subject) -> tuple[tuple[Trainer, ...], ...]:
    """As `parties`, of every launcher that is known here."""
    return _grouped(subject, lambda one: one.modelled)


def plain(subject: Subject) -> tuple[tuple[Trainer, ...], ...]:
    """As `parties`, of scripts without a launcher that the user's own variables tell of others (env://)."""
    return _grouped(subject, lambda one: one.plain and one.entry("MASTER_ADDR") is not None)


def _grouped(subject: Subject, wanted: Callable[[Trainer], bool]) -> tuple[tuple[Trainer, ...], ...]:
    found = subject.trainers
    if not found or not all(wanted(one) and not one.unsure for one in found):
        return ()
    if subject.kind == TRAINJOB and subject.runtime.assumed:
        return ()
    out: dict[tuple[str, ...], list[Trainer]] = {}
    for one in found:
        out.setdefault(_party(one), []).append(one)
    return tuple(tuple(members) for members in out.values())


def _party(one: Trainer) -> tuple[str, ...]:
    if one.kind == PYTORCHJOB or (one.kind == VOLCANO and {"RANK", "MASTER_ADDR"} <= one.pod.env.keys()):
        return ()
    alone = one.local or one.standalone
    return (one.role.name,) if alone else (one.seen.backend, one.seen.endpoint, one.options.get("rdzv-id", ""))


def allies(subject: Subject, first: Trainer) -> tuple[Trainer, ...]:
    """The trainers of other objects of the stream that meet at the same endpoint, in the same namespace."""
    if subject.alone:
        return ()
    met = subject.stream.once(_by_endpoint)
    here = id(subject.manifest)
    return tuple(one for one in met.get(_meeting_point(first), ()) if id(one.manifest) != here)


def _by_endpoint(stream: Stream) -> dict[tuple[str, ...], list[Trainer]]:
    """All trainers of a stream that wait for others, by where they meet."""
    found: dict[tuple[str, ...], list[Trainer]] = {}
    for manifest in stream.objects:
        for one in subject_of(manifest, stream).trainers if kind_of(manifest) in MEETING else ():
            if (one.modelled or one.plain) and not one.local and not one.standalone:
                found.setdefault(_meeting_point(one), []).append(one)
    return found


def _meeting_point(one: Trainer) -> tuple[str, ...]:
    space = namespace(one.manifest)
    host = one.seen.host.removesuffix(".").removesuffix(".cluster.local").removesuffix(".svc").removesuffix(f".{space}")
    return (space, one.seen.backend, host)
