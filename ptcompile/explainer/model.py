"""Result types of an explanation: the cause of every value in a manifest, and the changes of
every pass.
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnostics import Path, Span
from ptcompile.explainer.sensitivity import InputName
from ptcompile.kubernetes.unstructured import MISSING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal


class Input(NamedTuple):
    """One line of the spec or the profile that a value depends on.

    `left_out` and `other_value` are both false if the value is there without the line too, because
    another line or a default has the same value.
    """

    file: InputName
    path: Path
    """Path in the document of the spec or profile."""
    value: Any
    """The value on the line; the value of a secret variable is masked."""
    left_out: bool
    """Whether omitting the line changes or removes the value."""
    other_value: bool
    """Whether another value on the line changes or removes the value: the line's value reaches
    the manifest.
    """
    given: bool = True
    """Whether the user wrote the line; otherwise it is a default of the profile."""
    span: Span | None = None
    """Span of the line, or None for defaults and for input that is not text."""
    masked: bool = False
    """Whether `***` replaces a secret in the value."""
    overridden: bool = False
    """Whether an override (`--set`, `--name`) set the value, in place of the file."""
    over: str = ""
    """The line of the spec whose value a variant's replaces."""


class Cause(NamedTuple):
    """The origin of one value of a manifest: there is exactly one for each scalar, empty mapping
    and empty list.
    """

    manifest: int
    """Index among the manifests."""
    path: Path
    shown: str
    """The path for display, with list items by name: `spec.containers[pytorch].image`."""
    value: Any
    """The value, masked for secret variables."""
    by: str
    """The writer: "spec" (carried over from the user's spec), the name of a pass, or "target"."""
    rule: str
    """The reason, in one sentence."""
    inputs: tuple[Input, ...]
    """The lines the value depends on: lines whose values reach it come first, the most specific
    one first.
    """
    masked: bool = False
    """Whether `***` replaces a secret in the value."""


class PassChange(NamedTuple):
    """One value that a pass added, changed or removed."""

    roles: tuple[str, ...]
    """The roles whose pod templates have the change; empty for a change of the job itself."""
    path: Path
    """Path in the pod template, or in the job (`metadata`, `queue`, `nprocPerNode`)."""
    shown: str
    """The path for display, with list items by name."""
    before: Any
    """The value before the pass, or `MISSING`; secret variables are masked."""
    after: Any
    masked: bool = False
    """Whether `***` replaces a secret before or after."""

    @property
    def kind(self) -> Literal["added", "changed", "removed"]:
        """The kind of change."""
        if self.before is MISSING:
            return "added"
        return "removed" if self.after is MISSING else "changed"


class PassExplanation(NamedTuple):
    """The changes of one pass to a job."""

    name: str
    changes: tuple[PassChange, ...]


class InputText(NamedTuple):
    """The text of the spec or the profile."""

    filename: str | None
    lines: tuple[str, ...]
    """Lines without line ends, secrets masked; empty if the input was not text."""


class Explained(NamedTuple):
    """One job: the target that wrote its manifests, and the changes of the passes."""

    resource: str
    """`TrainingJob/name`."""
    target: str
    chosen_by: str
    """Who chose the target: "caller", "spec", or "default" (the target that fits the job)."""
    manifests: tuple[int, ...]
    """Indexes among the manifests of the explanation."""
    steps: tuple[PassExplanation, ...]
