"""The spec of an imported job for another target: without what import wrote for the first operator alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from ptcompile.converter.settings import set_values
from ptcompile.diagnostics import Diagnostic, Path, field_path
from ptcompile.importer.lifting import lift_launch
from ptcompile.kubernetes.unstructured import as_mappings, nested_map
from ptcompile.registry.table import BY_TARGET
from ptcompile.simulator.rendezvous import dns_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.simulator.world import World

    Json = dict[str, Any]

_MAX_PORT_NAME: Final = 15
_THREADS: Final = "OMP_NUM_THREADS"


def value_at(data: Any, path: Sequence[str | int]) -> Any:
    """Return the value at `path`, or None without one."""
    for part in path:
        data = data.get(part) if isinstance(data, Mapping) else None
    return data


def without_path(data: Any, path: Sequence[str | int]) -> Any:
    """Return a copy of the data without the value at `path`, or the data itself if there is no such value.

    Blocks that become empty are removed too.
    """
    if not path or not isinstance(data, Mapping) or path[0] not in data:
        return data
    if len(path) == 1:
        return {key: value for key, value in data.items() if key != path[0]}
    inner = without_path(data[path[0]], path[1:])
    if inner == {} and data[path[0]] != {}:
        return {key: value for key, value in data.items() if key != path[0]}
    return {key: inner if key == path[0] else value for key, value in data.items()}


def is_absence(document: Mapping[str, Any], path: Path) -> bool:
    """Return whether the spec has a null at `path`: import wrote it because the manifest does not have the value."""
    parent = value_at(document, path[:-1])
    return isinstance(parent, Mapping) and path[-1] in parent and parent[path[-1]] is None


def with_dropped_fields(diagnostic: Diagnostic, document: Json) -> Diagnostic:
    """Return the finding for a block that is dropped, with the fields of that block."""
    block = value_at(document, diagnostic.path)
    if not isinstance(block, Mapping) or not block:
        return diagnostic
    listed = ", ".join(field_path(path) for path, _ in set_values(block, diagnostic.path))
    return diagnostic._replace(message=f"{diagnostic.message}; dropped: {listed}")


def candidates(document: Json, inlined: Json | None, target: str, world: World) -> Iterator[Json]:
    """Yield the specs to try for another target, the best first.

    `inlined` is the document with the pods of its runtime, if it has one; `world` is that of the imported job.
    """
    if inlined is not None:
        document = _without_thread_count(inlined)
        lifted = lift_launch(document, world.jobs[0]) if world.jobs else None
        if lifted is not None:
            yield for_target(lifted, target, world)
    job = without_path(document["spec"], ("runtimeRef",))  # of an unknown runtime
    yield for_target({**document, "spec": job}, target, world)


def _without_thread_count(document: Json) -> Json:
    """Return the document without the thread count that compile adds: torchrun sets it for its processes."""
    job = document["spec"]
    env = job.get("env") or {}
    return document if _THREADS in env else {**document, "spec": {**job, "env": {**env, _THREADS: None}}}


def _host_names(world: World) -> frozenset[str]:
    """Return the names under which the pods of a world reach one another."""
    return frozenset(name for pod in world.pods.folded() for name in dns_names(pod))


def for_target(document: Json, target: str, world: World) -> Json:
    """Return the document for a target, without the rendezvous host and port that the target sets itself."""
    job = _without_own_address({**document["spec"], "target": target}, _host_names(world))
    endpoint = nested_map(job, "elastic").get("rdzvEndpoint")
    host, _, port = str(endpoint or "").rpartition(":")
    if host and host in _host_names(world):  # the target's own pod answers there, under another name
        job = without_path(job, ("elastic", "rdzvEndpoint"))
        if port.isdecimal():
            job = {"masterPort": int(port), **job}
    for operator in BY_TARGET.values():
        if name := operator.conversion.port_name:
            job = _without_operator_port(job, name, names_each=operator.target_name == target)
    return {**document, "spec": job}


def _without_own_address(job: Json, hosts: Collection[str]) -> Json:
    """Return the job without a patch that sets MASTER_ADDR to one of its pods, as each target does."""
    template = nested_map(job, "podTemplate")
    pod = nested_map(template, "spec")
    containers = as_mappings(pod.get("containers"))
    for index, container in enumerate(containers):
        variables = as_mappings(container.get("env"))
        kept = [item for item in variables if item.get("name") != "MASTER_ADDR" or item.get("value") not in hosts]
        if len(kept) == len(variables):
            continue
        patch = {**container, "env": kept} if kept else without_path(container, ("env",))
        rest = [*containers[:index], *([patch] if patch.keys() > {"name"} else []), *containers[index + 1 :]]
        if not rest:
            reduced: Json = without_path(job, ("podTemplate", "spec", "containers"))
            return reduced
        return {**job, "podTemplate": {**template, "spec": {**pod, "containers": rest}}}
    return job


def _without_operator_port(job: Json, name: str, *, names_each: bool) -> Json:
    """Return the job without the port that an operator adds itself, by name or by number.

    `names_each`: whether that operator runs the job, so that each other port needs a name.
    """
    changed = {
        field: _without_operator_port({"masterPort": job.get("masterPort"), **job[field]}, name, names_each=names_each)
        for field in ("master", "worker")
        if isinstance(job.get(field), Mapping)
    }
    for block in changed.values():
        block.pop("masterPort", None)
    job = {**job, **changed}
    ports = [port for port in as_mappings(job.get("ports")) if port.get("name") != name]
    if names_each:
        ports = [
            {**port, "name": port.get("name") or f"port-{port.get('containerPort')}"[:_MAX_PORT_NAME]}
            for port in ports
            if port.get("containerPort") != job.get("masterPort")
        ]
    rest = {field: value for field, value in job.items() if field != "ports"}
    return {**rest, "ports": ports} if ports else rest
