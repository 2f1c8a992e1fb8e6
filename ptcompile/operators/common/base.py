"""What a controller fills an object from: of a TrainJob its runtime."""

from __future__ import annotations

from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


class Base(NamedTuple):
    """The object, and how sure it is: `assumed` where no file and no release shows it."""

    source: Json
    assumed: bool
