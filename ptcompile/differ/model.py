"""Result types of a comparison, and their JSON form."""

from __future__ import annotations

from typing import Literal  # noqa: TID253 - read at run time by schemas alone

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnostics import Diagnostic
from ptcompile.kubernetes.unstructured import JsonDict

ChangeKind = Literal["added", "removed", "changed", "moved"]

ApplyOutcome = Literal["unchanged", "in-place", "refused", "restarts", "ignored", "created"]
"""The effect of an apply on an object: none, changed in place, rejected, restarts pods, or accepted
but not seen by running pods; and of an object without a name, that a new one is created.
"""


VERSION = 1
"""Version of the JSON form; changes when a field does."""

KeyPath = tuple[str, ...]
"""Path from an object's root to a value. `[name]` is a list item, by name or else by index."""


class Fact(NamedTuple):
    """One difference between two simulated jobs, in words. A side is None if it has nothing of
    the kind.
    """

    subject: str
    """The pods concerned: `job`, `rank 0`, `workers`, `rank 0 and workers`, or `role NAME` for
    auxiliary roles.
    """
    what: str
    """The property that differs, such as `pods`, `env NCCL_DEBUG` or `limits cpu`."""
    before: str | None
    after: str | None
    masked: bool = False
    """Whether `***` replaces a secret on either side."""

    def to_dict(self) -> JsonDict:
        """Return the JSON form."""
        sides = {"from": self.before, "to": self.after}
        return {"subject": self.subject, "what": self.what, **sides, "masked": self.masked}


class Change(NamedTuple):
    """One path at which objects differ. For `moved`, `before` and `after` are the item names in
    their old and new order.
    """

    path: KeyPath
    kind: ChangeKind
    before: Any = None
    after: Any = None
    masked: bool = False
    """Whether `***` replaces a secret on either side."""

    def to_dict(self) -> JsonDict:
        """Return the JSON form."""
        sides = {"from": self.before, "to": self.after}
        return {"path": list(self.path), "kind": self.kind, **sides, "masked": self.masked}


class Apply(NamedTuple):
    """The effect of `kubectl apply` of the second side over the first on one object."""

    outcome: ApplyOutcome
    why: str | None
    """The server's message and what to do instead, or the consequence of the apply."""

    def __str__(self) -> str:
        """Return the outcome and its reason as human-readable text."""
        words = {
            "in-place": "changes it in place",
            "restarts": "restarts pods",
            "ignored": "accepted and ignored",
        }
        text = words.get(self.outcome, self.outcome)
        return f"{text}: {self.why}" if self.why else text

    def to_dict(self) -> JsonDict:
        """Return the JSON form."""
        return {"outcome": self.outcome, "why": self.why}


class ObjectDifference(NamedTuple):
    """A pair of corresponding objects, or an object of only one side (the other side is None)."""

    before: str | None
    """`Kind/name`."""
    after: str | None
    same: tuple[str, ...] = ()
    """For a job: what both simulated jobs have in common, in words."""
    facts: tuple[Fact, ...] = ()
    """For a job: the differences between the simulated jobs."""
    changes: tuple[Change, ...] = ()
    """The differences between the manifests."""
    note: str | None = None
    """The reason why `changes` is empty, if the manifests are not comparable."""
    apply: Apply | None = None
    """The effect of an apply, if both sides have the object under the same name."""

    @property
    def differs(self) -> bool:
        """Whether the two sides differ."""
        return self.before is None or self.after is None or bool(self.facts or self.changes)

    def to_dict(self) -> JsonDict:
        """Return the JSON form."""
        return {
            "from": self.before,
            "to": self.after,
            "differs": self.differs,
            "same": list(self.same),
            "facts": [fact.to_dict() for fact in self.facts],
            "changes": [change.to_dict() for change in self.changes],
            "note": self.note,
            "apply": self.apply.to_dict() if self.apply else None,
        }


class Compared(NamedTuple):
    """The differences between two sides: pairs of objects, jobs first by their pods. All secrets
    are masked.
    """

    names: tuple[str, str]
    """The names of the two sides."""
    objects: tuple[ObjectDifference, ...]
    """Each pair of objects, jobs first by their pods."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Errors in a source or spec that prevent the comparison, and the reasons why an apply of the
    second side over the first would be rejected.
    """
    compared: bool = True
    """Whether the two sides could be compared."""

    @property
    def ok(self) -> bool:
        """Whether the two sides could be compared."""
        return self.compared

    @property
    def differs(self) -> bool:
        """Whether the two sides differ."""
        return any(obj.differs for obj in self.objects)

    @property
    def shown(self) -> list[ObjectDifference]:
        """The objects that differ or whose apply is refused."""
        return [
            obj
            for obj in self.objects
            if obj.differs or (obj.apply and obj.apply.outcome == "refused")
        ]

    def to_dict(self) -> JsonDict:
        """Return the JSON form (schemas/diff.schema.json)."""
        old, new = self.names
        return {
            "version": VERSION,
            "from": old,
            "to": new,
            "differs": self.differs,
            "objects": [obj.to_dict() for obj in self.objects],
            "diagnostics": [diagnostic.to_dict() for diagnostic in self.diagnostics],
        }
