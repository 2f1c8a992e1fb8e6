"""`ptcompile rehearse`: run a job's pods as real torchrun processes on this machine, with
faults.
"""

from __future__ import annotations

import argparse
import os
import signal

from ptcompile.cli import config, files, overrides, presentation
from ptcompile.cli.files import UsageError
from ptcompile.cli.inputs import check_has_spec, inputs_of
from ptcompile.cli.options import check_target
from ptcompile.cli.presentation import has_terminal, show_progress
from ptcompile.cli.reporter import reporter_of
from ptcompile.report.layout import format_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

    from ptcompile.rehearsal import Rehearsal
    from ptcompile.simulator.faults import Fault
    from ptcompile.simulator.job import SimulatedJob


def run(options: argparse.Namespace) -> int:
    """Rehearse the job and print the observations; return 0 if it trained to its end as
    `simulate` predicts, else 1.
    """
    from ptcompile.rehearsal import RehearsalError, text, to_dict

    check_target(options.target, extensions=config.settings_of(options).extensions)
    faults, limit = _parse_times(options)
    try:
        job, status = _read_job(options)
        if job is None:
            return status
        rehearsal = _rehearse(options, job, faults, limit)
    except RehearsalError as error:
        for line in f"ptcompile: {error}".splitlines():
            files.print_error(line)
        return 2
    except KeyboardInterrupt as error:
        kept = f"; the logs are in {options.keep_logs}" if options.keep_logs else ""
        files.print_error(
            f"ptcompile: interrupted: all pods are ended and their folders are removed{kept}"
        )
        return 128 + (signal.SIGTERM if isinstance(error, _TerminatedError) else signal.SIGINT)

    output = format_json(to_dict(rehearsal)) if options.format == "json" else text(rehearsal)
    return max(presentation.write_result(output, options.format), int(not rehearsal.verdict.passed))


def _parse_times(options: argparse.Namespace) -> tuple[list[Fault], float]:
    """Return the faults and the time limit in seconds."""
    from ptcompile.rehearsal import FORMS, default_limit, fault
    from ptcompile.rehearsal.settings import parse_duration

    try:
        values = {kind: getattr(options, kind.replace("-", "_")) for kind in FORMS}
        texts_by_kind = [
            (kind, [value] if isinstance(value, str) else value or [])
            for kind, value in values.items()
        ]
        faults = [fault(kind, text) for kind, texts in texts_by_kind for text in texts]
        if options.limit:
            return faults, parse_duration(options.limit)
        return faults, default_limit(faults, options.scale)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _read_job(options: argparse.Namespace) -> tuple[SimulatedJob | None, int]:
    """Return the job to rehearse, or None and the exit status after reporting findings."""
    from ptcompile.api import simulate
    from ptcompile.api.inputs import read_beside
    from ptcompile.api.rehearse import only_job

    reporter = reporter_of(options)
    profile = reporter.read_profile(options.cluster)
    if profile is None:
        return None, reporter.finish()

    inputs = reporter.read_files([options.path])
    if len(inputs) != 1:
        raise UsageError(f"{options.path} has {len(inputs)} files, but rehearse takes one")

    check_has_spec(options, inputs)
    beside = read_beside([files.read(path) for path in options.beside])
    source = inputs_of(inputs, profile, options, beside=beside)
    world = simulate.simulate_inputs(source, options.target or simulate.DEFAULT)
    reporter.add_all(inputs, overrides.point_at_options(world.diagnostics, options))
    status = reporter.finish()

    return only_job(world) if world.ok else None, status


def _parse_mounts(texts: list[str]) -> dict[str, str]:
    """Return the folders by claim."""
    mounts = {}
    for text in texts:
        claim, separator, folder = text.partition("=")
        if not (claim and separator and folder):
            raise UsageError(f"--mount {text}: write CLAIM=DIR, such as checkpoints=./ckpt")
        if not os.path.isdir(folder):
            raise UsageError(f"--mount {text}: no folder {folder}")
        mounts[claim] = folder
    return mounts


class _TerminatedError(KeyboardInterrupt):
    """Raised by SIGTERM, so that like after Ctrl-C nothing is left behind."""


def _terminate(number: int, frame: FrameType | None) -> None:
    raise _TerminatedError


def _rehearse(
    options: argparse.Namespace, job: SimulatedJob, faults: list[Fault], limit: float
) -> Rehearsal:
    from ptcompile.rehearsal import RehearsalSettings, rehearse

    script = options.script
    if script is not None and not os.path.isfile(script):
        raise UsageError(f"--script {script}: no such file")

    settings = RehearsalSettings(
        options.python, script, options.own_command, options.scale, limit, options.image, options.keep_logs,
        _parse_mounts(options.mount),
    )  # fmt: skip
    on_terminal = has_terminal()

    def progress(line: str) -> None:
        if on_terminal:
            show_progress(line)
        else:
            files.print_error(line)

    previous_handler = signal.signal(signal.SIGTERM, _terminate)
    try:
        return rehearse(
            job, faults, settings=settings, max_processes=options.max_processes, progress=progress
        )
    finally:
        signal.signal(signal.SIGTERM, previous_handler)
        # erase the progress line
        files.write_stderr("")
