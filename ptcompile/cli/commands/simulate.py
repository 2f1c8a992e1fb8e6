"""`ptcompile simulate`: what every pod of a job will see, before the job is submitted."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ptcompile.api import simulate
from ptcompile.api.inputs import Inputs, read_beside
from ptcompile.cli import config, files, overrides, presentation
from ptcompile.cli.files import InputFile, UsageError
from ptcompile.cli.inputs import check_has_spec, inputs_of
from ptcompile.cli.options import ALL, check_target
from ptcompile.cli.reporter import Reporter, reporter_of
from ptcompile.report.layout import format_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.simulator.pod import Pod
    from ptcompile.simulator.world import World


def run(options: argparse.Namespace) -> int:
    """Show the pods of all files, which form one stream; return 1 if one cannot be read or
    compiled.
    """
    if not options.paths:
        raise UsageError(
            "no file given; ptcompile simulate --help shows how (- reads standard input)"
        )

    settings = config.settings_of(options)
    check_target(options.target, extra=(ALL,), extensions=settings.extensions)
    if options.format == "json" and (options.graph or options.env_file):
        raise UsageError("--format json does not apply to --graph and --env-file")

    reporter = reporter_of(options)
    profile = reporter.read_profile(options.cluster)
    if profile is None:
        return reporter.finish()

    inputs = reporter.read_files(options.paths)
    check_has_spec(options, inputs)
    beside = read_beside([files.read(path) for path in options.beside])
    source = inputs_of(inputs, profile, options, beside=beside, schemas=settings.schemas)
    if options.stored:
        config.check_schemas(settings.schemas)
        return _print_stored(source, inputs, options, reporter)

    target = None if options.target == ALL else options.target or simulate.DEFAULT
    world = simulate.simulate_inputs(source, target)
    reporter.add_all(
        inputs, overrides.point_at_options(settings.select_reported(world.diagnostics), options)
    )
    status = reporter.finish()
    if not world.jobs and status:
        return status

    form = options.graph or ("env" if options.env_file else options.format)
    return max(status, presentation.write_result(_format_world(world, options), form))


def _print_stored(
    source: Inputs, inputs: Sequence[InputFile], options: argparse.Namespace, reporter: Reporter
) -> int:
    """Print the objects of all files as the server would keep them."""
    from ptcompile.api.stored import stored_inputs

    if options.target == ALL:
        raise UsageError("--stored shows one target; name it, or leave --target out")

    result = stored_inputs(source, options.target)
    reporter.add_all(inputs, overrides.point_at_options(result.diagnostics, options))
    status = reporter.finish()
    if not result.objects and options.format != "json":
        return status

    text = format_json(result.to_list()) if options.format == "json" else result.yaml()
    return max(status, presentation.write_result(text, options.format))


def _format_world(world: World, options: argparse.Namespace) -> str:
    if options.graph:
        from ptcompile.graph import GRAPHS

        return GRAPHS[options.graph](world)

    name = options.pod or options.env_file
    if name:
        return _format_pod(_find_pod(world, name), options)
    if options.format == "json":
        data = world.to_dict(all_pods=options.all)
        for truncation in data["diagnostics"][len(world.diagnostics) :]:
            files.print_error(f"ptcompile: {truncation['message']}; {truncation['help']}")
        return format_json(data)

    from ptcompile.simulator.as_text import overview

    return overview(world) or "no object here creates pods\n"


def _format_pod(pod: Pod, options: argparse.Namespace) -> str:
    from ptcompile.simulator.as_json import pod_to_dict
    from ptcompile.simulator.as_text import env_file, pod_text

    if options.env_file:
        return env_file(pod)
    if options.format == "json":
        return format_json(pod_to_dict(pod))
    return pod_text(pod)


def _find_pod(world: World, name: str) -> Pod:
    """Return the pod of this name; if several targets have one, that of the first target."""
    pods = world.pods.named(name)
    if pods:
        return pods[0]

    from ptcompile._internal.spelling import spelling_help

    names = [pod.display_name for pod in world.pods.folded()]
    if not names:
        raise UsageError(f"no pod {name!r}: no object here creates pods")

    more = " ..." if len(names) > 6 else ""
    listing = f"the pods are {', '.join(names[:6])}{more}"
    raise UsageError(f"no pod {name!r}; {spelling_help(name, names, listing)}")
