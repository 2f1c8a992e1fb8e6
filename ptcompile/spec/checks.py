"""Checks of specs and profiles that JSON Schema cannot express.

The models run these functions as validators and name them in the schema as `x-check`, where
`reader` looks them up. Each returns the value to keep, and raises ValueError with a human-readable
reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.spelling import is_short_number
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.pod_spec import MERGE_KEYS, REQUIRED
from ptcompile.kubernetes.unstructured import Json, JsonDict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol, TypeVar

    TopologyT = TypeVar("TopologyT", bound="_Topology")
    ProfileSpecT = TypeVar("ProfileSpecT", bound="_ProfileSpec")

    class _Topology(Protocol):
        def non_null_fields(self) -> JsonDict: ...

    class _ProfileSpec(Protocol):
        @property
        def queue_system(self) -> str | None: ...
        @property
        def gang_scheduler(self) -> str | None: ...


MAIN = "pytorch"
"""Name of the main container in a pod template."""

_METADATA_FIELDS = {"labels", "annotations"}
_LIST_FIELDS = (*MERGE_KEYS, "tolerations", "envFrom")
_MAPPING_FIELDS = ("nodeSelector", "affinity", "securityContext", "dnsConfig")
_FORBIDDEN_POD_FIELDS = {
    "hostname": "the target names each pod",
    "subdomain": "the target names each pod",
    "restartPolicy": "the job decides it, and each target has its own",
}
_FORBIDDEN_MAIN_FIELDS = {
    "command": "the job decides what runs",
    "args": "the job decides what runs",
    "resources": "set it in defaults.requests and defaults.limits",
}


def check_pod_template(template: JsonDict) -> JsonDict:
    """Return the template unchanged. Raises ValueError with the first invalid path inside it,
    and the reason.
    """
    problem = next(_template_problems(template), None)
    if problem is not None:
        raise ValueError(problem)
    return template


def _template_problems(template: Json) -> Iterator[str]:
    """Yield what is wrong with a template. The caller stops at the first problem, so checks may
    rely on those before them.
    """
    for key in template.keys() - {"metadata", "spec"}:
        yield f"{key}: a pod template has metadata and spec"
    metadata = template.get("metadata", {})
    spec = template.get("spec", {})
    if not isinstance(metadata, Mapping) or not isinstance(spec, Mapping):
        yield "metadata and spec are mappings"
    for key, texts in metadata.items():
        if key not in _METADATA_FIELDS:
            yield f"metadata.{key}: a template can give its pods only labels and annotations"
        if not isinstance(texts, Mapping) or not all(
            isinstance(text, str) for text in texts.values()
        ):
            yield f"metadata.{key}: is not a mapping of text"

    yield from _pod_problems(spec)


def _pod_problems(spec: Json) -> Iterator[str]:
    for key, reason in _FORBIDDEN_POD_FIELDS.items():
        if key in spec:
            yield f"spec.{key}: {reason}"
    for key, value in spec.items():
        if value is None:
            yield f"spec.{key}: is null: remove it"

    yield from _shape_problems("spec", spec, _LIST_FIELDS, _MAPPING_FIELDS)
    yield from _affinity_problems(spec.get("affinity", {}))

    for key in ("containers", "initContainers"):
        for i, container in enumerate(spec.get(key, ())):
            path = f"spec.{key}[{i}]"
            if not isinstance(container.get("name"), str):
                yield f"{path}.name: is missing"
            yield from _shape_problems(
                path, container, _LIST_FIELDS, ("securityContext", "resources")
            )
            if key == "containers" and container.get("name") == MAIN:
                yield from (
                    f"{path}.{field}: {reason}"
                    for field, reason in _FORBIDDEN_MAIN_FIELDS.items()
                    if field in container
                )


def _shape_problems(
    path: str, value: Json, lists: tuple[str, ...], mappings: tuple[str, ...]
) -> Iterator[str]:
    for key in lists:
        items = value.get(key, [])
        if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
            yield f"{path}.{key}: is not a list of mappings"
    for key in mappings:
        if not isinstance(value.get(key, {}), Mapping):
            yield f"{path}.{key}: is not a mapping"


def _affinity_problems(affinity: Json) -> Iterator[str]:
    """Yield the parts of an affinity to which no requirement could be added."""
    path = "spec.affinity"
    node = affinity
    for key in ("nodeAffinity", REQUIRED):
        yield from _shape_problems(path, node, (), (key,))
        path = f"{path}.{key}"
        node = node.get(key, {})

    yield from _shape_problems(path, node, ("nodeSelectorTerms",), ())
    for i, term in enumerate(node.get("nodeSelectorTerms", ())):
        yield from _shape_problems(
            f"{path}.nodeSelectorTerms[{i}]", term, ("matchExpressions",), ()
        )


def extend_schema(schema: JsonDict) -> None:
    """Add to a field's schema the part of `check_pod_template` that JSON Schema can express."""
    texts = {"type": "object", "additionalProperties": {"type": "string"}}
    container = {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            **_shape_schema(_LIST_FIELDS, ("securityContext", "resources")),
        },
    }

    main_rules = {
        "if": {"properties": {"name": {"const": MAIN}}},
        "then": {"properties": dict.fromkeys(_FORBIDDEN_MAIN_FIELDS, False)},
    }

    term = {"type": "object", "properties": _shape_schema(("matchExpressions",), ())}
    terms = {"nodeSelectorTerms": {"type": "array", "items": term}}
    required = {REQUIRED: {"type": "object", "properties": terms}}
    spec = {
        **_shape_schema(_LIST_FIELDS, _MAPPING_FIELDS),
        **dict.fromkeys(_FORBIDDEN_POD_FIELDS, False),
        "containers": {"type": "array", "items": {**container, **main_rules}},
        "initContainers": {"type": "array", "items": container},
        "affinity": {
            "type": "object",
            "properties": {"nodeAffinity": {"type": "object", "properties": required}},
        },
    }

    metadata = dict.fromkeys(sorted(_METADATA_FIELDS), texts)
    parts = {
        "metadata": {"type": "object", "properties": metadata, "additionalProperties": False},
        "spec": {
            "type": "object",
            "properties": spec,
            "additionalProperties": {"not": {"type": "null"}},
        },
    }
    schema.update({"properties": parts, "additionalProperties": False, "x-check": "pod-template"})


