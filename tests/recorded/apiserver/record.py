"""Ask a kube-apiserver the questions of recorded sets anew, or new ones, and record what it
answers.

A set is the name of a file below tests/recorded, such as apiserver/surface/mutants. The server is
that of KUBECONFIG or `--server`; it needs the CRDs of tests/recorded/crds, privileged pods, and no
operator's webhook. Everything is a dry run, except updates, objects that live, and the objects that
admission plugins read: those are created in a namespace of their own, and removed.
"""

from __future__ import annotations

import copy
import json
import random
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from tests import recorded
from tests.recorded.apiserver.changes import draw
from tests.recorded.apiserver.growth import Growth
from tests.recorded.recording import (
    APPLY,
    DRY_RUN,
    NAMESPACE,
    Answer,
    Json,
    Made,
    Server,
    asked,
    connected,
    finish,
    header,
    in_spaces,
    namespace,
    no_kind,
    owned,
    server_arguments,
    without_namespace,
)

RECORDER = "tests.recorded.apiserver.record"
ANSWERS = ("accepted", "message", "warnings", "pod", "unforced", "unforced_message")
"""The fields that hold what the server said."""
UNKNOWN_CLASS = "no PriorityClass with name"
"""The rejection of a class that only a cluster knows: such rows count as accepted."""
DEPENDS_ON_CLUSTER = re.compile(
    r"no PriorityClass with name|RuntimeClass .* not found|not in the valid range|dual-stack services"
    r"|not configured on this cluster|without corresponding RuntimeClass"
)
"""Rejections that another cluster would not give: new questions that meet them are dropped."""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
FREE = f"{DRY_RUN}&fieldManager=kubectl"
"""An apply without force, which fails on conflicts with other managers."""


def verdict(server: Server, manifest: Json) -> Json:
    """Return what the server says to the creation of an object."""
    answer = ask(server, manifest)
    return (
        {"accepted": True, "message": ""} if UNKNOWN_CLASS in answer.message else answer.verdict()
    )


def ask(server: Server, manifest: Json) -> Answer:
    """Return the answer to a dry run. Raises LookupError if the server does not have the kind."""
    answer = server.dry_run(manifest)
    if answer is None:
        raise no_kind(manifest)
    return answer


def as_pod(template: Any, name: str = "probe") -> Json | None:
    """Return a pod template as a Pod, or None if it is no mapping."""
    if not isinstance(template, dict):
        return None
    metadata = template.get("metadata")
    named = {**(metadata if isinstance(metadata, dict) else {}), "name": name}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": without_namespace({"metadata": named})["metadata"],
            "spec": template.get("spec")}  # fmt: skip


def value_at(manifest: Any, path: list[Any]) -> Any:
    """Return the value at a path, or None if the path leaves the manifest."""
    with suppress(LookupError, TypeError):
        for key in path:
            manifest = manifest[key]
        return manifest
    return None


def manifests(server: Server, name: str) -> Iterator[Json]:
    """Yield the manifests of a set, each with the verdict on it, and with the warnings if the set
    has them.
    """
    for row in recorded.rows(name):
        warned = {"warnings": [*ask(server, row["manifest"]).warnings]} if "warnings" in row else {}
        yield {**row, **verdict(server, row["manifest"]), **warned}


def pods(server: Server, name: str) -> Iterator[Json]:
    """Yield the pod templates of manifests, each posted as a Pod."""
    bases = recorded.manifests("apiserver/real")
    for row in recorded.rows(name):
        pod = as_pod(value_at(bases[row["id"]], row["template"]))
        yield {**row, **verdict(server, pod or {})}


def mutants(server: Server, name: str) -> Iterator[Json]:
    """Yield the changes of a set, each with the verdict on the changed manifest and on its pod, as
    the set had it.
    """
    bases = recorded.manifests(bases_of(name))
    for row in recorded.rows(name):
        manifest = recorded.changed(bases[row["base"]], row)
        answer = {**row, **verdict(server, manifest)}
        template = row.get("pod", {}).get("template")
        pod = as_pod(value_at(manifest, template)) if template and answer["accepted"] else None
        yield {**answer, "pod": {"template": template, **verdict(server, pod)}} if pod else answer


def updates(server: Server, name: str) -> Iterator[Json]:
    """Yield changes of objects that exist, each with the verdict on applying the changed file."""
    bases = recorded.manifests(bases_of(name))
    rows = list(recorded.rows(name))
    with owned(server) as made:
        for base in dict.fromkeys(row["base"] for row in rows):
            stored = stored_base(server, made, base, bases[base])
            path = server.object_path(stored)
            for row in (row for row in rows if row["base"] == base):
                yield {**row, **applied(server, path, recorded.changed(stored, row)).verdict()}
            made.remove(keep=1)


