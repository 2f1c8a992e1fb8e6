"""`ptcompile admit`: whether the queues of a cluster admit jobs, now or ever, and what prevents
it.
"""

from __future__ import annotations

import argparse

from ptcompile.cli import files, overrides, presentation
from ptcompile.cli.files import UsageError
from ptcompile.cli.inputs import check_has_spec, inputs_of, read_dumps
from ptcompile.cli.reporter import Reporter


def run(options: argparse.Namespace) -> int:
    """Print the answer for each job; return 1 if one is not admitted."""
    from ptcompile.api.admit import admit_inputs

    if not options.paths:
        raise UsageError("no file given; ptcompile admit --help shows how (- reads standard input)")

    reporter = Reporter(options.output_format)
    profile = reporter.read_profile(options.cluster)
    inputs = reporter.read_files(options.paths)
    if profile is None or reporter.unreadable_status() or not inputs:
        return reporter.finish() or 1

    check_has_spec(options, inputs)
    dumps = read_dumps(options.state, "state")
    source = inputs_of(inputs, profile, options)
    admission = admit_inputs(source, dumps.files or None)
    diagnostics = overrides.point_at_options(admission.diagnostics, options)
    reporter.add_all([*inputs, *dumps.inputs], diagnostics)
    status = reporter.finish()
    if not admission.jobs:
        reason = "was looked at" if status else "that queues here"
        files.print_error(f"ptcompile: no job {reason}")
        return status or 1

    text = presentation.render(admission, options.format)
    return max(status, presentation.write_result(text, options.format), int(not admission.ok))
