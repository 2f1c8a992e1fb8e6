"""An object of Kueue names one that is not among those of the stream.

PTC267 dangling-queue-reference: warning at run (waits), by kueue.
Needs: kueue @ClusterQueue/@ResourceFlavor/@AdmissionCheck/@Topology

What: a ClusterQueue names a ResourceFlavor or AdmissionCheck, a ResourceFlavor a Topology, or a
LocalQueue a ClusterQueue that the stream does not have, although it has others of that kind. A
stream without any is not checked: they may be in the cluster. An AdmissionCheck is looked for as
soon as the stream has the flavors of the ClusterQueue.

Why: a ClusterQueue whose flavors or checks are missing is inactive and admits nothing ("references
missing ResourceFlavor(s)"). The jobs of its queues stay suspended.

Example:

      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ClusterQueue
      metadata: {name: research}
      spec:
        resourceGroups:
          - coveredResources: [cpu, memory]
            flavors:
    -         - name: h100  # <--
    +         - name: h100-80gb
                resources: [{name: cpu, nominalQuota: 16}, {name: memory, nominalQuota: 1Ti}]
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ResourceFlavor
      metadata: {name: h100-80gb}
      spec: {}

Fix: name one of the stream's objects, or add the missing one.

Source: Kueue 0.19, pkg/cache/scheduler/clusterqueue.go (inactiveReason).
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.spelling import closest_match
from ptcompile.diagnostics import Path
from ptcompile.kinds.templates import indexed_mappings
from ptcompile.kubernetes.unstructured import (
    as_list,
    as_string,
    kind_of,
    nested_string,
    nested_value,
    object_name,
)
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.kueue.queues import PREFIX
from ptcompile.world.workload import Stream

_CONSEQUENCES = {
    "ResourceFlavor": "so the ClusterQueue admits nothing",
    "AdmissionCheck": "so the ClusterQueue admits nothing",
    "Topology": "so ClusterQueues with this flavor admit nothing",
    "ClusterQueue": "so its jobs stay suspended",
}


def check(subject: Subject) -> Findings:
    names = subject.stream.cached(_names_by_kind)
    references = [*_references(subject)]
    flavors = {name for _, kind, name in references if kind == "ResourceFlavor"}
    has_flavors = bool(flavors) and flavors <= names.get("ResourceFlavor", frozenset())
    for path, kind, name in references:
        defined = names.get(kind, frozenset())
        is_complete = bool(defined) or (kind == "AdmissionCheck" and has_flavors)
        if not is_complete or not name or name in defined:
            continue

        names_in_order = sorted(defined)
        if suggestion := closest_match(name, names_in_order):
            help = f"did you mean {suggestion}?"
        elif defined:
            help = f"add it, or name {' or '.join(names_in_order[:3])}"
        else:
            help = "add it"
        yield found_at(
            path,
            f"the stream has no {kind} {name}, {_CONSEQUENCES[kind]} unless the cluster has it",
            help,
        )


def _names_by_kind(stream: Stream) -> dict[str, frozenset[str]]:
    """Return the names of Kueue's objects in the stream, by kind."""
    names: dict[str, set[str]] = {}
    for manifest in stream.objects:
        kind = kind_of(manifest)
        if kind.api_version.startswith(PREFIX):
            names.setdefault(kind.name, set()).add(object_name(manifest))
    return {kind: frozenset(items) for kind, items in names.items()}


def _references(subject: Subject) -> Iterator[tuple[Path, str, str]]:
    """Yield the path, kind and name of each object that this one refers to."""
    if subject.kind.name == "ClusterQueue":
        yield from _queue_references(subject)
    elif subject.kind.name == "ResourceFlavor":
        yield ("spec", "topologyName"), "Topology", nested_string(subject.spec, "topologyName")
    else:
        yield ("spec", "clusterQueue"), "ClusterQueue", nested_string(subject.spec, "clusterQueue")


def _queue_references(subject: Subject) -> Iterator[tuple[Path, str, str]]:
    """Yield the path, the kind and the name of each object that a ClusterQueue refers to."""
    for i, group in indexed_mappings(subject.spec.get("resourceGroups")):
        for j, flavor in indexed_mappings(group.get("flavors")):
            path = ("spec", "resourceGroups", i, "flavors", j, "name")
            yield path, "ResourceFlavor", nested_string(flavor, "name")
    for i, name in enumerate(as_list(subject.spec.get("admissionChecks"))):
        yield ("spec", "admissionChecks", i), "AdmissionCheck", as_string(name)
    strategy = nested_value(subject.spec, "admissionChecksStrategy", "admissionChecks")
    for i, item in indexed_mappings(strategy):
        check_path = ("spec", "admissionChecksStrategy", "admissionChecks", i, "name")
        yield check_path, "AdmissionCheck", nested_string(item, "name")
