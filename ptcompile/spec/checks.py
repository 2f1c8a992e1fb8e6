"""What a JSON Schema cannot say of a spec or a profile.

The models run these functions as validators, and name them in the schema as `x-check`: there `reader` finds them.
Each gives the value that is kept, and raises ValueError with the reason in plain words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ptcompile._internal.lazy import Pattern
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.pod_spec import MERGE_KEYS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, Protocol, TypeVar

    TopologyT = TypeVar("TopologyT", bound="_Topology")
    ProfileSpecT = TypeVar("ProfileSpecT", bound="_ProfileSpec")

    class _Topology(Protocol):
        def given(self) -> dict[str, Any]: ...

    class _ProfileSpec(Protocol):
        @property
        def queue_system(self) -> str | None: ...
        @property
        def gang_scheduler(self) -> str | None: ...


MAIN = "pytorch"
"""What a pod template calls the container that trains."""

_METADATA = {"labels", "annotations"}
_LISTS = (*MERGE_KEYS, "tolerations", "envFrom")
_MAPPINGS = ("nodeSelector", "affinity", "securityContext", "dnsConfig")
_NOT_HERE = {
    "hostname": "the target names each pod",
    "subdomain": "the target names each pod",
    "restartPolicy": "the job decides it, and each target has its own",
}
_NOT_IN_MAIN = {
    "command": "the job decides what runs",
    "args": "the job decides what runs",
    "resources": "set it in defaults.requests and defaults.limits",
}


def check(template: dict[str, Any]) -> dict[str, Any]:
    """The template as it is. Raises ValueError with the first place inside it that is wrong, and the reason."""
    reason = next(_reasons(template), None)
    if reason is not None:
        raise ValueError(reason)
    return template


def _reasons(template: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong. Only the first is asked for, so that each check may rely on those before it."""
    for key in template.keys() - {"metadata", "spec"}:
        yield f"{key}: a pod template has metadata and spec"
    metadata, spec = template.get("metadata", {}), template.get("spec", {})
    if not isinstance(metadata, Mapping) or not isinstance(spec, Mapping):
        yield "metadata and spec are mappings"
    for key, words in metadata.items():
        if key not in _METADATA:
            yield f"metadata.{key}: a template can give its pods only labels and annotations"
        if not isinstance(words, Mapping) or not all(isinstance(one, str) for one in words.values()):
            yield f"metadata.{key}: is not a mapping of text"
    yield from _pod(spec)


def _pod(spec: Mapping[str, Any]) -> Iterator[str]:
    for key, reason in _NOT_HERE.items():
        if key in spec:
            yield f"spec.{key}: {reason}"
    for key, value in spec.items():
        if value is None:
            yield f"spec.{key}: is null: remove it"
    yield from _shapes("spec", spec, _LISTS, _MAPPINGS)
    yield from _affinity(spec.get("affinity", {}))
    for key in ("containers", "initContainers"):
        for i, container in enumerate(spec.get(key, ())):
            at = f"spec.{key}[{i}]"
            if not isinstance(container.get("name"), str):
                yield f"{at}.name: is missing"
            yield from _shapes(at, container, _LISTS, ("securityContext", "resources"))
            if key == "containers" and container.get("name") == MAIN:
                yield from (f"{at}.{word}: {reason}" for word, reason in _NOT_IN_MAIN.items() if word in container)


def _shapes(at: str, value: Mapping[str, Any], lists: tuple[str, ...], mappings: tuple[str, ...]) -> Iterator[str]:
    for key in lists:
        items = value.get(key, [])
        if not isinstance(items, list) or not all(isinstance(one, Mapping) for one in items):
            yield f"{at}.{key}: is not a list of mappings"
    for key in mappings:
        if not isinstance(value.get(key, {}), Mapping):
            yield f"{at}.{key}: is not a mapping"


def _affinity(affinity: Mapping[str, Any]) -> Iterator[str]:
    """What stands in the way of one more requirement in each term."""
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    at, node = "spec.affinity", affinity
    for key in ("nodeAffinity", required):
        yield from _shapes(at, node, (), (key,))
        at, node = f"{at}.{key}", node.get(key, {})
    yield from _shapes(at, node, ("nodeSelectorTerms",), ())
    for i, term in enumerate(node.get("nodeSelectorTerms", ())):
        yield from _shapes(f"{at}.nodeSelectorTerms[{i}]", term, ("matchExpressions",), ())


