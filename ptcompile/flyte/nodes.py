"""A node of a flytekit 1.16 workflow: its task, what `with_overrides` says of it, and where its inputs come from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Unpack, cast

from ptcompile.findings.diagnostics import Problem, field_path
from ptcompile.flyte.convert import Converted
from ptcompile.flyte.existing import from_task
from ptcompile.flyte.knobs import Knobs, check_names
from ptcompile.flyte.launch import Entry
from ptcompile.flyte.tasks import Task
from ptcompile.flyte.words import Resources

RESOURCES = {1: "cpu", 2: "gpu", 3: "mem", 5: "ephemeral_storage"}
"""The fields of Resources by the numbers of flyteidl's `Resources.ResourceName`."""


class Open(NamedTuple):
    """An input whose value the workflow's file does not say."""

    why: str


def from_node(node: Any, **knobs: Unpack[Knobs]) -> Task:
    """The task of a workflow's node, with what `with_overrides` says of it; `knobs` are laid over both.

    Values that the workflow's function writes are its inputs. Those that come from another node, or are inputs of the
    workflow, have to be given as `inputs`.

    Raises:
        TypeError: it is not a node, or its entity is not a task with a function.
    """
    check_names(knobs)
    if not hasattr(node, "flyte_entity") or not hasattr(node, "bindings"):
        raise TypeError(f"{type(node).__name__} is not a flytekit node")
    return task_of(node, bound(node, {}), knobs)


def task_of(node: Any, values: Mapping[str, Any], knobs: Knobs) -> Task:
    """The node's task with inputs of these values; an open one is asked for, with the reason."""
    known = {name: value for name, value in values.items() if not isinstance(value, Open)}
    inner = from_task(node.flyte_entity, **cast("Knobs", overrides(node)))

    def finish(name: str, more: Knobs, called: Entry | None) -> Converted:
        said: dict[str, Any] = {**knobs, **more}
        if not said.get("script") and not said.get("command"):
            said["inputs"] = {**known, **(said.get("inputs") or {})}
        converted = inner.finish(name, cast("Knobs", said), called)
        return replace(converted, problems=tuple(_reasoned(one, values, name) for one in converted.problems))

    return replace(inner, finish=finish, name=_name(node, inner))


def overrides(node: Any) -> dict[str, Any]:
    """What a node says beside its task. A task_config is not here: flytekit writes it into the task itself."""
    metadata, task = node.metadata, node.flyte_entity
    retries = metadata.retries
    out = _extended(getattr(node, "_extended_resources", None)) | {
        "retries": getattr(retries, "retries", retries) or 0,
        "timeout": metadata.timeout or None,
        "interruptible": metadata.interruptible,
        "cache": getattr(metadata, "cacheable", None),
        "container_image": getattr(node, "_container_image", None),
        "pod_template": getattr(node, "_pod_template", None),
    }
    own = getattr(node, "_resources", None)
    for half in ("requests", "limits") if own is not None else ():
        # key by key, as Flyte's backend merges them
        base = getattr(getattr(task, "resources", None), half, None)
        said = {RESOURCES[one.name]: one.value for one in getattr(own, half) or () if one.name in RESOURCES}
        out[half] = Resources(**{key: said.get(key, getattr(base, key, None)) for key in RESOURCES.values()})
    return {key: value for key, value in out.items() if value is not None}


def _extended(resources: Any) -> dict[str, Any]:
    """The accelerator and the shared memory of flyteidl's `ExtendedResources`."""
    out: dict[str, Any] = {}
    if resources is None:
        return out
    if resources.HasField("gpu_accelerator"):
        device = resources.gpu_accelerator
        part = "unpartitioned" if device.unpartitioned else device.partition_size
        out["accelerator"] = f"{device.device}/{part}" if part else device.device
    if resources.HasField("shared_memory"):
        out["shared_memory"] = resources.shared_memory.size_limit or True
    return out


def bound(node: Any, scope: Mapping[str, Any]) -> dict[str, Any]:
    """A node's inputs by name. `scope` has the values of the workflow's own inputs."""
    return {one.var: _value(one.binding, scope) for one in node.bindings}


def _value(binding: Any, scope: Mapping[str, Any]) -> Any:
    """The value of a binding, or of a literal in one."""
    promise = getattr(binding, "promise", None)
    if promise is not None:
        return _promised(promise, scope)
    for items in (_inside(binding.collection), _inside(binding.map)):
        if items is None:
            continue
        values = [_value(one, scope) for one in (items.values() if isinstance(items, Mapping) else items)]
        unknown = next((one for one in values if isinstance(one, Open)), None)
        return unknown or (dict(zip(items, values, strict=True)) if isinstance(items, Mapping) else values)
    scalar = binding.scalar
    if getattr(scalar, "union", None) is not None:
        return _value(scalar.union.value, scope)
    if scalar.none_type is not None:
        return None
    if scalar.primitive is not None:
        return scalar.primitive.value
    if scalar.binary is not None and scalar.binary.tag == "msgpack":
        from msgpack import unpackb  # flytekit's own: it packs dataclasses by it

        return unpackb(scalar.binary.value)
    return Open("it is an object in Flyte's storage")


def _promised(promise: Any, scope: Mapping[str, Any]) -> Any:
    name = promise.node.id
    if getattr(promise, "attr_path", None):
        return Open("it is part of another value")
    if name in ("", "global-input-node", "start-node"):
        return scope.get(promise.var, Open(f"it is the workflow's input {promise.var!r}"))
    return Open(f"it is the output of node {label(promise.node)}")


def _inside(group: Any) -> Any:
    return None if group is None else getattr(group, "bindings", None) or getattr(group, "literals", None) or []


def label(node: Any) -> str:
    """A node for people: `n0 (prepare)`."""
    return f"{node.id} ({node.metadata.name})"


def _name(node: Any, task: Task) -> str | None:
    """The job's name, where the workflow gives the node one."""
    own = node.metadata.name if node.metadata.name != task.function.__name__ else None
    own = own or (None if re.fullmatch(r"(.*-)?n[0-9]+", node.id) else node.id)
    return re.sub(r"[^a-z0-9]+", "-", own.lower()).strip("-") if own else None


def _reasoned(problem: Problem, values: Mapping[str, Any], job: str) -> Problem:
    """A missing input with the reason why the workflow does not have it."""
    value = values.get(str(problem.path[-1])) if problem.path[:1] == ("inputs",) else None
    if problem.name != "spec-missing-field" or not isinstance(value, Open):
        return problem
    message = f"{field_path(problem.path)}: needs a value: {value.why}"
    return problem._replace(message=message, help=f"--input {job}.{problem.path[-1]}=...")
