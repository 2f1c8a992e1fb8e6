"""`requires` and `platform`: what a cluster must have for a job, and how to set it up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile._internal import arguments
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.api import compile
from ptcompile.compiler.reader import load_profile
from ptcompile.diagnostics import Diagnostic
from ptcompile.kubernetes.unstructured import kind_of
from ptcompile.registry.table import RUNS_PODS
from ptcompile.requirements.jobs import Requirement, requires_spec as needs
from ptcompile.requirements.setup import Setup, plan_setup as set_up
from ptcompile.source import streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile._internal.arguments import StreamSource
    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Spec


class Requirements(NamedTuple):
    """What a cluster must have, each thing once, and what keeps a spec from compiling."""

    requirements: tuple[Requirement, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def ok(self) -> bool:
        """Whether there is no error. Warnings are fine."""
        return not any(d.severity == "error" for d in self.diagnostics)

    def text(self) -> str:
        """One line for each thing."""
        return "".join(f"{one}\n" for one in self.requirements)


def requires(
    spec: StreamSource | Spec,
    *,
    target: str | None = None,
    cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None = None,
    filename: str | None = None,
) -> Requirements:
    """What the jobs of a stream need: software with its versions, CRDs, objects that they name, node resources.

    Arguments as for `compile`. A stream of manifests without a spec among them is taken too, such as an MPIJob;
    `target` does not matter to it. With an error in `diagnostics` there are no requirements: what does not compile
    needs nothing. Raises nothing for what a user may have written.
    """
    arguments.check(target=target, filename=filename)
    profile, found = load_profile(cluster)
    if profile is None:
        return Requirements((), tuple(found))
    if (manifests := given_manifests(spec, filename)) is not None:
        from ptcompile.requirements import jobs as of_manifests

        return Requirements(of_manifests.requires_manifests(manifests, profile), tuple(found))
    specs, told = jobs(spec, profile, target, filename)
    needed = dict.fromkeys(one for each in specs for one in needs(each, profile, target))
    return Requirements(tuple(needed), (*found, *told))


def given_manifests(spec: StreamSource | Spec, filename: str | None) -> list[Json] | None:
    """The objects of a stream of manifests that has jobs and no spec of ours; None for any other stream."""
    read = streams.read(spec, filename, "spec")
    objects = [one for document in read.documents for _, one in streams.objects_in(document.data)]
    ours = any(map(streams.is_ours, objects))
    runs = any(kind_of(one) in RUNS_PODS for one in objects)
    return objects if runs and not ours and not read.problems else None


def jobs(
    spec: StreamSource | Spec, profile: ClusterProfile, target: str | None, filename: str | None
) -> tuple[list[Spec], tuple[Diagnostic, ...]]:
    """The jobs of a stream where all of it compiles, else none; and what compiling says."""
    from ptcompile.compiler.frontend.reader import decode_spec

    result = compile.compile(spec, target=target, cluster=profile, filename=filename, lint=False)
    if not result.ok:
        return [], result.diagnostics
    read = (decode_spec(document.data)[0] for document in streams.read(spec, filename, "spec").documents)
    return [one for one in read if one is not None], result.diagnostics


def platform(
    cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None = None,
    specs: Sequence[str | bytes | Mapping[str, Any] | Spec] = (),
    *,
    filename: str | None = None,
) -> Setup:
    """What a cluster must have before these jobs run: objects for kubectl, Helm values, and a list of the rest.

    `cluster` is a ClusterProfile in any form, the built-in one where absent, and `filename` is its name, for positions
    in diagnostics; `specs` are streams of jobs. Without jobs it is for PyTorchJobs. With an error in `diagnostics` all
    else is empty. Raises nothing for what a user may have written, and TypeError where `specs` is one text.
    """
    if isinstance(specs, str | bytes | Mapping):
        raise TypeError("specs: expected a list of job streams, not a single one")
    profile, found = load_profile(cluster, filename=filename)
    read = [jobs(one, profile, None, None) for one in specs] if profile is not None else []
    diagnostics = (*found, *(one for _, told in read for one in told))
    if profile is None or any(one.severity == "error" for one in diagnostics):
        return Setup((), {}, (), diagnostics)
    setup = set_up(profile, [one for each, _ in read for one in each])
    return setup._replace(diagnostics=diagnostics)
