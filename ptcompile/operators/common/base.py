"""What a controller fills an object from: of a TrainJob its runtime."""

from typing import NamedTuple

from ptcompile.kubernetes.untyped import Json


class Base(NamedTuple):
    """The object, and how sure it is: `assumed` where no file and no release shows it."""

    source: Json
    assumed: bool
