"""`ptcompile explain --log`: the first cause in logs, and the page of a message."""

from __future__ import annotations

import argparse

from ptcompile.cli import config, files, presentation
from ptcompile.cli.files import InputFile, UsageError
from ptcompile.cli.reporter import Reporter
from ptcompile.report.layout import format_json, safe_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.diagnosis.model import Diagnosis


def explain_logs(options: argparse.Namespace) -> int:
    """Print the first cause in the logs of --log; return 1 if no message of them is known."""
    logs = [path for paths in options.log for path in paths]
    manifest = options.spec
    if manifest is None and len(logs) > 1 and logs[-1].endswith(_MANIFESTS):
        manifest = logs.pop()
    if options.path is not None or options.html is not None:
        raise UsageError("--log takes logs and one manifest or spec: remove PATH and --html")

    reporter = Reporter(options.output_format)
    inputs = reporter.read_files(logs)
    manifests, missing = files.read_all([manifest] if manifest is not None else [])
    reporter.report_unreadable(missing)
    if not inputs or missing:
        return reporter.finish()
    if len(manifests) > 1:
        raise UsageError(f"{manifest} has {len(manifests)} files, but explain reads one")

    diagnosis = _diagnose_files(inputs, manifests, options)
    reporter.add_all([*manifests], diagnosis.diagnostics)
    status = max(reporter.finish(), int(diagnosis.first is None))
    text = presentation.render(diagnosis, options.format)

    return max(status, presentation.write_result(text, options.format))


_MANIFESTS = (".yaml", ".yml")
"""Ends of the name of the last file after --log if it is the manifest: kubectl's JSON is a log."""


def _diagnose_files(
    logs: list[InputFile], manifests: list[InputFile], options: argparse.Namespace
) -> Diagnosis:
    """Return the diagnosis, with the manifest as the configuration judges it."""
    from ptcompile.api.diagnose import diagnose_inputs
    from ptcompile.api.inputs import File, read_profile
    from ptcompile.source import streams

    contents = {log.name: log.content for log in logs}
    if not manifests:
        return diagnose_inputs(contents, None)

    (manifest,) = manifests
    settings = config.settings_of(options)
    path = options.cluster
    profile = read_profile(files.read(path) if path else None, filename=path)
    judge = settings.lint_options(manifest.name, profile.profile)
    parsed = streams.read(manifest.content, manifest.name, kubectl=judge.versions.kubernetes)

    return diagnose_inputs(
        contents, judge.inputs(File(parsed, manifest.name), profile=profile), judge
    )


def is_message(word: str) -> bool:
    """Return whether a word is the name of a known message."""
    from ptcompile.diagnosis.messages import messages

    return word in messages()


def may_be_message(word: str) -> bool:
    """Return whether a word is rather a line of a log, or a word of one, than the path of a
    file.
    """
    return " " in word.strip() or is_message(word) or _is_of_message(word)


def _is_of_message(word: str) -> bool:
    from ptcompile.diagnosis.pages import search

    return word.isalnum() and not word.islower() and bool(search(word))


def explain_message(text: str, form: str) -> int:
    """Print the page of a message, found by its name or by a log line that contains it. Without a
    match, print the closest messages and return 1.
    """
    from ptcompile.api.diagnose import diagnose
    from ptcompile.diagnosis.pages import message_named, page

    diagnosis = diagnose(text)
    known = message_named(text) or (diagnosis.first.sighting.message if diagnosis.first else None)
    if form == "json":
        return max(files.write_stdout(format_json(diagnosis.to_dict())), int(known is None))
    if known is not None:
        return presentation.write_result(safe_lines(page(known)))

    return max(1, presentation.write_result(diagnosis.text()))
