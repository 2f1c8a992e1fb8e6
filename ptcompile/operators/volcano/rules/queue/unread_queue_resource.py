"""A queue of Volcano limits or guarantees a resource that does not exist.

PTC269 unread-queue-resource: warning at run (differs), by volcano.
Needs: capability/deserved/guarantee

What: capability, deserved or guarantee of a Queue has a key that is no resource name: neither cpu,
memory, pods, ephemeral-storage or hugepages, nor a name with a domain such as nvidia.com/gpu.

Why: Volcano leaves it out. The queue has no limit, or no guarantee, for what was meant.

Example:

      apiVersion: scheduling.volcano.sh/v1beta1
      kind: Queue
      metadata: {name: research}
      spec:
        weight: 1
        capability:
          cpu: 512
    -     mem: 4Ti  # <--
    +     memory: 4Ti

Fix: write the resource as pods request it.

Source: Volcano 1.16, pkg/scheduler/api/resource_info.go: NewResource.
"""

from __future__ import annotations

from ptcompile._internal.spelling import closest_match
from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.linter.rule import Findings, Subject, found_at

_LISTS = (("capability",), ("deserved",), ("guarantee", "resource"))
_NATIVE = frozenset({"cpu", "memory", "pods", "ephemeral-storage"})
_PREFIXES = ("hugepages-", "attachable-volumes-")
_OTHER_NAMES = {
    "mem": "memory",
    "ram": "memory",
    "gpu": "nvidia.com/gpu",
    "gpus": "nvidia.com/gpu",
    "cpus": "cpu",
    "storage": "ephemeral-storage",
}


def check(subject: Subject) -> Findings:
    for keys in _LISTS:
        amounts = nested_map(subject.spec, *keys)
        for name in map(str, amounts):
            if "/" in name or name in _NATIVE or name.startswith(_PREFIXES):
                continue

            path = ("spec", *keys, name)
            suggestion = _OTHER_NAMES.get(name.lower()) or closest_match(name, sorted(_NATIVE))
            fix = None
            if suggestion:
                edit = Edit("rename", path, suggestion)
                fix = Fix(f"rename it to {suggestion}", (edit,))

            yield found_at(
                path,
                f"{name} is not a resource, so Volcano ignores it",
                f"did you mean {suggestion}?"
                if suggestion
                else "write the resource as pods request it",
                fix if suggestion not in amounts else None,
                on_key=True,
            )