def _shape_schema(lists: tuple[str, ...], mappings: tuple[str, ...]) -> JsonDict:
    mapping_list = {"type": "array", "items": {"type": "object"}}
    return {**dict.fromkeys(lists, mapping_list), **{key: {"type": "object"} for key in mappings}}


NON_SCHEDULERS = frozenset({"kueue", None})
"""Queue systems that only admit pods. The others are schedulers too: they place the pods that
they admit.
"""

_NNODES = Pattern(r"(?P<least>[0-9]{1,9})(?::(?P<most>[0-9]{1,9}))?")


def nnodes_range(value: int | str) -> tuple[int, int]:
    """Return `nnodes` as the minimum and maximum that torchrun reads. Raises ValueError with a
    human-readable reason.
    """
    match = _NNODES.fullmatch(str(value))
    if match is None:
        raise ValueError(
            f"{value!r} is neither a number of nodes nor a range MIN:MAX, such as 4 or '2:4'"
        )

    minimum = int(match["least"])
    maximum = int(match["most"] or minimum)
    if minimum < 1:
        raise ValueError(f"{value!r} asks for {minimum} nodes: at least one is needed")
    if minimum > maximum:
        raise ValueError(
            f"{value!r} has more nodes as its minimum ({minimum}) than as its maximum ({maximum})"
        )

    return minimum, maximum


def check_nnodes(value: Any) -> int | str:
    """Return torchrun's `nnodes` unchanged."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError("must be a number of nodes or a range MIN:MAX")
    nnodes_range(value)
    return value


def check_interval(value: Any) -> int | float:
    """Return a positive number of seconds. torchrun accepts fractions."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number of seconds")
    if not 0 < value < float("inf"):
        raise ValueError("must be finite and above 0")
    return value


def as_text(value: Any) -> Any:
    """Return a number as the text that Kubernetes would store, and anything else unchanged."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return repr(value)


def check_amount(value: Any) -> str:
    """Return a non-negative Kubernetes quantity as text."""
    text = as_text(value)
    if not isinstance(text, str) or not quantity.is_quantity(text):
        raise ValueError(f"{text!r} is not a Kubernetes quantity")
    if text.lstrip(" ").startswith("-"):
        raise ValueError(f"{text!r} is negative")
    return text


def check_topology(topology: TopologyT) -> TopologyT:
    """Return a topology that sets exactly one level."""
    if len(topology.non_null_fields()) != 1:
        raise ValueError("set exactly one of `required` and `preferred`")
    return topology


def check_profile(profile: ProfileSpecT) -> ProfileSpecT:
    """Return a profile whose queue system and gang scheduler agree."""
    check_gang_scheduler(profile.queue_system, profile.gang_scheduler)
    return profile


def check_gang_scheduler(queue_system: str | None, gang_scheduler: str | None) -> None:
    """Raise ValueError if the queue system is a scheduler and `gang_scheduler` is a different
    one.
    """
    if (
        gang_scheduler is not None
        and queue_system not in NON_SCHEDULERS
        and gang_scheduler != queue_system
    ):
        raise ValueError(
            f"the queues of {queue_system} imply its scheduler: remove it, or write {queue_system}"
        )


CHECKS: dict[str, Callable[[Any], Any]] = {
    "nnodes": check_nnodes,
    "quantity": check_amount,
    "interval": check_interval,
    "pod-template": check_pod_template,
    "one-level": check_topology,
    "own-scheduler": check_profile,
}
"""Keyed by the names in a schema's `x-check`."""


def split_endpoint(text: str) -> tuple[str, int] | None:
    """Return the host and port of HOST:PORT, or None if the text does not have this form."""
    host, _, port = text.rpartition(":")
    if not host or not is_short_number(port) or not 1 <= int(port) <= 65535:
        return None
    return host, int(port)