def in_schema(schema: dict[str, Any]) -> None:
    """Write what a JSON Schema can say of all this into the field's: of one mind with `check`."""
    words = {"type": "object", "additionalProperties": {"type": "string"}}
    container = {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}, **_schema_of(_LISTS, ("securityContext", "resources"))},
    }
    own = {"if": {"properties": {"name": {"const": MAIN}}}, "then": {"properties": dict.fromkeys(_NOT_IN_MAIN, False)}}
    term = {"type": "object", "properties": _schema_of(("matchExpressions",), ())}
    terms = {"nodeSelectorTerms": {"type": "array", "items": term}}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"type": "object", "properties": terms}}
    spec = {
        **_schema_of(_LISTS, _MAPPINGS),
        **dict.fromkeys(_NOT_HERE, False),
        "containers": {"type": "array", "items": {**container, **own}},
        "initContainers": {"type": "array", "items": container},
        "affinity": {"type": "object", "properties": {"nodeAffinity": {"type": "object", "properties": required}}},
    }
    metadata = dict.fromkeys(sorted(_METADATA), words)
    parts = {
        "metadata": {"type": "object", "properties": metadata, "additionalProperties": False},
        "spec": {"type": "object", "properties": spec, "additionalProperties": {"not": {"type": "null"}}},
    }
    schema.update({"properties": parts, "additionalProperties": False, "x-check": "pod-template"})


def _schema_of(lists: tuple[str, ...], mappings: tuple[str, ...]) -> dict[str, Any]:
    of_mappings = {"type": "array", "items": {"type": "object"}}
    return {**dict.fromkeys(lists, of_mappings), **{key: {"type": "object"} for key in mappings}}


NO_SCHEDULER: Final = frozenset({"kueue", None})
"""Queue systems that place no pods. The others are schedulers: what they admit they also place."""

_NNODES = Pattern(r"([0-9]{1,9})(?::([0-9]{1,9}))?")


def nnodes_range(value: int | str) -> tuple[int, int]:
    """`nnodes` as torchrun reads it: (fewest, most). Raises ValueError with the reason in plain words."""
    match = _NNODES.fullmatch(str(value))
    if match is None:
        raise ValueError(f"{value!r} is neither a number of nodes nor a range MIN:MAX, such as 4 or '2:4'")
    least, most = int(match[1]), int(match[2] or match[1])
    if least < 1:
        raise ValueError(f"{value!r} asks for {least} nodes: at least one is needed")
    if least > most:
        raise ValueError(f"{value!r} has more nodes as its minimum ({least}) than as its maximum ({most})")
    return least, most


def nnodes(value: Any) -> int | str:
    """torchrun's `nnodes`, as it stands."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError("must be a number of nodes or a range MIN:MAX")
    nnodes_range(value)
    return value


def interval(value: Any) -> int | float:
    """Seconds above 0, of which torchrun takes fractions."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number of seconds")
    if not 0 < value < float("inf"):
        raise ValueError("must be finite and above 0")
    return value


def as_text(value: Any) -> Any:
    """A number as the text that Kubernetes would keep; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return repr(value)


def amount(value: Any) -> str:
    """A Kubernetes quantity that is not negative, as text."""
    text = as_text(value)
    if not isinstance(text, str) or not quantity.valid(text):
        raise ValueError(f"{text!r} is not a Kubernetes quantity")
    if text.lstrip(" ").startswith("-"):
        raise ValueError(f"{text!r} is negative")
    return text


def one_level(topology: TopologyT) -> TopologyT:
    """Nearness by exactly one level."""
    if len(topology.given()) != 1:
        raise ValueError("set exactly one of `required` and `preferred`")
    return topology


def own_scheduler(profile: ProfileSpecT) -> ProfileSpecT:
    """A profile whose queues and gang scheduler agree."""
    other_than_the_queues(profile.queue_system, profile.gang_scheduler)
    return profile


def other_than_the_queues(system: str | None, scheduler: str | None) -> None:
    """Raises where the queues are a scheduler's, and the gang scheduler is another."""
    if scheduler is not None and system not in NO_SCHEDULER and scheduler != system:
        raise ValueError(f"the queues of {system} imply its scheduler: remove it, or write {system}")


CHECKS: Final[dict[str, Callable[[Any], Any]]] = {
    "nnodes": nnodes,
    "quantity": amount,
    "interval": interval,
    "pod-template": check,
    "one-level": one_level,
    "own-scheduler": own_scheduler,
}
"""By the name that a schema calls them in `x-check`."""


def split_endpoint(text: str) -> tuple[str, int] | None:
    """HOST:PORT as host and port; None where it is not that."""
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdigit()) or not 1 <= int(port[:6]) <= 65535:
        return None
    return host, int(port)
