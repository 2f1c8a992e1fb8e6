"""The files around those that a run reports: read, so that a partial run finds what a run over all files finds."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ptcompile._internal.files import SUFFIXES, is_inside
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.cli import files
from ptcompile.cli.config import Config
from ptcompile.cli.exclude import exclusions
from ptcompile.cli.files import InputFile


class Context(NamedTuple):
    """The files of a run, by whether they are reported."""

    reported: list[InputFile]
    everything: Sequence[InputFile]
    """These and those that are only read, in the order of a run over all of them."""
    excluded: Sequence[InputFile] = ()
    """The named files that a run over the context leaves out, such as patches of a kustomization."""
    unreadable: Sequence[str] = ()
    """The reasons for those that cannot be read."""


def with_context(inputs: Sequence[InputFile], context: Sequence[str], config: Config) -> Context:
    """Return named files with those of the files and folders around them, found as `lint` finds them."""
    if not context:
        return Context([*inputs], inputs)

    around, unreadable = files.read_all(context, exclusions(config, context))
    found = {os.path.realpath(file.name): file for file in around}
    places = {file.name: os.path.realpath(file.name) for file in inputs}

    def is_left_out(file: InputFile) -> bool:
        place = places[file.name]
        searched = place not in found and place.endswith(SUFFIXES)
        return searched and any(os.path.isdir(folder) and is_inside(place, folder) for folder in context)

    excluded = [file for file in inputs if is_left_out(file)]
    reported = [file for file in inputs if file not in excluded]
    alone = [file for file in reported if places[file.name] not in found]
    found.update((places[file.name], file) for file in reported if places[file.name] in found)
    return Context(reported, [*alone, *found.values()], excluded, unreadable)
