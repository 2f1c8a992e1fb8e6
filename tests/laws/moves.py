"""Moves of a value to another place that mean the same, for the law that they change no finding.

Each takes the objects of a stream, changes them in place, and returns the objects that it adds, or None if the
stream has nothing to move. Where a move would change what pods see, it moves nothing: a variable that the operator
sets, a reference to a variable in a script, containers of a namespace that differ.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any, cast

from ptcompile.operators.trainer import runtimes
from ptcompile.simulator.world import simulate
from tests.laws.worlds import Json, containers_of, namespace, pod_specs, trainers_of

_KEY = re.compile(r"[-._a-zA-Z0-9]+")
_REFERENCE = re.compile(r"\$\(([-._a-zA-Z0-9]+)\)")
_SCRIPT_FOLDER = "/moved"


def env_to_env_from(objects: list[Json]) -> list[Json] | None:
    """Move plain variables into a ConfigMap that `envFrom` reads."""
    return _move_env(objects, [*_with_env(objects, trainers=False)], by_key=False)


def env_to_key_refs(objects: list[Json]) -> list[Json] | None:
    """Move the value of plain variables into a ConfigMap; each variable refers to its key."""
    return _move_env(objects, [*_with_env(objects, trainers=True)], by_key=True)


def _with_env(objects: list[Json], *, trainers: bool) -> Iterator[tuple[Json, Json]]:
    """Yield each object with each of its containers that has variables."""
    for manifest in objects:
        for container in chain(containers_of(manifest), trainers_of(manifest) if trainers else ()):
            env = container.get("env")
            if isinstance(env, list) and all(isinstance(entry, dict) for entry in env):
                yield manifest, container


def _move_env(
    objects: list[Json], places: list[tuple[Json, Json]], *, by_key: bool
) -> list[Json] | None:
    written = [container["env"] for _, container in places]
    movable = [_movable(env, by_key=by_key) for env in written]
    if not by_key:
        # what an operator writes into `env` wins over `envFrom`, but not over the same name in `env`
        for (_, container), names in zip(places, movable, strict=True):
            container["env"] = [
                entry for entry in container["env"] if entry.get("name") not in names
            ]
        of_operator = _expanded_names(objects)
        movable = [names - of_operator for names in movable]

    added: list[Json] = []
    for (manifest, container), env, names in zip(places, written, movable, strict=True):
        container["env"] = env
        if not names:
            continue
        name = f"moved-values-{len(added)}"
        data = {entry["name"]: entry["value"] for entry in env if entry["name"] in names}
        added.append(_config_map(name, manifest, data))
        if by_key:
            container["env"] = [
                _key_ref(entry, name) if entry["name"] in names else entry for entry in env
            ]
            continue
        container["env"] = [entry for entry in env if entry["name"] not in names]
        container["envFrom"] = [*(container.get("envFrom") or ()), {"configMapRef": {"name": name}}]
    return added or None


def _movable(env: list[Json], *, by_key: bool) -> set[str]:
    """Return the names of the variables whose values can move, and be seen by the same references as before."""
    counts = Counter(str(entry.get("name")) for entry in env)
    names: set[str] = set()
    referred: set[str] = set()
    for entry in env:
        name, value = entry.get("name"), entry.get("value")
        if isinstance(value, str) and isinstance(name, str) and set(entry) == {"name", "value"}:
            is_movable = "$" not in value and counts[name] == 1 and _KEY.fullmatch(name)
            names |= {name} if is_movable and (by_key or name not in referred) else set()
        referred |= {*_REFERENCE.findall(value)} if isinstance(value, str) else set()
    return names


def _expanded_names(objects: list[Json]) -> set[str]:
    """Return the names of all variables of all containers, as operators write them."""
    pods = [pod for job in simulate(objects).jobs for _, pod in job.first_pods]
    entries = [
        entry for pod in pods for container in pod.view.containers for entry in container.env
    ]
    return {str(entry.get("name")) for entry in entries}


def _key_ref(entry: Json, config_map: str) -> Json:
    name = entry["name"]
    return {"name": name, "valueFrom": {"configMapKeyRef": {"name": config_map, "key": name}}}


def _config_map(name: str, manifest: Json, data: dict[str, str]) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _beside(name, manifest),
        "data": data,
    }


def _beside(name: str, manifest: Json) -> Json:
    """Return the metadata of an object in the same namespace."""
    return (
        {"name": name, "namespace": namespace(manifest)} if namespace(manifest) else {"name": name}
    )


def script_to_file(objects: list[Json]) -> list[Json] | None:
    """Move each shell script of a command into a ConfigMap, mounted as a folder."""
    added: list[Json] = []
    for manifest in objects:
        for spec in pod_specs(manifest):
            for container in spec["containers"]:
                if isinstance(container, dict) and (found := inline_script(container)) is not None:
                    name = f"moved-script-{len(added)}"
                    shell, flags, script = found
                    added.append(_config_map(name, manifest, {"run.sh": script}))
                    _mount(spec, container, name)
                    container["command"] = [shell, *flags, f"{_SCRIPT_FOLDER}/run.sh"]
                    container.pop("args", None)
    return added or None


def inline_script(container: Json) -> tuple[str, list[str], str] | None:
    """Return the shell, its other options and the script of `sh -c`, if nothing in the script is for the kubelet."""
    words = [*_words(container.get("command")), *_words(container.get("args"))]
    if len(words) != 3 or words[0].rpartition("/")[2] not in ("sh", "bash"):
        return None
    shell, flags, script = words
    if not re.fullmatch(r"-[a-z]*c", flags) or _REFERENCE.search(script) or "$$" in script:
        return None
    others = flags.removesuffix("c")
    return shell, [others] if others != "-" else [], script


def _words(value: Any) -> list[str]:
    return [word for word in value if isinstance(word, str)] if isinstance(value, list) else []


def _mount(spec: Json, container: Json, config_map: str) -> None:
    volume = {"name": config_map, "configMap": {"name": config_map}}
    mount = {"name": config_map, "mountPath": _SCRIPT_FOLDER}
    spec["volumes"] = [*(spec.get("volumes") or ()), volume]
    container["volumeMounts"] = [*(container.get("volumeMounts") or ()), mount]


def fields_to_runtime(objects: list[Json]) -> list[Json] | None:
    """Move image, command, arguments, variables and resources of a TrainJob into its own runtime's container `node`."""
    moved = False
    for manifest in objects:
        for trainer in trainers_of(manifest):
            node = _node_container(objects, manifest)
            # the runtime's arguments follow the TrainJob's command, which a rule reports, but are the runtime's own
            if node is None or (
                trainer.get("command") and node.get("args") and not trainer.get("args")
            ):
                continue
            for field, target in (("image", "image"), ("command", "command"), ("args", "args")):
                if trainer.get(field):
                    node[target] = trainer.pop(field)
                    moved = True
            if isinstance(trainer.get("env"), list):
                own = trainer.pop("env")
                names = {entry.get("name") for entry in own if isinstance(entry, dict)}
                node["env"] = [
                    *(e for e in node.get("env") or () if e.get("name") not in names),
                    *own,
                ]
                moved = True
            if isinstance(trainer.get("resourcesPerNode"), dict) and not node.get("resources"):
                node["resources"] = trainer.pop("resourcesPerNode")
                moved = True
    return [] if moved else None


