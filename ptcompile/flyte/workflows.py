"""Workflows, and the nodes of a workflow as jobs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack, cast

from ptcompile.api import compile as api
from ptcompile.diagnostics import Problem, has_error
from ptcompile.flyte import run
from ptcompile.flyte.config import Resources
from ptcompile.flyte.convert import Converted
from ptcompile.flyte.keywords import Knobs, check_names
from ptcompile.flyte.launch import EntryPoint
from ptcompile.flyte.problems import CallProblems
from ptcompile.flyte.tasks import Task, from_task
from ptcompile.kubernetes.unstructured import without_none
from ptcompile.source import streams

if TYPE_CHECKING:
    from ptcompile.api.inputs import AnyProfile


RESOURCE_FIELDS = {1: "cpu", 2: "gpu", 3: "mem", 5: "ephemeral_storage"}
"""Fields of Resources, keyed by the numbers of flyteidl's `Resources.ResourceName`."""


class UnboundInput(NamedTuple):
    """An input whose value is not in the workflow's file."""

    why: str


def from_node(node: Any, **knobs: Unpack[Knobs]) -> Task:
    """Return the task of a workflow's node with its `with_overrides`; `knobs` override both.

    Values written in the workflow's function become inputs. Values that come from another node or
    from the workflow's inputs must be passed as `inputs`.

    Raises:
        TypeError: it is not a node, or its entity is not a task with a function.
    """
    check_names(knobs)
    if not hasattr(node, "flyte_entity") or not hasattr(node, "bindings"):
        raise TypeError(f"{type(node).__name__} is not a flytekit node")
    return task_of(node, bound_inputs(node, {}), knobs)


def task_of(node: Any, values: Mapping[str, Any], knobs: Knobs) -> Task:
    """Return the node's task with these inputs; an unbound input is reported with the reason."""
    bound_values = {
        name: value for name, value in values.items() if not isinstance(value, UnboundInput)
    }
    inner = from_task(node.flyte_entity, **cast("Knobs", node_overrides(node)))

    def finish(name: str, more: Knobs, called: EntryPoint | None) -> Converted:
        keywords: dict[str, Any] = {**knobs, **more}
        if not keywords.get("script") and not keywords.get("command"):
            keywords["inputs"] = {**bound_values, **(keywords.get("inputs") or {})}
        converted = inner.finish(name, cast("Knobs", keywords), called)
        return replace(
            converted,
            problems=tuple(_with_reason(problem, values, name) for problem in converted.problems),
        )

    return replace(inner, finish=finish, name=_job_name(node, inner))


def node_overrides(node: Any) -> dict[str, Any]:
    """Return a node's settings besides its task. A task_config is not among them: flytekit writes
    it into the task itself.
    """
    metadata = node.metadata
    task = node.flyte_entity
    retries = metadata.retries
    out = _extended_resources(getattr(node, "_extended_resources", None)) | {
        "retries": getattr(retries, "retries", retries) or 0,
        "timeout": metadata.timeout or None,
        "interruptible": metadata.interruptible,
        "cache": getattr(metadata, "cacheable", None),
        "container_image": getattr(node, "_container_image", None),
        "pod_template": getattr(node, "_pod_template", None),
    }
    node_resources = getattr(node, "_resources", None)
    for half in ("requests", "limits") if node_resources is not None else ():
        # merged key by key, as Flyte's backend does
        base = getattr(getattr(task, "resources", None), half, None)
        overridden = {
            RESOURCE_FIELDS[entry.name]: entry.value
            for entry in getattr(node_resources, half) or ()
            if entry.name in RESOURCE_FIELDS
        }
        out[half] = Resources(
            **{
                key: overridden.get(key, getattr(base, key, None))
                for key in RESOURCE_FIELDS.values()
            }
        )

    return without_none(out)


def _extended_resources(resources: Any) -> dict[str, Any]:
    """Return accelerator and shared memory from flyteidl's `ExtendedResources`."""
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


def bound_inputs(node: Any, scope: Mapping[str, Any]) -> dict[str, Any]:
    """Return a node's inputs by name. `scope` has the values of the workflow's own inputs."""
    return {binding.var: _binding_value(binding.binding, scope) for binding in node.bindings}


