"""The verb `requires` as a function: what a cluster must have before jobs run."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile import arguments, streams
from ptcompile.findings.diagnostics import Diagnostic
from ptcompile.kubernetes.untyped import kind_of
from ptcompile.operators.pods import RUNS_PODS
from ptcompile.prerequisites.requirements import Requirement
from ptcompile.prerequisites.requirements import requires as needs
from ptcompile.typed import NamedTuple
from ptcompile.verbs import compile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.arguments import Given
    from ptcompile.kubernetes.untyped import Json
    from ptcompile.vocabulary.cluster.model import ClusterProfile
    from ptcompile.vocabulary.spec import Spec


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
    spec: Given | Spec,
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
    profile, found = compile.read_cluster(cluster)
    if profile is None:
        return Requirements((), tuple(found))
    if (manifests := given_manifests(spec, filename)) is not None:
        from ptcompile.prerequisites import of_manifests

        return Requirements(of_manifests.requires(manifests, profile), tuple(found))
    specs, told = jobs(spec, profile, target, filename)
    needed = dict.fromkeys(one for each in specs for one in needs(each, profile, target))
    return Requirements(tuple(needed), (*found, *told))


def given_manifests(spec: Given | Spec, filename: str | None) -> list[Json] | None:
    """The objects of a stream of manifests that has jobs and no spec of ours; None for any other stream."""
    read = streams.read(spec, filename, "spec")
    objects = [one for document in read.documents for _, one in streams.objects(document.data)]
    ours = any(map(streams.is_ours, objects))
    runs = any(kind_of(one) in RUNS_PODS for one in objects)
    return objects if runs and not ours and not read.problems else None


def jobs(
    spec: Given | Spec, profile: ClusterProfile, target: str | None, filename: str | None
) -> tuple[list[Spec], tuple[Diagnostic, ...]]:
    """The jobs of a stream where all of it compiles, else none; and what compiling says."""
    from ptcompile.frontends.spec import read_spec

    result = compile.compile(spec, target=target, cluster=profile, filename=filename, lint=False)
    if not result.ok:
        return [], result.diagnostics
    read = (read_spec(document.data)[0] for document in streams.read(spec, filename, "spec").documents)
    return [one for one in read if one is not None], result.diagnostics
