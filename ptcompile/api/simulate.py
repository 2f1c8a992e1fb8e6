"""`simulate`, and `status` for a live object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ptcompile._internal import arguments
from ptcompile.api.inputs import AnyProfile, Inputs, Item, JobSource, OverridePairs
from ptcompile.diagnostics import Path, Problem
from ptcompile.kinds.status import Status
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.unstructured import Json
from ptcompile.operators.table import status_of
from ptcompile.source import streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile._internal.arguments import StreamSource
    from ptcompile.compiler.pipeline import Compiled
    from ptcompile.extending import Extensions
    from ptcompile.simulator.world import World


DEFAULT = "default"
"""The `target` that stands for the one that `compile` chooses."""


def simulate(
    source: JobSource,
    *,
    target: str | None = None,
    cluster: AnyProfile | None = None,
    filename: str | None = None,
    beside: Iterable[StreamSource] = (),
    name: str | None = None,
    overrides: OverridePairs = (),
    variants: Iterable[str] = (),
    extensions: Extensions | None = None,
) -> World:
    """Return what every pod of every job of a stream will see.

    A TrainingJob is compiled first: for `target`, or for every target that can express it;
    "default" is the target that `compile` chooses. `name`, `overrides` and `variants` change it as
    they do for `compile`. `cluster` is a ClusterProfile in any form; its versions decide how
    operators behave. `beside` are sources with objects of other files, such as the file of a
    TrainJob's runtime. `extensions` are passes and targets of plugins, from `ptcompile.extensions`.
    Mistakes in a text or spec never raise; they are in `World.diagnostics`, and so are the errors
    for which `compile` gives no manifests.
    """
    arguments.check(target=target)
    inputs = Inputs.read(
        source,
        filename=filename,
        cluster=cluster,
        name=name,
        overrides=overrides,
        variants=variants,
        beside=beside,
        extensions=extensions,
    )

    return simulate_inputs(inputs, target)


def simulate_inputs(inputs: Inputs, target: str | None) -> World:
    """Return the world of all files: first the pods of their manifests, then those of each spec."""
    from ptcompile.simulator.world import World, merge_worlds, simulate as simulated

    if inputs.has_wrong_settings or inputs.open_choices:
        return World(diagnostics=inputs.limited(*inputs.open_choices))

    objects = inputs.objects
    manifests = [item.manifest for item in objects]
    problems = [
        item.to_diagnostic(problem)
        for item in objects
        for problem in _object_problems(item.manifest)
    ]
    worlds = [
        simulated(
            manifests, versions=inputs.versions, others=inputs.related, frameworks=inputs.frameworks
        ),
    ]
    around = Objects(manifests, inputs.related)
    worlds += [_simulate_spec(spec, target, inputs, around) for spec in inputs.specs]

    world = merge_worlds([World(diagnostics=tuple(problems)), *worlds])
    pools = inputs.pools_among(around)
    nodes = pools.groups if pools is not None else ()

    return world._replace(diagnostics=inputs.limited(*world.diagnostics), nodes=nodes)


def _object_problems(manifest: Json) -> list[Problem]:
    """Return the problems of an object that is not a spec.

    An object with a kind and no apiVersion, or the reverse, has an error; other mappings are not
    objects.
    """
    from ptcompile.linter.oversized import oversized_parts

    missing = streams.missing_keys(manifest)
    return [*oversized_parts(manifest), *(missing if len(missing) == 1 else ())]


def _simulate_spec(spec: Item, target: str | None, inputs: Inputs, around: Objects) -> World:
    """Return a spec's worlds, one for each target that can express it; `around` are the other
    objects.

    If no target can, return the diagnostics for the target that `compile` would choose. The
    warnings of `compile` are those of one target.
    """
    from ptcompile.compiler.location import PlacedProblem, locate
    from ptcompile.linter.oversized import oversized_parts
    from ptcompile.operators.targets import TARGETS
    from ptcompile.simulator.world import World, merge_worlds, simulate as simulated

    worlds: list[World] = []
    problems: dict[tuple[str, Path], Problem] = {}
    chosen = None if target == DEFAULT else target
    of_target = inputs.compile(spec.manifest, chosen)
    candidates: Iterable[Compiled] = [of_target]
    # a spec that cannot be read for one target can be read for none
    if target is None and of_target.target is not None:
        candidates = (
            of_target if name == of_target.target.name else inputs.compile(spec.manifest, name)
            for name in TARGETS
        )

    for compiled in candidates:
        manifests = compiled.manifests
        if not manifests or compiled.trace is None or compiled.target is None:
            continue

        world = simulated(
            manifests,
            versions=inputs.versions,
            others=around,
            target=compiled.target.name,
            frameworks=inputs.frameworks,
        )
        worlds.append(world)
        placed = [
            PlacedProblem(problem, index)
            for index, manifest in enumerate(manifests)
            for problem in oversized_parts(manifest)
        ]
        of_compile = () if target is None else compiled.problems
        for problem in (*of_compile, *locate(placed, spec.manifest, compiled.trace)):
            problems.setdefault((problem.name, problem.path), problem)

    if not worlds:
        return World(diagnostics=tuple(map(spec.to_diagnostic, of_target.problems)))

    refused = inputs.refusals(spec, of_target)
    return merge_worlds(
        [World(diagnostics=(*map(spec.to_diagnostic, problems.values()), *refused)), *worlds]
    )


def status(live: Json) -> Status:
    """Return the state of a job from its live object, as `kubectl get -o json` or a client's
    `to_dict` prints it.

    Contacts no cluster. `live` is a Pod, Job, PyTorchJob, Volcano Job, JobSet or TrainJob; its
    status is read as its controller writes it (Kubernetes 1.36, training-operator 1.9, Volcano
    1.16, JobSet 0.12, Trainer 2.3). Raises TypeError for a value that is not a mapping and
    ValueError for any other kind. A status that no controller would write does not raise.
    """
    if not isinstance(live, Mapping):
        raise TypeError(f"live: expected a decoded object, not {type(live).__name__}")
    return status_of(live)