def _node_container(objects: list[Json], job: Json) -> Json | None:
    """Return the container of the runtime that only this job of the stream has, if Trainer sets its fields."""
    reference = job["spec"].get("runtimeRef")
    name = reference.get("name") if isinstance(reference, dict) else None
    users = [other for other in objects if other["kind"] == "TrainJob"]
    owned = [other for other in objects if other["kind"].endswith("TrainingRuntime")]
    if len(users) != 1 or len(owned) != 1 or owned[0].get("metadata", {}).get("name") != name:
        return None
    trained = [
        item
        for item in runtimes.replicated_jobs(owned[0])
        if runtimes.step_label(item) == "trainer"
    ]
    return (
        cast("Json | None", runtimes.find_container(trained[0], "node"))
        if len(trained) == 1
        else None
    )


def resources_to_limit_range(objects: list[Json]) -> list[Json] | None:
    """Move cpu and memory of all containers into a LimitRange's defaults, if all of a namespace have the same."""
    if any(manifest["kind"] == "LimitRange" for manifest in objects):
        return None
    by_namespace: dict[str, list[Json]] = {}
    for manifest in objects:
        places = [container.setdefault("resources", {}) for container in containers_of(manifest)]
        places += [trainer.setdefault("resourcesPerNode", {}) for trainer in trainers_of(manifest)]
        by_namespace.setdefault(namespace(manifest), []).extend(places)

    added = []
    for name, places in by_namespace.items():
        if not places or not all(isinstance(place, dict) for place in places):
            continue
        amounts = [
            (_cpu_and_memory(place, "limits"), _cpu_and_memory(place, "requests"))
            for place in places
        ]
        if amounts[0] == ({}, {}) or any(amount != amounts[0] for amount in amounts):
            continue
        for place in places:
            _take_cpu_and_memory(place)
        added.append(_limit_range(name, *amounts[0]))
    return added or None


def _cpu_and_memory(resources: Json, field: str) -> Json:
    amounts = resources.get(field)
    return (
        {key: amounts[key] for key in ("cpu", "memory") if key in amounts}
        if isinstance(amounts, dict)
        else {}
    )


def _take_cpu_and_memory(resources: Json) -> None:
    for field in ("limits", "requests"):
        for key in _cpu_and_memory(resources, field):
            del resources[field][key]
        if resources.get(field) == {}:
            del resources[field]


def _limit_range(place: str, limits: Json, requests: Json) -> Json:
    defaults = {
        key: value for key, value in (("default", limits), ("defaultRequest", requests)) if value
    }
    metadata = {"name": "moved-defaults", **({"namespace": place} if place else {})}
    spec = {"limits": [{"type": "Container", **defaults}]}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": spec}


def in_app_wrapper(objects: list[Json]) -> Json:
    """Return an AppWrapper that creates the objects."""
    components = [{"template": manifest} for manifest in objects]
    return _carrier("workload.codeflare.dev/v1beta2", "AppWrapper", {"components": components})


def in_manifest_work(objects: list[Json]) -> Json:
    """Return a ManifestWork that brings the objects to another cluster."""
    return _carrier(
        "work.open-cluster-management.io/v1", "ManifestWork", {"workload": {"manifests": objects}}
    )


def _carrier(api_version: str, kind: str, spec: Json) -> Json:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "carrier"}, "spec": spec}
