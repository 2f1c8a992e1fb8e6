"""Which Kubernetes will do: the oldest that the operators ask for and that takes a job's manifests as they are written.

What ptcompile writes depends on the releases that the profile names, so the answer is for that profile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptcompile.findings.diagnostics import Problem
from ptcompile.kubernetes.versions import Version, parse_version
from ptcompile.operators.record import Operator
from ptcompile.validate.schemas import versions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.vocabulary.cluster.model import ClusterProfile
    from ptcompile.vocabulary.spec import Spec


def asked_for(operator: Operator, cluster: ClusterProfile) -> Version | None:
    """The oldest Kubernetes that an operator's documentation asks for, in the release that the profile names."""
    release = operator.release_in(cluster.versions())
    rows = [kubernetes for since, kubernetes in operator.install.kubernetes if since <= release]
    return rows[-1] if rows else None


def taken_by(spec: Spec, cluster: ClusterProfile, target: str) -> Version:
    """The oldest Kubernetes for which a job compiles to the same manifests, of the releases that have a schema here."""
    from ptcompile.compiling.compiler import compile_document

    data = {"apiVersion": spec.api_version, "kind": spec.kind, **spec.document(given=True)}
    manifests, oldest = compile_document(data, cluster, target).manifests, cluster.versions().kubernetes
    for known in reversed(versions()):
        if parse_version(known) >= oldest:
            continue
        older = cluster.but(spec=cluster.spec.but(versions=cluster.spec.versions.but(kubernetes=known)))
        if compile_document(data, older, target).manifests != manifests:
            break
        oldest = parse_version(known)
    return oldest


def first_known() -> Version:
    """The first release of Kubernetes that has a schema here: what an older one accepts is unknown."""
    return parse_version(versions()[0])


def too_old(operators: Iterable[Operator], cluster: ClusterProfile) -> Iterator[Problem]:
    """The operators that ask for a newer Kubernetes than the profile names."""
    have = cluster.versions().kubernetes
    for one in dict.fromkeys(operators):
        wanted = asked_for(one, cluster)
        if wanted is not None and have < wanted:
            release, software = _text(one.release_in(cluster.versions())), one.install.software
            yield Problem(
                "kubernetes-too-old",
                ("spec", "versions", "kubernetes"),
                f"spec.versions.kubernetes: {software} {release} requires Kubernetes {_text(wanted)} or newer, "
                f"and this is {_text(have)}",
                f"name Kubernetes {_text(wanted)}, or the older {software} that the cluster runs",
                severity="warning",
                stage="style",
                authority="ptcompile",
            )


def _text(version: Version) -> str:
    return f"{version[0]}.{version[1]}"
