"""What jobs need of nodes: how many pods with which resources, labels and taints, and whether the cluster has them.

Pure: manifests and node pools in, requirements out. What fits is the answer of kube-scheduler's filters, as for `lint`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.kubernetes.nodes import choices_of, requirement_text
from ptcompile.kubernetes.unstructured import Json, as_mappings, as_string, kind_of, object_name, string_map
from ptcompile.linter.placement import gang_misfits, placements_of
from ptcompile.linter.rule import subject_of
from ptcompile.operators.table import JOB_KINDS
from ptcompile.requirements.jobs import Requirement
from ptcompile.world.nodes import Pools
from ptcompile.world.workload import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.versions import Versions


def requires_of_nodes(manifests: Sequence[Json], versions: Versions, pools: Pools | None) -> Iterator[Requirement]:
    """Yield what the pods of the jobs among the manifests need of nodes, and which of the pools give it."""
    stream = Stream(manifests, versions, pools=pools)
    known = pools or Pools(())
    for manifest in manifests:
        if kind_of(manifest) not in JOB_KINDS:
            continue

        subject = subject_of(manifest, stream)
        least = subject.min_nodes_to_start
        gang = f", {least} at once" if least > 1 else ""
        name = f"{kind_of(manifest)[1]}/{object_name(manifest)}"
        for template, placement in placements_of(subject, known):
            if template.replicas:
                role = " of ".join(filter(None, [template.role, name]))
                needs = [f"{amount} {name}" for name, amount in placement.pod.requests if name != "pods"]
                size = f"{template.replicas} with {', '.join(needs) or 'no requests'}"
                yield Requirement("pods", size, "", f"{role}{gang}")
                yield from _marks(placement.pod.spec)
                if pools is not None:
                    yield Requirement("nodes", placement.text(), "", role)
        for finding in gang_misfits(subject, known):
            yield Requirement("nodes", finding.text, "", name)


def _marks(spec: Json) -> Iterator[Requirement]:
    """Yield the labels that a pod requires of its node, and the taints that it tolerates."""
    for key, value in string_map(spec.get("nodeSelector")).items():
        yield Requirement("label", f"{key}={value}", "", "on its nodes")
    choices = choices_of({**spec, "nodeSelector": None})
    required = [" and ".join(map(requirement_text, choice)) for choice in choices]
    if any(required):
        yield Requirement("label", " or ".join(required), "", "on its nodes")
    for toleration in as_mappings(spec.get("tolerations")):
        key, value, effect = (as_string(toleration.get(field)) for field in ("key", "value", "effect"))
        named = "=".join(filter(None, [key or "any", value]))
        yield Requirement("taint", ":".join(filter(None, [named, effect])), "", "tolerated")
