"""What the kubelet makes of a pod: `$(X)` in env, command and args, and the QoS class (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.limits import Budget
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.unstructured import as_mapping, as_mappings, as_string, nested_map
from ptcompile.registry.pods import ContainerView, PodView, reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json


def expand_vars(text: str, env: Mapping[str, str], budget: Budget | None = None) -> str:
    """`$(X)` replaced by the value of X. An unknown name stays as it is, `$$` becomes `$`.

    A text that exceeds the budget stays as it is written.
    """
    if "$" not in text:
        return text
    budget = budget or Budget()
    out: list[str] = []
    start = 0
    while (dollar := text.find("$", start)) >= 0 and dollar + 1 < len(text):
        out.append(text[start:dollar])
        following = text[dollar + 1]
        end = text.find(")", dollar + 2) if following == "(" else -1
        if end >= 0:
            name = text[dollar + 2 : end]
            replacement = env.get(name)
            if replacement is not None and not budget.allows(len(replacement), text):
                return text
            out.append(f"$({name})" if replacement is None else replacement)
            start = end + 1
        else:
            out.append("$" if following == "$" else "$" + following)
            start = dollar + 2
    out.append(text[start:])
    return "".join(out)


def environment(container: ContainerView, pod: PodView, budget: Budget | None = None) -> dict[str, str]:
    """The values that the container's processes see, in the order written; of two with one name the last one stands.

    A reference sees only what stands before it. A value that no manifest holds (a Secret's, a pod's IP) reads
    `<source>`, for example `<secret:hf/token>`.
    """
    budget = budget or Budget()
    out: dict[str, str] = {}
    for entry in container.env:
        name, env_value = as_string(entry.get("name")), entry.get("value")
        if type(env_value) is not str or not env_value or "$" in env_value:  # most are plain texts
            env_value = _value(entry, pod, out, budget)
        out.pop(name, None)
        out[name] = env_value
    return out


def value(entry: Json, pod: PodView) -> str:
    """What one env entry gives, whose text refers to no other variable."""
    return _value(entry, pod, {}, Budget())


def _value(entry: Json, pod: PodView, env: Mapping[str, str], budget: Budget) -> str:
    if entry.get("value"):
        return expand_vars(as_string(entry["value"]), env, budget)
    source = as_mapping(entry.get("valueFrom"))
    if "fieldRef" not in source:
        known = reference(source)
        if known is not None:  # Volcano gives each pod two of these for every task
            return f"<{known}>"
    elif type(field := source["fieldRef"]) is dict or isinstance(field, Mapping):
        path = as_string(field.get("fieldPath"))
        field_value = _field(path, pod)
        return field_value if budget.allows(len(field_value), path) else f"<{path}>"
    return f"<{next(iter(source))}>" if any(isinstance(one, Mapping) for one in source.values()) else ""


def _field(path: str, pod: PodView) -> str:
    """The value of a downward API field, where the manifest decides it."""
    if path.endswith("']"):
        key, _, name = path[:-2].partition("['")
        values = {"metadata.labels": pod.labels, "metadata.annotations": pod.annotations}.get(key)
        if values is not None:
            return values.get(name, "")
    if path == "metadata.namespace":
        return pod.namespace
    if path == "metadata.name" and not pod.random_suffix:
        return pod.name
    return f"<{path}>"


def command_line(
    container: ContainerView, env: Mapping[str, str], budget: Budget | None = None
) -> tuple[list[str] | None, list[str] | None]:
    """Command and args with `$(X)` replaced; None where the image's own are used."""
    budget = budget or Budget()
    command, args = container.command, container.args
    return (
        None if command is None else [expand_vars(word, env, budget) if "$" in word else word for word in command],
        None if args is None else [expand_vars(word, env, budget) if "$" in word else word for word in args],
    )


_DECISIVE = ("cpu", "memory")
_HALVES = ("requests", "limits")
_KEYS = ("initContainers", "containers")


def qos_class(spec: Json) -> str:
    """`Guaranteed`, `Burstable` or `BestEffort`.

    Pod-level resources, where present, decide alone. A GPU alone makes a pod BestEffort. A request that is not
    written equals the limit.
    """
    if is_best_effort(spec):
        return "BestEffort"
    amounts = [(_amounts(o, "requests"), _amounts(o, "limits")) for o in _owners(spec)]
    equal = all(len(limits) == 2 and {**limits, **requests} == limits for requests, limits in amounts)
    return "Guaranteed" if equal else "Burstable"


def is_best_effort(spec: Json) -> bool:
    """Whether nothing asks for cpu or memory."""
    return not any(
        quantity.parse(nested_map(one, half).get(name))
        for one in _owners(spec)
        for half in _HALVES
        for name in _DECISIVE
    )


def _owners(spec: Json) -> list[Json]:
    """The resources that decide: the pod's own where it has some, else those of its containers."""
    pod_level = nested_map(spec, "resources")
    return [pod_level] if pod_level else [nested_map(c, "resources") for k in _KEYS for c in as_mappings(spec.get(k))]


def _amounts(resources: Json, kind: str) -> dict[str, quantity.Quantity]:
    """The positive amounts of cpu and memory."""
    out: dict[str, quantity.Quantity] = {}
    for name in _DECISIVE:
        amount = quantity.parse(nested_map(resources, kind).get(name))
        if amount:
            out[name] = amount
    return out
