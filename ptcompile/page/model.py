"""What a page shows, before any of it is HTML. Secrets are masked; all text is still as in the files."""

from __future__ import annotations

from ptcompile.explaining.explanation import Explanation
from ptcompile.findings.diagnostics import Diagnostic
from ptcompile.simulation.world import World
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from ptcompile.explaining.variants import File

    Strength = Literal["value", "there", "said"]
    """How a line matters: another value on it changes what it became, or only leaving it out does, or neither alone."""


class Origin(NamedTuple):
    """What a value came from: lines of a file, or in `words` what no file holds."""

    file: File
    first: int
    """Lines count from 1; 0 for what stands on no line."""
    last: int
    strength: Strength
    words: str = ""


class Reason(NamedTuple):
    """Why some lines of the manifests are there."""

    first: int
    last: int
    by: str
    """ "spec", "target", or the name of a pass."""
    rule: str
    origins: tuple[Origin, ...]


class Text(NamedTuple):
    """The lines of a file or of the manifests."""

    lines: tuple[str, ...]
    inside: frozenset[int] = frozenset()
    """Lines that go on with a value of several lines, and so have no keys and no comments."""


class Panel(NamedTuple):
    """The spec or the profile."""

    file: File
    filename: str
    text: Text | None
    """None where the file could not be read, so which of its words are secrets is unknown."""


class Finding(NamedTuple):
    """Something that was found, and for which targets it was."""

    diagnostic: Diagnostic
    targets: tuple[str, ...]
    file: File
    line: int
    """0 where it stands on no line."""


class Listing(NamedTuple):
    """One target: its manifests as one stream, and the reason of every value."""

    target: str
    title: str
    text: Text
    """No lines where the target cannot express any job of the spec."""
    reasons: tuple[Reason, ...]
    explanation: Explanation
    world: World


class Page(NamedTuple):
    """One spec with its profile, for some targets."""

    name: str
    """Of the job; of several the names."""
    panels: tuple[Panel, ...]
    listings: tuple[Listing, ...]
    findings: tuple[Finding, ...]
    chosen: str
    """The target that is shown first: what `compile` would take, or else the first that can express the job."""
    diagnostics: tuple[Diagnostic, ...]
    """What `compile` would say."""

    @property
    def targets(self) -> tuple[str, ...]:
        """The names of all targets of the page."""
        return tuple(one.target for one in self.listings)
