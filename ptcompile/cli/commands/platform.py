"""`ptcompile platform` and `ptcompile requires`: what a cluster must have before jobs run, and for specific jobs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ptcompile.api.inputs import Inputs
from ptcompile.cli import config, files, overrides
from ptcompile.cli.files import UsageError
from ptcompile.cli.inputs import check_has_spec, inputs_of, read_dumps
from ptcompile.cli.options import Parser, add_output_format, add_overrides, add_spec_options, check_target, profile_name
from ptcompile.cli.reporter import Reporter
from ptcompile.report.layout import join_escaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.api.requirements import StreamJobs
    from ptcompile.extending import Extensions
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Spec

_PLATFORM_EPILOG = """\
Prints one YAML stream for kubectl: the Namespaces, PriorityClasses, LocalQueues or Queues and training runtimes that
the specs need, and the profile's priority classes. Comments at the top list what else the cluster must have (CRDs,
operators and their versions, node resources, the ClusterQueues behind LocalQueues) and the Helm values of the PyTorch
operator's chart. Without specs, it assumes PyTorchJobs. With --from-dump, it prints a profile instead: versions, node
pools, queues, topology and feature gates, as far as the objects of the dump show them.

  ptcompile platform cluster.yaml specs/ | kubectl apply -f -
  ptcompile platform cluster.yaml --values > values.yaml
  ptcompile platform --from-dump objects.yaml > cluster.yaml
"""
_REQUIRES_EPILOG = """\
Prints a line for each requirement: its kind (kubernetes, operator, crd, runtime, namespace, object, resource, pods,
label, taint or nodes), name, version if known, and reason. Objects are those that the jobs refer to but do not create.
Manifests, such as an MPIJob, work as well as specs. Where a profile or the nodes of a dump among the files show them,
nodes tells which of them take the pods.

  ptcompile requires spec.yaml --target job
"""


def add_platform(parser: Parser) -> None:
    """Add the options of `platform`."""
    parser.add_value("cluster", "CLUSTER", "the cluster profile (kind: ClusterProfile)", nargs="?", type=profile_name)
    parser.add_value("paths", "SPEC", "the jobs: files, directories, globs, or -", nargs="*")
    add_overrides(parser)
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--values", action="store_true", help="print only the Helm values of the operator's chart")
    output.add_argument("--list", action="store_true", help="print only the list of what the cluster must have")
    output.add_argument(
        "--from-dump",
        action="append",
        metavar="DUMP",
        help="print the profile of the cluster with these objects (kubectl get ... -A -o yaml), instead of its setup"
        " (repeatable)",
    )
    add_output_format(parser)


def add_requires(parser: Parser) -> None:
    """Add the options of `requires`."""
    parser.add_value("paths", "SPEC", "files, directories, globs, or - for standard input", nargs="*")
    add_spec_options(parser)
    add_output_format(parser)


def platform(options: argparse.Namespace) -> int:
    """Print what an administrator must install; print nothing if a spec has an error."""
    findings = Reporter(options.output_format)
    if options.from_dump is not None and options.cluster is not None:
        raise UsageError("--from-dump writes a profile: give neither a profile nor specs")
    if options.from_dump is not None:
        text = profile_of_dumps(options.from_dump, findings)
        return findings.finish() or files.write_stdout(text)
    if options.cluster is None:
        raise UsageError("no profile given: name CLUSTER, or --from-dump; ptcompile platform --help shows how")
    findings.add_options(options)
    profile = findings.read_profile(options.cluster)
    if profile is None:
        return findings.finish()
    jobs = _read_jobs(options, profile, None, config.extensions(), findings)
    specs = [spec for stream in jobs for spec in stream.specs]
    _check_releases(specs, profile, None, options.cluster, findings)
    status = findings.finish()
    if status:
        return status
    if options.paths and not specs:
        return findings.report_no_jobs(options.paths)
    from ptcompile.requirements.setup import plan_setup
    from ptcompile.source.emitter import emit

    setup = plan_setup(profile, specs)
    if options.list:
        return files.write_stdout(join_escaped(map(str, setup.requirements)))
    if not options.values:
        return files.write_stdout(setup.text())
    if not setup.values:
        files.print_error("ptcompile: no Helm values: no job is a PyTorchJob, and the profile has no operator")
        return 0
    return files.write_stdout(emit(setup.values))


def profile_of_dumps(paths: Sequence[str], findings: Reporter) -> str:
    """Return the profile of the cluster with the objects of these dumps; mistakes in them are added to the findings."""
    from ptcompile.api.requirements import profile_from_dumps

    dumps = read_dumps(paths, "dump")
    draft = profile_from_dumps(dumps.files)
    findings.add_all(dumps.inputs, draft.diagnostics)
    return draft.text() if draft.ok else ""


def requires(options: argparse.Namespace) -> int:
    """Print what the jobs need, without duplicates."""
    if not options.paths:
        raise UsageError("no spec given; ptcompile requires --help shows how (- reads standard input)")
    extensions = config.extensions()
    check_target(options.target, extensions=extensions)
    findings = Reporter(options.output_format)
    findings.add_options(options)
    profile = findings.read_profile(options.cluster)
    if profile is None:
        return findings.finish()
    from ptcompile.api.requirements import requirements_of

    jobs = _read_jobs(options, profile, options.target, extensions, findings)
    specs = [spec for stream in jobs for spec in stream.specs]
    _check_releases(specs, profile, options.target, options.cluster, findings)
    status = findings.finish()
    if status:
        return status
    needed = requirements_of(jobs, Inputs((), profile, extensions=extensions), options.target)
    if not needed:
        return findings.report_no_jobs(options.paths)
    return files.write_stdout(join_escaped(map(str, needed)))


def _check_releases(
    specs: list[Spec], profile: ClusterProfile, target: str | None, path: str | None, findings: Reporter
) -> None:
    """Warn if an operator of these jobs requires a newer Kubernetes than the profile's."""
    from ptcompile.requirements.jobs import kubernetes_too_old, operators_of, target_of
    from ptcompile.source import streams

    jobs = [(target_of(spec, profile, target), spec) for spec in specs]
    problems = list(kubernetes_too_old(operators_of(jobs, profile, () if jobs else ("pytorchjob",)), profile))
    if problems and path is not None:
        content = files.read(path)
        documents = streams.profile_documents(streams.read(content, path))
        diagnostics = [
            streams.to_diagnostic(problem, documents[0] if documents else None, path) for problem in problems
        ]
        findings.add(files.InputFile(path, content, True), diagnostics)


def _read_jobs(
    options: argparse.Namespace,
    profile: ClusterProfile,
    target: str | None,
    extensions: Extensions | None,
    findings: Reporter,
) -> list[StreamJobs]:
    """Return the jobs of each file that compiles; the others become findings."""
    from ptcompile.api.requirements import jobs_of

    inputs, unreadable = files.read_all(options.paths)
    findings.report_unreadable(unreadable)
    check_has_spec(options, inputs)
    jobs: list[StreamJobs] = []
    for file in inputs:
        of_file = jobs_of(inputs_of([file], profile, options, extensions=extensions), target)
        diagnostics = tuple(overrides.point_at_options(of_file.result.diagnostics, options))
        if of_file.manifests and not of_file.specs:
            findings.add(file, diagnostics)
        else:
            findings.add_compiled(file, of_file.result._replace(diagnostics=diagnostics))
        jobs.append(of_file)
    return jobs


PARSERS = {
    "platform": (_PLATFORM_EPILOG, add_platform, platform),
    "requires": (_REQUIRES_EPILOG, add_requires, requires),
}
