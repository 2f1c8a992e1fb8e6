"""TrainJob: what is admitted, and refused when the controller acts on it (Trainer 2.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.kubernetes import names
from ptcompile.kubernetes.untyped import at, items, object_name, text
from ptcompile.operators.common.verdict import child, failure
from ptcompile.operators.record import Request
from ptcompile.operators.trainer import runtimes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.untyped import Json


def later(manifest: Json, request: Request) -> Iterator[Problem]:
    """The JobSet that the controller makes is refused: names too long, patches that hit nothing; and panics."""
    runtime, assumed = runtimes.find(manifest, request.others)
    if assumed:
        return
    if runtimes.policy_of(runtime) == "flux" and _no_nodes(at(manifest, "spec").get("trainer")):
        why = "Required value: a flux runtime's controller panics without it (Trainer 2.3)"
        path = ("spec", "trainer", "numNodes")
        yield failure("trainer", path, why, "say how many nodes")
    yield from _long_name(manifest, runtime)
    yield from _node(at(manifest, "spec", "trainer"), runtime)
    for i, patch in enumerate(items(at(manifest, "spec").get("runtimePatches"))):
        yield from _lost_patch(patch, ("spec", "runtimePatches", i), runtime)


def _node(trainer: Json, runtime: Json) -> Iterator[Problem]:
    """What the Job of the nodes cannot have: an empty image, a device that is requested and not limited."""
    path: Path = ("spec", "trainer")
    if trainer.get("image") == "":
        yield child((*path, "image"), "Required value: it replaces the runtime's image", "name an image, or remove it")
    given = at(trainer, "resourcesPerNode")
    jobs = [j for j in runtimes.replicated_jobs(runtime) if runtimes.ancestor(j) == "trainer"]
    own = [at(runtimes.container(j, "node") or {}, "resources", "limits") for j in jobs]
    limits = {*at(given, "limits"), *(name for names_ in own for name in names_)}
    for name in at(given, "requests"):
        if "/" in name and name not in limits:
            why = "Required value: a requested device needs a limit of the same amount"
            yield child((*path, "resourcesPerNode", "requests", name), why, "write it under limits as well")


def _no_nodes(trainer: Any) -> bool:
    return isinstance(trainer, Mapping) and trainer.get("numNodes") is None


def _long_name(manifest: Json, runtime: Json) -> Iterator[Problem]:
    name = object_name(manifest)
    count = runtimes.nodes(manifest, runtime)
    mpi = runtimes.policy_of(runtime) == "mpi"
    suffixes = []
    for job in runtimes.replicated_jobs(runtime):
        own = text(job.get("name"))
        scaled = own == "node" if mpi else runtimes.ancestor(job) == "trainer"
        pods = (max(1, count - 1) if mpi else count) if scaled else 1
        suffixes.append(f"-{own}-0-{pods - 1}-xxxxx")
    limit = names.longest_name(suffixes)
    if suffixes and limit < len(name) <= names.DNS_LABEL_MAX:
        longest = name + max(suffixes, key=len)
        why = f"the pod {longest} would have {len(longest)} characters, and 63 are allowed: no JobSet is created"
        yield child(("metadata", "name"), why, f"use at most {limit} characters")


def _lost_patch(patch: Json, path: Path, runtime: Json) -> Iterator[Problem]:
    """A patch of a job or container that the runtime has not adds one, without an image (Trainer 2.3)."""
    known = {text(j.get("name")): j for j in runtimes.replicated_jobs(runtime)}
    spec = at(patch, "trainingRuntimeSpec", "template", "spec")
    base: Path = (*path, "trainingRuntimeSpec", "template", "spec", "replicatedJobs")
    for i, job in enumerate(items(spec.get("replicatedJobs"))):
        name = text(job.get("name"))
        if name not in known:
            yield child((*base, i, "name"), f'Not found: "{name}": the runtime has no such job', _hint(name, known))
            continue
        own = at(known[name], "template", "spec", "template", "spec")
        pod = at(job, "template", "spec", "template", "spec")
        for key in ("initContainers", "containers"):
            there = [text(c.get("name")) for c in items(own.get(key))]
            for j, container in enumerate(items(pod.get(key))):
                if text(container.get("name")) not in there:
                    where = (*base, i, "template", "spec", "template", "spec", key, j, "name")
                    text_ = (
                        f'Not found: "{text(container.get("name"))}": the runtime\'s job {name} has no such container'
                    )
                    yield child(where, text_, _hint(text(container.get("name")), there))


def _hint(name: str, known: Mapping[str, Any] | Sequence[str]) -> str:
    meant = names.suggest(name, known)
    return (
        f'did you mean "{meant}"?' if meant else "name one of the job's: a patch cannot add one, since it has no image"
    )