def stored_base(server: Server, made: Made, base: str, manifest: Json) -> Json:
    """Create a base under a name of the recorder's own, and return the file that made it."""
    file = copy.deepcopy(without_namespace(manifest))
    metadata = file.setdefault("metadata", {})
    metadata.pop("generateName", None)
    metadata["name"] = f"u-{base.lower()}"
    made.apply(file)
    return file


def applied(server: Server, path: str, manifest: Json, query: str = f"{FREE}&force=true") -> Answer:
    """Return the answer to `kubectl apply --server-side` of a file over the object at a path, as a
    dry run.
    """
    return server.request("PATCH", f"{path}?{query}", manifest, APPLY)


def live_space(row: Json) -> Json:
    return namespace(row["live"]["metadata"].get("namespace", NAMESPACE))


def unchanged(server: Server, name: str) -> Iterator[Json]:
    """Yield files and the objects that they make, where a second apply changes nothing."""
    for made, row in in_spaces(server, recorded.rows(name), live_space):
        live = created_by_kubectl(made, row, live_space(row)["metadata"]["name"])
        path = server.object_path(live)
        again = applied(server, path, row["manifest"]).data if row["how"] == "server-side" else live
        if again["metadata"].get("generation") == live["metadata"].get("generation"):
            yield {**row, "live": live}


def created_by_kubectl(made: Made, row: Json, space: str) -> Json:
    """Create an object as `kubectl apply` does, server-side or with the file in an annotation, and
    return it.
    """
    file = row["manifest"]
    metadata = {
        **file["metadata"],
        **({"namespace": space} if "namespace" in row["live"]["metadata"] else {}),
    }
    if row["how"] == "server-side":
        return made.apply({**file, "metadata": metadata})
    last = as_go_writes({**file, "metadata": {"annotations": {}, **metadata}})
    annotations = {**metadata.get("annotations", {}), LAST_APPLIED: f"{last}\n"}
    return made.create(
        {**file, "metadata": {**metadata, "annotations": annotations}}, "kubectl-client-side-apply"
    )


def as_go_writes(value: Json) -> str:
    """Return JSON as Go's encoder writes it: keys sorted, no spaces, `<`, `>` and `&` escaped."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return re.sub("[<>&]", lambda match: f"\\u{ord(match.group()):04x}", text)


def changed(server: Server, name: str) -> Iterator[Json]:
    """Yield objects that another manager changed, each with the answers to applying a file."""
    for made, row in in_spaces(server, recorded.rows(name), live_space):
        made.restore(row["live"])
        path = server.object_path(row["live"])
        forced = applied(server, path, row["manifest"]).verdict()
        free = applied(server, path, row["manifest"], FREE).verdict()
        unforced = {"unforced": free["accepted"], "unforced_message": free["message"]}
        yield {**row, **forced, **unforced}


def admission(server: Server, name: str) -> Iterator[Json]:
    """Yield objects created next to those that an admission plugin reads, with its answer."""
    for made, row in in_spaces(server, recorded.rows(name), admission_space):
        for other in row["beside"]:
            if other != admission_space(row):
                made.create(with_quota_status(other))
        path = server.path(row["manifest"], space_of(row))
        sent = server.request("POST", f"{path}?{DRY_RUN}", row["manifest"])
        warned = {"warnings": list(sent.warnings)} if sent.warnings else {}
        kept = asked(row, ANSWERS)
        yield {**kept, **sent.verdict(), **warned, **admitted_pod(server, row)}


def admission_space(row: Json) -> Json:
    """Return the namespace of a row's object, as it stood beside it, or without labels."""
    spaces = (one for one in row["beside"] if one["kind"] == "Namespace")
    same = (space for space in spaces if space["metadata"]["name"] == space_of(row))
    return next(same, namespace(space_of(row)))


def admitted_pod(server: Server, row: Json) -> Json:
    """Return the answer to the pod of a Job, if the set has it: the Job controller's request, made
    by the recorder.
    """
    if "pod" not in row:
        return {}
    pod = as_pod(row["manifest"]["spec"]["template"], "x") or {}
    return {
        "pod": server.request("POST", f"{server.path(pod, space_of(row))}?{DRY_RUN}", pod).verdict()
    }


def space_of(row: Json) -> str:
    return str(row["manifest"]["metadata"].get("namespace", "default"))


def with_quota_status(manifest: Json) -> Json:
    """Return a ResourceQuota with the status that the quota controller writes: everything free.
    Others unchanged.
    """
    if manifest["kind"] != "ResourceQuota":
        return manifest
    hard = manifest["spec"]["hard"]
    return {**manifest, "status": {"hard": hard, "used": dict.fromkeys(hard, "0")}}


