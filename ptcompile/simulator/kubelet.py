"""Values that the kubelet computes: `$(X)` in env, command and args, and the QoS class.

Source: Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.limits import Budget
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kinds.pods import ContainerView, PodView, reference
from ptcompile.kinds.templates import indexed_mappings
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.unstructured import (
    Json,
    as_string,
    as_text,
    nested_map,
    nested_maps,
    nested_string,
    nested_value,
)
from ptcompile.simulator.mounted import data_keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

    from ptcompile.simulator.mounted import FindObject

    FindText = Callable[[str, str], str | None]
    """Takes the name of a ConfigMap and a key; returns its text, or None if it is not known."""


def expand_vars(text: str, env: Mapping[str, str], budget: Budget | None = None) -> str:
    """Replace each `$(X)` with the value of X. Unknown names are left unchanged; `$$` becomes `$`.

    A text whose expansion exceeds the budget is returned unchanged.
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


def container_variables(values: Mapping[str, str], text_of: FindText) -> Mapping[str, str]:
    """Return the variables of a container's processes, with texts of ConfigMaps."""
    if "<configmap:" in "\0".join(values.values()):
        return _VariablesWithTexts(values, text_of)
    return values


class _VariablesWithTexts(Mapping[str, str]):
    """Variables of which some have texts of ConfigMaps. A text is looked up when its variable is
    read: one that names all pods would cost each of them.
    """

    def __init__(self, values: Mapping[str, str], text_of: FindText) -> None:
        self._values = values
        self._text_of = text_of

    def __getitem__(self, name: str) -> str:
        return _configmap_text.sub(self._known_text, self._values[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def _known_text(self, match: re.Match[str]) -> str:
        text = self._text_of(match["name"], match["key"])
        return match.group() if text is None else text


_configmap_text = Pattern(r"<configmap:(?P<name>[^/<>]+)/(?P<key>[^<>]+)>")


class EnvFromEntry(NamedTuple):
    """One entry of a container's `envFrom`."""

    position: int
    """Its index."""
    prefix: str
    kind: str
    name: str
    """The name of the ConfigMap or Secret."""
    keys: tuple[str, ...] | None
    """The keys that become variables, or None if the stream does not have the object."""

    @property
    def variables(self) -> dict[str, str]:
        """The variables, each as `<configmap:NAME/KEY>` or `<secret:NAME/KEY>`."""
        return {
            f"{self.prefix}{key}": f"<{self.kind.lower()}:{self.name}/{key}>"
            for key in self.keys or ()
        }


def env_sources(container: Json, find: FindObject) -> Iterator[EnvFromEntry]:
    """Yield the entries of a container's `envFrom`, in order."""
    for index, source in indexed_mappings(container.get("envFrom")):
        field = next((field for field in _ENV_FROM_KINDS if source.get(field)), "")
        name = nested_string(source, field, "name")
        kind = _ENV_FROM_KINDS.get(field, "")
        manifest = find(kind, name)
        keys = None if manifest is None else tuple(data_keys(manifest, ("data", "stringData")))
        yield EnvFromEntry(index, nested_string(source, "prefix"), kind, name, keys)


def imported_names(container: Json, find: FindObject) -> frozenset[str] | None:
    """Return the names of the variables of `envFrom`, or None if the stream lacks one of its
    objects.
    """
    sources = [*env_sources(container, find)]
    if any(source.keys is None for source in sources):
        return None
    return frozenset(name for source in sources for name in source.variables)


_ENV_FROM_KINDS = {"configMapRef": "ConfigMap", "secretRef": "Secret"}


def environment(
    container: ContainerView,
    pod: PodView,
    budget: Budget | None = None,
    imported: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return the variables of the container's processes in order; the last of several entries with
    one name wins.

    A reference sees only earlier entries, and the variables `imported` before them, by
    envFrom. A value that is not in the pod (a Secret's or a ConfigMap's, a pod's IP) becomes
    `<source>`, such as `<secret:hf/token>`.
    """
    budget = budget or Budget()
    out: dict[str, str] = dict(imported or {})
    for entry in container.env:
        name = as_string(entry.get("name"))
        env_value = entry.get("value")
        # most values are plain strings
        if type(env_value) is not str or not env_value or "$" in env_value:
            env_value = _expand_entry(entry, pod, out, budget)
        out.pop(name, None)
        out[name] = env_value

    return out


def _expand_entry(entry: Json, pod: PodView, env: Mapping[str, str], budget: Budget) -> str:
    if entry.get("value") not in (None, ""):
        return expand_vars(as_text(entry["value"]), env, budget)

    source = nested_map(entry, "valueFrom")
    if "fieldRef" not in source:
        source_name = reference(source)
        # the most frequent source: Volcano adds two of these to each pod for every task
        if source_name is not None:
            return f"<{source_name}>"
    elif type(field := source["fieldRef"]) is dict or isinstance(field, Mapping):
        path = nested_string(field, "fieldPath")
        field_value = _downward_field(path, pod)
        if budget.allows(len(field_value), path):
            return field_value
        return f"<{path}>"
    if any(isinstance(definition, Mapping) for definition in source.values()):
        return f"<{next(iter(source))}>"

    return ""


def _downward_field(path: str, pod: PodView) -> str:
    """Return the value of a downward API field if the manifest decides it, else `<path>`."""
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
    """Return command and args with `$(X)` expanded; each is None if the image's own is used."""
    budget = budget or Budget()

    def expand(words: tuple[str, ...] | None) -> list[str] | None:
        if words is None:
            return None
        return [expand_vars(word, env, budget) for word in words]

    return expand(container.command), expand(container.args)


_QOS_RESOURCES = ("cpu", "memory")
_SECTIONS = ("requests", "limits")
_CONTAINER_LISTS = ("initContainers", "containers")


def qos_class(spec: Json) -> str:
    """Return `Guaranteed`, `Burstable` or `BestEffort`.

    If pod-level resources are set, only they count. A pod that requests only GPUs is BestEffort. A
    missing request equals its limit.
    """
    if is_best_effort(spec):
        return "BestEffort"

    quantities = [
        (_positive_quantities(resources, "requests"), _positive_quantities(resources, "limits"))
        for resources in _deciding_resources(spec)
    ]
    equal = all(
        len(limits) == 2 and {**limits, **requests} == limits for requests, limits in quantities
    )

    return "Guaranteed" if equal else "Burstable"


def is_best_effort(spec: Json) -> bool:
    """Return whether no container has a request or limit for cpu or memory."""
    return not any(
        quantity.parse(nested_value(resources, section, name))
        for resources in _deciding_resources(spec)
        for section in _SECTIONS
        for name in _QOS_RESOURCES
    )


def _deciding_resources(spec: Json) -> list[Json]:
    """Return the resources that decide the class: those of the pod if it has any, else those of
    its containers.
    """
    pod_level = nested_map(spec, "resources")
    if pod_level:
        return [pod_level]
    return [
        nested_map(container, "resources")
        for key in _CONTAINER_LISTS
        for container in nested_maps(spec, key)
    ]


def _positive_quantities(resources: Json, kind: str) -> dict[str, quantity.Quantity]:
    """Return the quantities of cpu and memory that are above zero."""
    quantities: dict[str, quantity.Quantity] = {}
    for name in _QOS_RESOURCES:
        parsed = quantity.parse(nested_value(resources, kind, name))
        if parsed:
            quantities[name] = parsed
    return quantities