def _binding_value(binding: Any, scope: Mapping[str, Any]) -> Any:
    """Return the value of a binding, or of a literal in one."""
    promise = getattr(binding, "promise", None)
    if promise is not None:
        return _promise_value(promise, scope)

    for items in (_group_items(binding.collection), _group_items(binding.map)):
        if items is None:
            continue

        values = [
            _binding_value(item, scope)
            for item in (items.values() if isinstance(items, Mapping) else items)
        ]
        unknown = next((item for item in values if isinstance(item, UnboundInput)), None)
        return unknown or (
            dict(zip(items, values, strict=True)) if isinstance(items, Mapping) else values
        )

    scalar = binding.scalar
    if getattr(scalar, "union", None) is not None:
        return _binding_value(scalar.union.value, scope)
    if scalar.none_type is not None:
        return None
    if scalar.primitive is not None:
        return scalar.primitive.value
    if scalar.binary is not None and scalar.binary.tag == "msgpack":
        from msgpack import unpackb  # a dependency of flytekit, which packs dataclasses with it

        return unpackb(scalar.binary.value)

    for reference in (getattr(scalar, "blob", None), getattr(scalar, "structured_dataset", None)):
        if reference is not None and reference.uri:
            return reference.uri

    return UnboundInput("it is an object in Flyte's storage")


def _promise_value(promise: Any, scope: Mapping[str, Any]) -> Any:
    name = promise.node.id
    if getattr(promise, "attr_path", None):
        return UnboundInput("it is part of another value")
    if name in ("", "global-input-node", "start-node"):
        return scope.get(promise.var, UnboundInput(f"it is the workflow's input {promise.var!r}"))
    return UnboundInput(f"it is the output of node {node_label(promise.node)}")


def _group_items(group: Any) -> Any:
    if group is None:
        return None
    return getattr(group, "bindings", None) or getattr(group, "literals", None) or []


def node_label(node: Any) -> str:
    """Return a node's label for messages: `n0 (prepare)`."""
    return f"{node.id} ({node.metadata.name})"


def _job_name(node: Any, task: Task) -> str | None:
    """Return the job's name, if the workflow names the node."""
    name = node.metadata.name if node.metadata.name != task.function.__name__ else None
    name = name or (None if re.fullmatch(r"(.*-)?n[0-9]+", node.id) else node.id)
    if name:
        return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return None


def _with_reason(problem: Problem, values: Mapping[str, Any], job: str) -> Problem:
    """Return a problem about a missing input with the reason why the workflow does not have it."""
    value = values.get(str(problem.path[-1])) if problem.path[:1] == ("inputs",) else None
    if problem.name != "spec-missing-field" or not isinstance(value, UnboundInput):
        return problem
    text = f"needs a value: {value.why}"
    return problem._replace(text=text, help=f"--input {job}.{problem.path[-1]}=...")


_NO_MANIFEST = "for which no manifest is written"


@dataclass(frozen=True)
class Workflow:
    """A workflow as jobs."""

    tasks: tuple[Task, ...]
    """Tasks in execution order, with distinct names."""
    problems: tuple[Problem, ...]
    """Nodes that are not PyTorch tasks, and mistakes in the inputs."""

    def compile(self, *, cluster: AnyProfile | None = None, **more: Unpack[Knobs]) -> api.Result:
        """Return the manifests of all jobs, in order, or none if one of them has a mistake."""
        results = [task.compile(cluster=cluster, **more) for task in self.tasks]
        problems = [streams.to_diagnostic(problem, None, None) for problem in self.problems]
        diagnostics = (
            *problems,
            *(diagnostic for result in results for diagnostic in result.diagnostics),
        )
        if has_error(diagnostics):
            return api.Result((), diagnostics)

        manifests = tuple(manifest for result in results for manifest in result.manifests)
        return api.Result(manifests, diagnostics)


class _TrainingNode(NamedTuple):
    """A node with a PyTorch task, and the values of its inputs."""

    node: Any
    values: dict[str, Any]


def is_workflow(value: object) -> bool:
    """Return whether `value` is a flytekit workflow."""
    return (
        hasattr(value, "python_interface")
        and hasattr(value, "output_bindings")
        and hasattr(value, "nodes")
    )


