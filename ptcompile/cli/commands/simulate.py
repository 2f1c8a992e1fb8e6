"""`ptcompile simulate`: what every pod of a job will see, before it is submitted."""

from __future__ import annotations

import argparse
import json

from ptcompile.api import simulate
from ptcompile.cli import config, files
from ptcompile.cli.files import UsageError
from ptcompile.cli.options import add_output_format, check_target
from ptcompile.cli.reporter import Findings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.extending import Extensions
    from ptcompile.simulator.pod import Pod
    from ptcompile.simulator.world import World
    from ptcompile.spec.cluster_profile import ClusterProfile


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the command and its options into the parser."""
    one = commands.add_parser("simulate", help="show what every pod will see", allow_abbrev=False)
    one.add_argument("paths", nargs="*", metavar="FILE", help="specs or manifests: files, directories, globs, or -")
    one.add_argument(
        "--target", metavar="T", help="compile a spec for this target only (default: every target that can express it)"
    )
    one.add_argument("--cluster", metavar="FILE", help="the cluster profile, whose versions count")
    one.add_argument(
        "--with", dest="beside", action="append", default=[], metavar="FILE",
        help="objects that are only looked up, such as a TrainJob's runtime (repeatable)",
    )  # fmt: skip
    what = one.add_mutually_exclusive_group()
    what.add_argument("--pod", metavar="NAME", help="show one pod in full")
    what.add_argument("--env-file", metavar="NAME", help="print one pod's variables for docker run --env-file")
    what.add_argument("--graph", choices=("mermaid", "svg"), help="draw pods, Services, volumes and the rendezvous")
    one.add_argument("--format", choices=("text", "json"), default="text", help="format of the result (default: text)")
    one.add_argument("--all", action="store_true", help="with JSON, list every pod of wide roles")
    add_output_format(one)
    one.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Show the world of every file; all of them together are one stream. 1 where one cannot be read or compiled."""
    if not options.paths:
        raise UsageError("no file given; ptcompile simulate --help shows how (- reads standard input)")
    extensions = config.extensions()
    check_target(options.target, extensions=extensions)
    if options.format == "json" and (options.graph or options.env_file):
        raise UsageError("--format json does not apply to --graph and --env-file")
    findings = Findings(options.output_format)
    profile = findings.read_profile(options.cluster) if options.cluster else None
    if options.cluster and profile is None:
        return findings.finish()
    world = _world(options, findings, profile, extensions)
    status = findings.finish()
    if not world.jobs and status:
        return status
    return max(status, files.write_stdout(_shown(world, options)))


def _world(
    options: argparse.Namespace, findings: Findings, profile: ClusterProfile | None, extensions: Extensions | None
) -> World:
    """The world of all files; each file sees the objects of the others."""
    from ptcompile.simulator.world import merge_worlds

    inputs, unreadable = files.read_all(options.paths)
    findings.report_unreadable(unreadable)
    beside = [*(files.read(path) for path in options.beside), *(file.content for file in inputs if len(inputs) > 1)]
    others = simulate.objects_of(beside)
    worlds = []
    for file in inputs:
        world = simulate.simulate(
            file.content,
            target=options.target,
            cluster=profile,
            filename=file.name,
            others=others,
            extensions=extensions,
        )
        findings.add(file, world.diagnostics)
        worlds.append(world)
    return merge_worlds(worlds)


def _shown(world: World, options: argparse.Namespace) -> str:
    if options.graph:
        from ptcompile.graph import GRAPHS

        return GRAPHS[options.graph](world)
    name = options.pod or options.env_file
    if name:
        return _one(_find(world, name), options)
    if options.format == "json":
        shown = world.to_dict(all_pods=options.all)
        for cut in shown["diagnostics"][len(world.diagnostics) :]:
            files.print_error(f"ptcompile: {cut['message']}; {cut['help']}\n")
        return json.dumps(shown, indent=2) + "\n"
    from ptcompile.simulator.as_text import overview

    return overview(world) or "no object here creates pods\n"


def _one(pod: Pod, options: argparse.Namespace) -> str:
    from ptcompile.simulator.as_json import pod_to_dict
    from ptcompile.simulator.as_text import env_file, pod_text

    if options.env_file:
        return env_file(pod)
    if options.format == "json":
        return json.dumps(pod_to_dict(pod), indent=2) + "\n"
    return pod_text(pod)


def _find(world: World, name: str) -> Pod:
    """The pod of this name; of several worlds the first one's, which is that of the first target."""
    found = world.pods.named(name)
    if found:
        return found[0]
    from ptcompile._internal.spelling import closest_match

    known = [pod.display_name for pod in world.pods.folded()]
    near = closest_match(name, known)
    help = f"did you mean {near}?" if near else f"there are {', '.join(known[:6])}" + (" ..." if len(known) > 6 else "")
    raise UsageError(f"no pod {name!r}; {help}" if known else f"no pod {name!r}: no object here creates pods")
