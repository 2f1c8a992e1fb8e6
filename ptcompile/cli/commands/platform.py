"""`ptcompile platform` and `ptcompile requires`: what a cluster must have before jobs run, and
for specific jobs.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ptcompile.api.inputs import Inputs
from ptcompile.cli import config, files, overrides
from ptcompile.cli.files import UsageError
from ptcompile.cli.inputs import check_has_spec, inputs_of, read_dumps
from ptcompile.cli.options import check_target
from ptcompile.cli.reporter import Reporter, reporter_of
from ptcompile.report.layout import join_escaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.api.requirements import StreamJobs
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Spec


def platform(options: argparse.Namespace) -> int:
    """Print what an administrator must install; print nothing if a spec has an error."""
    reporter = reporter_of(options)
    if options.from_dump is not None and options.cluster is not None:
        raise UsageError("--from-dump writes a profile: give neither a profile nor specs")
    if options.from_dump is not None:
        text = profile_of_dumps(options.from_dump, reporter)
        return reporter.finish() or files.write_stdout(text)
    if options.cluster is None:
        raise UsageError(
            "no profile given: name CLUSTER, or --from-dump; ptcompile platform --help shows how"
        )

    profile = reporter.read_profile(options.cluster)
    if profile is None:
        return reporter.finish()

    jobs = _read_jobs(options, profile, None, reporter)
    specs = [spec for stream in jobs for spec in stream.specs]
    status = reporter.finish()
    if status:
        return status
    if options.paths and not specs:
        return reporter.report_no_jobs(options.paths)

    from ptcompile.requirements.setup import plan_setup
    from ptcompile.source.emitter import emit

    setup = plan_setup(profile, specs)
    if options.list:
        return files.write_stdout(join_escaped(map(str, setup.requirements)))
    if not options.values:
        return files.write_stdout(setup.text())
    if not setup.values:
        files.print_error(
            "ptcompile: no Helm values: no job is a PyTorchJob, and the profile has no operator"
        )
        return 0

    return files.write_stdout(emit(setup.values))


def profile_of_dumps(paths: Sequence[str], reporter: Reporter) -> str:
    """Return the profile of the cluster with the objects of these dumps; mistakes in them are
    added to the findings.
    """
    from ptcompile.api.requirements import profile_from_dumps

    dumps = read_dumps(paths, "dump")
    draft = profile_from_dumps(dumps.files)
    reporter.add_all(dumps.inputs, draft.diagnostics)
    return draft.text() if draft.ok else ""


def requires(options: argparse.Namespace) -> int:
    """Print what the jobs need, without duplicates."""
    if not options.paths:
        raise UsageError(
            "no spec given; ptcompile requires --help shows how (- reads standard input)"
        )

    extensions = config.settings_of(options).extensions
    check_target(options.target, extensions=extensions)
    reporter = reporter_of(options)
    profile = reporter.read_profile(options.cluster)
    if profile is None:
        return reporter.finish()

    from ptcompile.api.requirements import requirements_of

    jobs = _read_jobs(options, profile, options.target, reporter)
    status = reporter.finish()
    if status:
        return status

    needed = requirements_of(jobs, Inputs((), profile, extensions=extensions), options.target)
    if not needed:
        return reporter.report_no_jobs(options.paths)

    return files.write_stdout(join_escaped(map(str, needed)))


def _check_releases(
    specs: list[Spec],
    profile: ClusterProfile,
    target: str | None,
    path: str | None,
    reporter: Reporter,
) -> None:
    """Warn if an operator of these jobs requires a newer Kubernetes than the profile's."""
    from ptcompile.requirements.jobs import kubernetes_too_old, operators_of, target_of
    from ptcompile.source import streams

    jobs = [(target_of(spec, profile, target), spec) for spec in specs]
    problems = list(
        kubernetes_too_old(operators_of(jobs, profile, () if jobs else ("pytorchjob",)), profile)
    )
    if problems and path is not None:
        content = files.read(path)
        documents = streams.profile_documents(streams.read(content, path))
        diagnostics = [
            streams.to_diagnostic(problem, documents[0] if documents else None, path)
            for problem in problems
        ]
        reporter.add(files.InputFile(path, content, True), diagnostics)


def _read_jobs(
    options: argparse.Namespace,
    profile: ClusterProfile,
    target: str | None,
    reporter: Reporter,
) -> list[StreamJobs]:
    """Return the jobs of each file that compiles; the others become findings, and so do operators
    that need a newer Kubernetes.
    """
    from ptcompile.api.requirements import jobs_of

    inputs = reporter.read_files(options.paths)
    check_has_spec(options, inputs)
    jobs: list[StreamJobs] = []
    for file in inputs:
        of_file = jobs_of(inputs_of([file], profile, options), target)
        diagnostics = tuple(overrides.point_at_options(of_file.result.diagnostics, options))
        if of_file.manifests and not of_file.specs:
            reporter.add(file, diagnostics)
        else:
            reporter.add_compiled(file, of_file.result._replace(diagnostics=diagnostics))
        jobs.append(of_file)

    specs = [spec for stream in jobs for spec in stream.specs]
    _check_releases(specs, profile, target, options.cluster, reporter)

    return jobs