def warnings(server: Server, name: str) -> Iterator[Json]:
    """Yield accepted objects with the server's warnings; rows of other versions stay as they are.

    A version without rows is asked about the manifests of the newest version that has some.
    """
    rows = list(recorded.rows(name))
    versions = sorted(
        {row["kubernetes"] for row in rows}, key=lambda text: int(text.partition(".")[2])
    )
    source = server.version if server.version in versions else versions[-1]
    yield from (row for row in rows if row["kubernetes"] != server.version)
    for row in (row for row in rows if row["kubernetes"] == source):
        sent = server.dry_run(row["manifest"])
        if sent is not None and sent.accepted:
            yield {**row, "kubernetes": server.version, "warnings": list(sent.warnings)}


def bases_of(name: str) -> str:
    """Return the set that has the manifests of a set's ids."""
    folder = name.rpartition("/")[0]
    return (
        "apiserver/surface/real" if folder.startswith("apiserver/versions/") else f"{folder}/real"
    )


class Drawn(NamedTuple):
    """A question that nobody asked yet."""

    base: str
    op: str
    path: list[Any]
    value: Any


def new_mutants(server: Server, name: str, count: int, seed: int) -> Iterator[Json]:
    """Yield new questions with their answers: half by changes that people make, half by the
    server's own OpenAPI.

    Accepted and rejected answers are kept in about equal numbers.
    """
    known = recorded.manifests(bases_of(name))
    bases = {base: one for base, one in known.items() if verdict(server, one)["accepted"]}
    accepted = total = 0
    for drawn in islice(draws(server, bases, seed), 200 * count):
        answer = verdict(server, recorded.changed(bases[drawn.base], drawn._asdict()))
        if DEPENDS_ON_CLUSTER.search(answer["message"]):
            continue
        if is_surplus(accepted, total, is_accepted=answer["accepted"]):
            continue
        yield {**drawn._asdict(), **answer}
        accepted, total = accepted + answer["accepted"], total + 1
        if total == count:
            return


def is_surplus(accepted: int, total: int, *, is_accepted: bool) -> bool:
    """Return whether more than 55 % of the answers would be alike."""
    alike = accepted if is_accepted else total - accepted
    return total > 20 and alike > 0.55 * total


def draws(server: Server, bases: dict[str, Json], seed: int) -> Iterator[Drawn]:
    """Yield new changes of the bases, each once, the same ones for the same seed and server."""
    rng = random.Random(seed)  # noqa: S311 - the same questions each time
    growth = Growth(server, {manifest["apiVersion"] for manifest in bases.values()}, rng)
    by_kind = defaultdict(list)
    for base, manifest in bases.items():
        by_kind[manifest["apiVersion"], manifest["kind"]].append(base)
    seen = set()
    while True:
        base = rng.choice(by_kind[rng.choice(list(by_kind))])
        make = growth.addition if rng.random() < 0.5 else (lambda manifest: draw(manifest, rng))
        change = make(bases[base])
        key = json.dumps([base, change], sort_keys=True)
        if change is not None and key not in seen:
            seen.add(key)
            yield Drawn(base, *change)


Asking = Callable[[Server, str], Iterator[Json]]
DRY_RUNS: dict[str, Asking] = {
    "real": manifests,
    "pods": pods,
    "mutants": mutants,
    "warnings": warnings,
}
"""How sets are asked that need no object, by the last part of their names."""
WITH_OBJECTS: dict[str, Asking] = {
    "updates": updates,
    "unchanged": unchanged,
    "changed": changed,
    "creates": admission,
}
"""How sets are asked that need objects, which each of them creates in namespaces of its own."""


def answers(server: Server, name: str, new: int = 0, seed: int = 1) -> Iterator[Json]:
    """Yield the cases of a set with the server's answers, and new cases if it is a set of changes."""
    last = name.rpartition("/")[2]
    if last in WITH_OBJECTS:
        yield from WITH_OBJECTS[last](server, name)
        return
    with owned(server):
        yield from DRY_RUNS[last](server, name)
        if new:
            yield from new_mutants(server, name, new, seed)


def main() -> int:
    """Record the named sets, or compare them. Returns the exit status."""
    parser = server_arguments(RECORDER, __doc__)
    parser.add_argument(
        "--new", type=int, metavar="N", help="add N new questions to sets of changes"
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="draws other new questions (default: 1)"
    )
    options = parser.parse_args()
    status = 0
    with connected(options.server) as server:
        for name in options.sets:
            refuse_other_release(name, server)
            rows = list(answers(server, name, options.new or 0, options.seed))
            first = header(RECORDER, {"kubernetes": server.version})
            status |= finish(name, first, rows, ANSWERS, check=options.check)
    return status


def refuse_other_release(name: str, server: Server) -> None:
    """Raise ValueError if a set of one release would be asked of a server of another."""
    folder, _, version = name.rpartition("/")[0].rpartition("/")
    if folder == "apiserver/versions" and version != server.version:
        message = (
            f"{name} has the answers of Kubernetes {version}, but the server is {server.version}"
        )
        raise ValueError(message)


if __name__ == "__main__":
    sys.exit(main())
