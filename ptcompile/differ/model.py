"""The result's values, and their JSON form."""

from __future__ import annotations

from typing import Literal  # noqa: TID253 - read at run time by schemas alone

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnostics import Diagnostic

ChangeKind = Literal["added", "removed", "changed", "moved"]

ApplyOutcome = Literal["unchanged", "in-place", "refused", "restarts", "ignored"]
"""What an apply does to an object: nothing, changes it, is rejected, restarts pods, or is taken and running pods do not
see it."""


VERSION = 1
"""Of the JSON form; it changes when a field does."""

KeyPath = tuple[str, ...]
"""From the root of an object down to a value. `[name]` is an item of a list: by its name, or else by its index."""


class Fact(NamedTuple):
    """One thing about the world that differs, in words. None where a side has nothing of the kind."""

    subject: str
    """Who sees it: `job`, `rank 0`, `workers`, `rank 0 and workers`, or `role NAME` for pods that do not train."""
    what: str
    """Such as `pods`, `env NCCL_DEBUG`, `limits cpu`."""
    before: str | None
    after: str | None
    masked: bool = False
    """Whether `***` stands for a secret on a side."""

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        sides = {"from": self.before, "to": self.after}
        return {"subject": self.subject, "what": self.what, **sides, "masked": self.masked}


class Change(NamedTuple):
    """One place of an object that differs. `moved`: the same items in another order, before and after their names."""

    path: KeyPath
    kind: ChangeKind
    before: Any = None
    after: Any = None
    masked: bool = False
    """Whether `***` stands for a secret on a side."""

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        sides = {"from": self.before, "to": self.after}
        return {"path": list(self.path), "kind": self.kind, **sides, "masked": self.masked}


class Apply(NamedTuple):
    """What `kubectl apply` of the second side over the first would do to one object."""

    outcome: ApplyOutcome
    why: str | None
    """The server's words and what to do instead, or what follows."""

    def __str__(self) -> str:
        """In words, for people."""
        words = {"in-place": "changes it in place", "restarts": "restarts pods", "ignored": "accepted and ignored"}
        said = words.get(self.outcome, self.outcome)
        return f"{said}: {self.why}" if self.why else said

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"outcome": self.outcome, "why": self.why}


class ObjectDifference(NamedTuple):
    """Two objects that belong together, or one that only one side has (None)."""

    before: str | None
    """`Kind/name`."""
    after: str | None
    same: tuple[str, ...] = ()
    """Of a job: what is the same in both worlds, in words."""
    facts: tuple[Fact, ...] = ()
    """Of a job: what differs between the worlds."""
    changes: tuple[Change, ...] = ()
    """What differs between the manifests."""
    note: str | None = None
    """Why there are no changes to look at, where that is so."""
    apply: Apply | None = None
    """What an apply does, where both sides have the object under one name."""

    @property
    def differs(self) -> bool:
        """Whether anything does."""
        return self.before is None or self.after is None or bool(self.facts or self.changes)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
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
    """How two sides differ: each object with its other, jobs first by their worlds. Secrets are hidden in all of it."""

    names: tuple[str, str]
    """What the two sides are called."""
    objects: tuple[ObjectDifference, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    """What is wrong with a text, or with a spec that does not compile, so that nothing is compared; and what an apply
    of the second side over the first would be refused for."""
    compared: bool = True
    """Whether the two sides could be compared."""

    @property
    def ok(self) -> bool:
        """Whether the two sides could be compared."""
        return self.compared

    @property
    def differs(self) -> bool:
        """Whether anything does."""
        return any(one.differs for one in self.objects)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form (schemas/diff.schema.json)."""
        return {
            "version": VERSION,
            "from": self.names[0],
            "to": self.names[1],
            "differs": self.differs,
            "objects": [one.to_dict() for one in self.objects],
            "diagnostics": [one.to_dict() for one in self.diagnostics],
        }
