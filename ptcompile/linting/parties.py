"""Which trainers of different objects of a stream are to meet one another."""

from __future__ import annotations

from ptcompile.kubernetes.untyped import kind_of, namespace
from ptcompile.linting.stream import Stream
from ptcompile.linting.subject import Subject, subject_of
from ptcompile.linting.trainers import Trainer
from ptcompile.operators.all import kind_named


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
        for one in (
            subject_of(manifest, stream).trainers if kind_named(kind_of(manifest)).meeting.across_objects else ()
        ):
            if (one.modelled or one.plain) and not one.local and not one.standalone:
                found.setdefault(_meeting_point(one), []).append(one)
    return found


def _meeting_point(one: Trainer) -> tuple[str, ...]:
    space = namespace(one.manifest)
    host = one.seen.host.removesuffix(".").removesuffix(".cluster.local").removesuffix(".svc").removesuffix(f".{space}")
    return (space, one.seen.backend, host)
