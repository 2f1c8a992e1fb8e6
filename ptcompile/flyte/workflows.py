"""The PyTorch tasks of a flytekit 1.16 workflow, each a job, in the order in which they would run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from ptcompile import streams
from ptcompile.findings.diagnostics import Problem
from ptcompile.flyte import run
from ptcompile.flyte.found import changed, wrong
from ptcompile.flyte.knobs import Knobs, check_names
from ptcompile.flyte.nodes import bound, task_of
from ptcompile.flyte.tasks import Task
from ptcompile.verbs import compile as api

if TYPE_CHECKING:
    from ptcompile.vocabulary.cluster.model import ClusterProfile

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
        said = [streams.stamp(one, None, None) for one in self.problems]
        found = (*said, *(one for result in results for one in result.diagnostics))
        broken = any(one.severity == "error" for one in found)
        manifests = () if broken else tuple(one for result in results for one in result.manifests)
        return api.Result((), ())._replace(manifests=manifests, diagnostics=found)


class _Step(NamedTuple):
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
        found.append(wrong("spec-invalid-value", ("inputs", key), f"no job has this name; the jobs are {names}"))
    if not tasks:
        found.append(wrong("spec-missing-field", ("workflow",), f"{workflow.name} has no PyTorch task"))
    return Workflow(tuple(tasks), tuple(found))


def _scope(workflow: Any, given: Mapping[str, Any], found: list[Problem]) -> dict[str, Any]:
    """The values of a workflow's own inputs: those that are given, else their defaults."""
    interface = workflow.python_interface
    out: dict[str, Any] = dict(interface.default_inputs_as_kwargs)
    hints: Mapping[str, Any] = interface.inputs
    for name, value in given.items():
        if name not in hints:
            has = f"unknown input; the workflow has {', '.join(hints) or 'none'}"
            found.append(wrong("spec-invalid-value", ("inputs", name), has))
            continue
        try:
            out[name] = run.value_of(value, hints[name]) if isinstance(value, str) else value
        except run.Refused as error:
            found.append(wrong("spec-invalid-value", ("inputs", name), str(error)))
    return out


def _steps(workflow: Any, scope: Mapping[str, Any], found: list[Problem]) -> Iterator[_Step]:
    """The nodes that train, those of sub-workflows among them; every other one is a warning."""
    for node in _ordered(workflow.nodes):
        entity = node.flyte_entity
        if is_workflow(entity):
            defaults = entity.python_interface.default_inputs_as_kwargs
            yield from _steps(entity, {**defaults, **bound(node, scope)}, found)
        elif _trains(entity):
            yield _Step(node, bound(node, scope))
        else:
            found.append(changed((node.id,), f"{node.metadata.name} is {_what(entity)}, {_NO_MANIFEST}"))


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
