"""`ptcompile admit`: whether the queues of a cluster admit jobs, now or ever, and what prevents it."""

from __future__ import annotations

import argparse

from ptcompile.cli import config, files, overrides, presentation
from ptcompile.cli.files import UsageError
from ptcompile.cli.inputs import check_has_spec, inputs_of, read_dumps
from ptcompile.cli.options import Parser, add_cluster, add_format, add_output_format, add_overrides
from ptcompile.cli.reporter import Reporter
from ptcompile.report.layout import format_json

_EPILOG = """\
Answers for each job: admitted, with its flavors, pods and places; waits, for what; or never, and why.
The jobs are created in the order of the files. The exit status is 0 if all are admitted, 1 if one is not. Other
clusters, provisioning, dynamic resources and admission fair sharing are not looked at. With a profile that lists node
pools, they decide, and not the room that the nodes of the state have now: an autoscaler may add nodes.

  ptcompile admit job.yaml queues.yaml               by the quota in the files alone
  ptcompile admit job.yaml --state dump.yaml         in a cluster as it is, with what runs and waits there
  ptcompile admit job.yaml queues.yaml --set spec.nodes=2    would fewer nodes fit?
  kubectl get -A -o yaml clusterqueues,localqueues,resourceflavors,cohorts,\\
topologies,admissionchecks,nodes,workloads,namespaces |
    ptcompile admit job.yaml --state -
"""


def add(parser: Parser) -> None:
    """Add the command's options."""
    parser.add_value("paths", "FILE", "specs, manifests and queues: files, directories, or -", nargs="*")
    add_cluster(parser)
    parser.add_repeatable(
        "--state", "DUMP", "the objects of the cluster, as kubectl get -o yaml prints them, or - (repeatable)"
    )
    add_overrides(parser)
    add_format(parser, "text", "json")
    add_output_format(parser)


def run(options: argparse.Namespace) -> int:
    """Print the answer for each job; return 1 if one is not admitted."""
    from ptcompile.api.admit import admit_inputs

    if not options.paths:
        raise UsageError("no file given; ptcompile admit --help shows how (- reads standard input)")
    findings = Reporter(options.output_format)
    profile = findings.read_profile(options.cluster)
    inputs, unreadable = files.read_all(options.paths)
    findings.report_unreadable(unreadable)
    if profile is None or unreadable or not inputs:
        return findings.finish() or 1
    check_has_spec(options, inputs)
    dumps = read_dumps(options.state, "state")
    given = inputs_of(inputs, profile, options, extensions=config.extensions())
    admission = admit_inputs(given, dumps.files or None)
    diagnostics = overrides.point_at_options(admission.diagnostics, options)
    findings.add_all([*inputs, *dumps.inputs], diagnostics)
    status = findings.finish()
    if not admission.jobs:
        files.print_error("ptcompile: no job that queues here" if not status else "ptcompile: no job was looked at")
        return status or 1
    text = format_json(admission.to_dict()) if options.format == "json" else admission.text()
    return max(status, presentation.write_result(text, options.format), int(not admission.ok))


PARSERS = {"admit": (_EPILOG, add, run)}
