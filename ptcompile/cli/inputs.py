"""Inputs of a command: its files as one stream, with the profile and the changes that its
options name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.api.inputs import File, Inputs, read_file
from ptcompile.cli import files
from ptcompile.cli.config import settings_of
from ptcompile.cli.files import InputFile, UsageError
from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.source import streams
from ptcompile.source.overrides import read_overrides

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from ptcompile.kubernetes.index import Objects
    from ptcompile.spec.cluster_profile import ClusterProfile


def inputs_of(
    inputs: Sequence[InputFile],
    profile: ClusterProfile | None,
    options: argparse.Namespace,
    *,
    beside: Objects | None = None,
    schemas: Sequence[str] = (),
    only_specs: bool = False,
) -> Inputs:
    """Return what a command was given: its files as one stream, with --name, --set, the profile of
    --cluster and what the configuration adds.

    `profile` may be the built-in one if there is no --cluster; then none was given.
    """
    given_profile = profile if options.cluster else None
    return Inputs(
        [read_file(file.content, file.name, given_profile) for file in inputs],
        given_profile,
        overrides=read_overrides(**keywords(options), default_target=options.default_target),
        beside=beside,
        schemas=schemas,
        extensions=settings_of(options).extensions,
        only_specs=only_specs,
    )


def page_inputs(
    spec: bytes, profile: bytes | None, filename: str, options: argparse.Namespace
) -> Inputs:
    """Return the spec and the profile that a command explains, with the changes that its options
    name.
    """
    config = settings_of(options)
    return Inputs.read(
        spec,
        filename=filename,
        cluster=profile,
        cluster_filename=options.cluster,
        extensions=config.extensions,
        only_specs=True,
        default_target=config.target,
        **keywords(options),
    )


def keywords(options: argparse.Namespace) -> JsonDict:
    """Return --name, --set and --variant as keyword arguments of the API's functions."""
    overrides = [(option.path, option.value) for option in options.set]
    return {"name": options.name, "overrides": overrides, "variants": options.variant}


class Dumps(NamedTuple):
    """The dumps of a cluster's objects that options name; together they are the cluster."""

    inputs: list[InputFile]
    files: list[File]


def read_dumps(paths: Sequence[str], parameter: str) -> Dumps:
    """Read dumps by kubectl, which may be larger than other inputs. Raises `UsageError` if one
    cannot be read.
    """
    inputs = [
        InputFile("<stdin>" if path == "-" else path, files.read(path), True) for path in paths
    ]
    return Dumps(
        inputs,
        [File(streams.read_dump(dump.content, dump.name, parameter), dump.name) for dump in inputs],
    )


def check_has_spec(options: argparse.Namespace, inputs: Iterable[InputFile]) -> None:
    """Raise `UsageError` if --set or --name has nothing to change, since no input has a
    TrainingJob.
    """
    if (options.set or options.name is not None) and not any(
        b"TrainingJob" in file.content for file in inputs
    ):
        option = "--set" if options.set else "--name"
        raise UsageError(f"{option} changes a TrainingJob, and no file here has one")