def from_workflow(workflow: Any, **knobs: Unpack[Knobs]) -> Workflow:
    """Return the jobs of a workflow's PyTorch tasks, including those of sub-workflows; `knobs`
    override each.

    `inputs` are the workflow's own by name, and those of one job as `JOB.INPUT`: another task's
    results are unknown before it has run. flytekit compiles the workflow; no task is run.

    Raises:
        TypeError: it is not a workflow.
    """
    check_names(knobs)
    if not is_workflow(workflow):
        raise TypeError(f"{type(workflow).__name__} is not a flytekit workflow")

    problems = CallProblems()
    inputs = dict(knobs.pop("inputs", None) or {})
    workflow_values = {name: value for name, value in inputs.items() if "." not in name}
    nodes = [
        *_training_nodes(workflow, _workflow_inputs(workflow, workflow_values, problems), problems)
    ]
    tasks: list[Task] = []
    for node in nodes:
        task = task_of(node.node, node.values, knobs)
        name = _unique_name(task.job_name, tasks)
        job_inputs = {
            key.removeprefix(f"{name}."): inputs.pop(key)
            for key in [*inputs]
            if key.startswith(f"{name}.")
        }
        tasks.append(replace(task_of(node.node, {**node.values, **job_inputs}, knobs), name=name))

    names = ", ".join(str(job_task.name) for job_task in tasks)
    for key in inputs.keys() - workflow_values.keys():
        problems.error(
            "spec-invalid-value", ("inputs", key), f"no job has this name; the jobs are {names}"
        )

    if not tasks:
        problems.error("spec-missing-field", ("workflow",), f"{workflow.name} has no PyTorch task")

    return Workflow(tuple(tasks), tuple(problems))


def _workflow_inputs(
    workflow: Any, values: Mapping[str, Any], problems: CallProblems
) -> dict[str, Any]:
    """Return the values of a workflow's own inputs: those passed, else their defaults."""
    interface = workflow.python_interface
    out = dict(interface.default_inputs_as_kwargs)
    hints = interface.inputs
    for name, value in values.items():
        if name not in hints:
            message = f"unknown input; the workflow has {', '.join(hints) or 'none'}"
            problems.error("spec-invalid-value", ("inputs", name), message)
            continue
        try:
            out[name] = run.value_of(value, hints[name]) if isinstance(value, str) else value
        except run.TaskCallError as error:
            problems.error("spec-invalid-value", ("inputs", name), str(error))

    return out


def _training_nodes(
    workflow: Any, scope: Mapping[str, Any], problems: CallProblems
) -> Iterator[_TrainingNode]:
    """Yield the PyTorch nodes, including those of sub-workflows; report every other node as a
    warning.
    """
    for node in _sort_nodes(workflow.nodes):
        entity = node.flyte_entity
        config = getattr(entity, "task_config", None)
        is_training = hasattr(config, "nnodes") or (
            hasattr(config, "worker") and hasattr(config, "master")
        )
        if is_workflow(entity):
            defaults = entity.python_interface.default_inputs_as_kwargs
            yield from _training_nodes(entity, {**defaults, **bound_inputs(node, scope)}, problems)
        elif is_training and callable(getattr(entity, "task_function", None)):
            yield _TrainingNode(node, bound_inputs(node, scope))
        else:
            problems.warning(
                (node.id,), f"{node.metadata.name} is {_describe_entity(entity)}, {_NO_MANIFEST}"
            )


def _describe_entity(entity: Any) -> str:
    """Return a description of a node's entity that is not a PyTorch task."""
    kinds = {
        "BranchNode": "a conditional, decided when the workflow runs",
        "LaunchPlan": "a launch plan, which is a workflow of its own",
        "ArrayNodeMapTask": "a map task, one pod per item",
    }
    mode = getattr(getattr(entity, "execution_mode", None), "name", "DEFAULT")
    plain = "a task without PyTorch or Elastic" if mode == "DEFAULT" else f"a {mode.lower()} task"
    return kinds.get(type(entity).__name__, plain)


def _sort_nodes(nodes: list[Any]) -> list[Any]:
    """Return the nodes in dependency order, otherwise as written."""
    remaining = [*nodes]
    out = []
    while remaining:
        ready = next(
            (
                node
                for node in remaining
                if not any(upstream in remaining for upstream in node.upstream_nodes)
            ),
            remaining[0],
        )
        remaining.remove(ready)
        out.append(ready)

    return out


def _unique_name(name: str, tasks: list[Task]) -> str:
    """Return a name that no job has yet: `train`, `train-2`."""
    taken = {candidate.name for candidate in tasks}
    return next(
        candidate
        for candidate in (name, *(f"{name}-{i}" for i in range(2, len(tasks) + 3)))
        if candidate not in taken
    )
