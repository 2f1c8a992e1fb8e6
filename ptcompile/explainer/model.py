"""What an explanation says: for every value of a manifest its cause, and for every pass what it did."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.paths import MISSING
from ptcompile.diagnostics import Diagnostic, Path, Span
from ptcompile.explainer.sensitivity import InputName

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, Protocol


class Input(NamedTuple):
    """One line of the spec or the profile that a value depends on.

    Neither `left_out` nor `other_value` holds where the value would stand there without the line as well: another line
    or a default says the same.
    """

    file: InputName
    path: Path
    """In the spec's or profile's document."""
    value: Any
    """What stands there; the value of a secret variable is masked."""
    left_out: bool
    """Leaving the line out changes or removes the value."""
    other_value: bool
    """Another value on the line changes or removes the value: what stands there reaches the manifest."""
    given: bool = True
    """Whether the user wrote it; else it is a default of the profile."""
    span: Span | None = None
    """Where it is written; None for what is not text and for defaults."""
    masked: bool = False
    """Whether `***` stands for a secret in the value."""


class Cause(NamedTuple):
    """Why one value of a manifest is there: exactly one for each scalar, empty mapping and empty list."""

    manifest: int
    """Index among the manifests."""
    path: Path
    shown: str
    """The path as people read it, list items by name: `spec.containers[pytorch].image`."""
    value: Any
    """The value of a secret variable is masked."""
    by: str
    """Who wrote it: "spec" (carried over from what the user wrote), the name of a pass, or "target"."""
    rule: str
    """Why, in one sentence."""
    inputs: tuple[Input, ...]
    """The lines it depends on: first those whose values reach it, the most particular first."""
    masked: bool = False
    """Whether `***` stands for a secret in the value."""


class PassChange(NamedTuple):
    """One thing that a pass added, changed or removed."""

    roles: tuple[str, ...]
    """The roles whose pod template it is in; none for what belongs to the job."""
    path: Path
    """In the pod template, or in the job (`metadata`, `queue`, `nprocPerNode`)."""
    shown: str
    """The path as people read it, list items by name."""
    before: Any
    """The value before the pass, or `MISSING`; secret variables are masked."""
    after: Any
    masked: bool = False
    """Whether `***` stands for a secret before or after."""

    @property
    def kind(self) -> Literal["added", "changed", "removed"]:
        """What happened."""
        return "added" if self.before is MISSING else "removed" if self.after is MISSING else "changed"


class PassExplanation(NamedTuple):
    """What one pass did to a job."""

    name: str
    changes: tuple[PassChange, ...]


class InputText(NamedTuple):
    """The spec or the profile as it was given."""

    filename: str | None
    lines: tuple[str, ...]
    """Without their ends, secrets masked; none where it was no text."""


class Explained(NamedTuple):
    """One job: who wrote its manifests, and what the passes did on the way."""

    resource: str
    """`TrainingJob/name`."""
    target: str
    chosen_by: str
    """ "caller", "spec", or "default": what the job needs."""
    manifests: tuple[int, ...]
    """Indexes among the manifests of the explanation."""
    steps: tuple[PassExplanation, ...]


if TYPE_CHECKING:

    class Told(Protocol):
        """What an explanation tells, for those who write it down."""

        @property
        def jobs(self) -> tuple[Explained, ...]:
            """One for each spec that compiles."""

        @property
        def manifests(self) -> tuple[dict[str, Any], ...]:
            """What `compile` gives, unmasked."""

        @property
        def causes(self) -> tuple[Cause, ...]:
            """One for each value of the manifests."""

        @property
        def diagnostics(self) -> tuple[Diagnostic, ...]:
            """What was found in the files."""

        @property
        def texts(self) -> Mapping[InputName, InputText]:
            """The files, secrets masked."""
