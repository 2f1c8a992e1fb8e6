"""Workflows, and the nodes of a workflow as jobs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack, cast

from ptcompile.api import compile as api
from ptcompile.diagnostics import Problem, field_path
from ptcompile.flyte import run
from ptcompile.flyte.config import Resources
from ptcompile.flyte.convert import Converted
from ptcompile.flyte.keywords import Knobs, check_names
from ptcompile.flyte.launch import EntryPoint
from ptcompile.flyte.problems import call_error, call_warning
from ptcompile.flyte.tasks import Task, from_task
from ptcompile.source import streams

if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile


RESOURCES = {1: "cpu", 2: "gpu", 3: "mem", 5: "ephemeral_storage"}
"""The fields of Resources by the numbers of flyteidl's `Resources.ResourceName`."""


class UnboundInput(NamedTuple):
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
    known = {name: value for name, value in values.items() if not isinstance(value, UnboundInput)}
    inner = from_task(node.flyte_entity, **cast("Knobs", overrides(node)))

    def finish(name: str, more: Knobs, called: EntryPoint | None) -> Converted:
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
        unknown = next((one for one in values if isinstance(one, UnboundInput)), None)
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
    return UnboundInput("it is an object in Flyte's storage")


def _promised(promise: Any, scope: Mapping[str, Any]) -> Any:
    name = promise.node.id
    if getattr(promise, "attr_path", None):
        return UnboundInput("it is part of another value")
    if name in ("", "global-input-node", "start-node"):
        return scope.get(promise.var, UnboundInput(f"it is the workflow's input {promise.var!r}"))
    return UnboundInput(f"it is the output of node {label(promise.node)}")


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
    if problem.name != "spec-missing-field" or not isinstance(value, UnboundInput):
        return problem
    message = f"{field_path(problem.path)}: needs a value: {value.why}"
    return problem._replace(message=message, help=f"--input {job}.{problem.path[-1]}=...")


_NO_MANIFEST = "for which no manifest is written"


@dataclass(frozen=True)
class Workflow:
    """A workflow as jobs."""

    tasks: tuple[Task, ...]
    """In the order in which they would run; each has a name of its own."""
    problems: tuple[Problem, ...]
    """The nodes that are no PyTorch task, and mistakes in the inputs."""

    def compile(
        self, *, cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None = None, **more: Unpack[Knobs]
    ) -> api.Result:
        """The manifests of all jobs, in order; none where one of them has a mistake."""
        results = [task.compile(cluster=cluster, **more) for task in self.tasks]
        said = [streams.to_diagnostic(one, None, None) for one in self.problems]
        found = (*said, *(one for result in results for one in result.diagnostics))
        broken = any(one.severity == "error" for one in found)
        manifests = () if broken else tuple(one for result in results for one in result.manifests)
        return api.Result((), ())._replace(manifests=manifests, diagnostics=found)


class _TrainingNode(NamedTuple):
    """A node that trains, with the values of its inputs."""

    node: Any
    values: dict[str, Any]


def is_workflow(value: object) -> bool:
    """Whether it is a workflow of flytekit's."""
    return hasattr(value, "python_interface") and hasattr(value, "output_bindings") and hasattr(value, "nodes")


def from_workflow(workflow: Any, **knobs: Unpack[Knobs]) -> Workflow:
    """The jobs of a workflow's PyTorch tasks, those of its sub-workflows among them; `knobs` are laid over each.

    `inputs` are the workflow's own by name, and those of one job as `JOB.INPUT`: what another task returns is known to
    before anything has run. flytekit compiles the workflow; no task is run.

    Raises:
        TypeError: it is not a workflow.
    """
    check_names(knobs)
    if not is_workflow(workflow):
        raise TypeError(f"{type(workflow).__name__} is not a flytekit workflow")
    found: list[Problem] = []
    given = dict(knobs.pop("inputs", None) or {})
    own = {name: value for name, value in given.items() if "." not in name}
    steps = [*_steps(workflow, _scope(workflow, own, found), found)]
    tasks: list[Task] = []
    for step in steps:
        task = task_of(step.node, step.values, knobs)
        name = _free(task.job_name, tasks)
        of_job = {key.removeprefix(f"{name}."): given.pop(key) for key in [*given] if key.startswith(f"{name}.")}
        tasks.append(replace(task_of(step.node, {**step.values, **of_job}, knobs), name=name))
    names = ", ".join(str(one.name) for one in tasks)
    for key in given.keys() - own.keys():
        found.append(call_error("spec-invalid-value", ("inputs", key), f"no job has this name; the jobs are {names}"))
    if not tasks:
        found.append(call_error("spec-missing-field", ("workflow",), f"{workflow.name} has no PyTorch task"))
    return Workflow(tuple(tasks), tuple(found))


def _scope(workflow: Any, given: Mapping[str, Any], found: list[Problem]) -> dict[str, Any]:
    """The values of a workflow's own inputs: those that are given, else their defaults."""
    interface = workflow.python_interface
    out: dict[str, Any] = dict(interface.default_inputs_as_kwargs)
    hints: Mapping[str, Any] = interface.inputs
    for name, value in given.items():
        if name not in hints:
            has = f"unknown input; the workflow has {', '.join(hints) or 'none'}"
            found.append(call_error("spec-invalid-value", ("inputs", name), has))
            continue
        try:
            out[name] = run.value_of(value, hints[name]) if isinstance(value, str) else value
        except run.TaskCallError as error:
            found.append(call_error("spec-invalid-value", ("inputs", name), str(error)))
    return out


def _steps(workflow: Any, scope: Mapping[str, Any], found: list[Problem]) -> Iterator[_TrainingNode]:
    """The nodes that train, those of sub-workflows among them; every other one is a warning."""
    for node in _ordered(workflow.nodes):
        entity = node.flyte_entity
        if is_workflow(entity):
            defaults = entity.python_interface.default_inputs_as_kwargs
            yield from _steps(entity, {**defaults, **bound(node, scope)}, found)
        elif _trains(entity):
            yield _TrainingNode(node, bound(node, scope))
        else:
            found.append(call_warning((node.id,), f"{node.metadata.name} is {_what(entity)}, {_NO_MANIFEST}"))


def _trains(entity: Any) -> bool:
    config = getattr(entity, "task_config", None)
    shaped = hasattr(config, "nnodes") or (hasattr(config, "worker") and hasattr(config, "master"))
    return shaped and callable(getattr(entity, "task_function", None))


def _what(entity: Any) -> str:
    """What a node is that does not train."""
    kinds = {
        "BranchNode": "a conditional, decided when the workflow runs",
        "LaunchPlan": "a launch plan, which is a workflow of its own",
        "ArrayNodeMapTask": "a map task, one pod per item",
    }
    mode = getattr(getattr(entity, "execution_mode", None), "name", "DEFAULT")
    plain = "a task without PyTorch or Elastic" if mode == "DEFAULT" else f"a {mode.lower()} task"
    return kinds.get(type(entity).__name__, plain)


def _ordered(nodes: list[Any]) -> list[Any]:
    """The nodes, each behind those that it needs, else as they are written."""
    left, out = [*nodes], []
    while left:
        ready = next((one for one in left if not any(up in left for up in one.upstream_nodes)), left[0])
        left.remove(ready)
        out.append(ready)
    return out


def _free(name: str, tasks: list[Task]) -> str:
    """A name that no job has yet: `train`, `train-2`."""
    taken = {one.name for one in tasks}
    return next(one for one in (name, *(f"{name}-{i}" for i in range(2, len(tasks) + 3))) if one not in taken)
