"""Ask an API server with Kueue what its webhooks say to objects, and what its scheduler does with
jobs.

The cluster of KUBECONFIG (or `--server`) has Kueue with the CRDs of the kinds that it queues.
kueue/own and kueue/foreign need its webhooks, with all job kinds switched on, and no controllers;
kueue/admission needs its controllers and scheduler, and neither webhooks nor kubelets. Objects have
the names of the set, so a cluster that has one of them already stops the recorder, which changes
and removes only what it created.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from tests import recorded
from tests.recorded.recording import (
    DRY_RUN,
    Answer,
    Json,
    Made,
    Server,
    asked,
    connected,
    finish,
    header,
    owned,
    server_arguments,
    until,
)

RECORDER = "tests.recorded.kueue.record"
ANSWERS = ("accepted", "stage", "errors", "v018", "answers")
OLDER = "0.18"
"""The release whose answers are in `v018`; a newer one answers in the row itself."""
LONGEST_REASON = 300
ANSWER_SECONDS = 5.0
"""A workload without an answer after so long waits behind another one."""
WORKLOADS = "/apis/kueue.x-k8s.io/v1beta1/namespaces/default/workloads"
UPDATED = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "u"}}
"""The namespace of the objects that are updated."""
PREEMPTED = re.compile(r"accommodate a workload \(UID: [^,]*, JobUID: ([\w-]+)\) due to ([\w ]+)")
HOW = {
    "prioritization in the ClusterQueue": "InClusterQueue",
    "reclamation within the cohort": "InCohortReclamation",
    "Fair Sharing within the cohort": "InCohortFairSharing",
    "reclamation within the cohort while borrowing": "InCohortReclaimWhileBorrowing",
}
"""Reasons of a preemption, by Kueue's words (pkg/scheduler/preemption)."""


def creates(server: Server, name: str) -> Iterator[Json]:
    """Yield objects with operations on them, each with the answer to its creation."""
    bases = recorded.manifests(f"{name.rpartition('/')[0]}/real")
    with beside(server, name):
        for row in recorded.rows(name):
            manifest = recorded.with_operations(bases[row["base"]], row["ops"])
            metadata = manifest.get("metadata")
            space = metadata.get("namespace") if isinstance(metadata, dict) else None
            path = server.path(manifest, space if isinstance(space, str) else "default")
            answer = server.request("POST", f"{path}?{DRY_RUN}", manifest)
            yield {**asked(row, ANSWERS), **outcome(answer, has_reasons="/foreign/" in name)}


def updates(server: Server, name: str) -> Iterator[Json]:
    """Yield objects that exist, each with the answer to an update that is sent whole."""
    bases = recorded.manifests(f"{name.rpartition('/')[0]}/real")
    with beside(server, name) as made:
        for row in recorded.rows(name):
            existing = len(made)
            old = recorded.with_operations(bases[row["base"]], row["old_ops"])
            stored = in_state(made, old, row["state"])
            new = recorded.with_operations(stored, row["ops"])
            answer = server.request("PUT", f"{server.object_path(old)}?{DRY_RUN}", new)
            made.remove(keep=existing)
            yield {**asked(row, ANSWERS), **outcome(answer, has_reasons="/foreign/" in name)}


def in_state(made: Made, old: Json, state: str) -> Json:
    """Create an object and return it in its state: Kueue's webhook suspends it at creation, an
    update starts it.
    """
    stored = made.create(old)
    if state not in ("running", "ready"):
        return stored
    path = made.server.object_path(old)
    started = made.server.request("PUT", path, {**stored, "spec": old["spec"]}).data
    if "status" not in old:
        return started
    return made.server.request("PUT", f"{path}/status", {**started, "status": old["status"]}).data


@contextmanager
def beside(server: Server, name: str) -> Iterator[Made]:
    """Create what stood in the cluster when a set was recorded: for other projects' kinds, queues
    and runtimes.
    """
    with owned(server) as made:
        for manifest in (
            recorded.rows("kueue/foreign/beside") if "/foreign/" in name else (UPDATED,)
        ):
            made.create(manifest)
        yield made


def outcome(answer: Answer, *, has_reasons: bool) -> Json:
    """Return the fields that hold an answer, with the reason if the set has reasons."""
    if answer.accepted:
        return {"accepted": True}
    reasons = {"errors": [answer.message[:LONGEST_REASON]]} if has_reasons else {}
    return {"accepted": False, "stage": stage_of(answer.message), **reasons}


def stage_of(message: str) -> str:
    """Return who rejected an object, by the words of the rejection."""
    if re.search(r'admission webhook "[^"]*\.kb\.io" denied', message):
        return "kueue"
    if "conversion webhook" in message:
        return "kueue-conversion"
    return "decode" if "cannot be handled as" in message else "apiserver"


def of_release(name: str, rows: list[Json], release: str) -> Iterator[Json]:
    """Yield recorded rows with a release's answers in their place: those of the older one only
    where they differ.
    """
    for old, new in zip(recorded.rows(name), rows, strict=True):
        if not release.startswith(f"{OLDER}."):
            yield {**new, **({"v018": old["v018"]} if "v018" in old else {})}
            continue
        answer = {key: new[key] for key in ("accepted", "stage") if key in new}
        is_same = all(old.get(key) == new.get(key) for key in ("accepted", "stage"))
        yield {**old, "v018": "same" if is_same else answer}


def admission(server: Server, name: str) -> Iterator[Json]:
    """Yield clusters of queues with jobs, each with what became of every job, and of it alone."""
    for row in recorded.rows(name):
        answers = played(server, row["objects"], row["jobs"])
        for job in row["jobs"]:
            alone = played(server, row["objects"], [job])[named(job)]["outcome"]
            answers[named(job)]["alone"] = alone == "admitted"
        yield {**asked(row, ANSWERS), "answers": answers}


def named(manifest: Json) -> str:
    return str(manifest["metadata"]["name"])


def played(server: Server, objects: list[Json], jobs: list[Json]) -> dict[str, Json]:
    """Create a cluster of queues and jobs, each when the one before has its answer, and return what
    became of them.
    """
    with owned(server) as made:
        for manifest in objects:
            made.create(manifest)
        by_uid: dict[str, str] = {}
        for job in jobs:
            stored = made.create(job)
            by_uid[stored["metadata"].get("uid", "")] = named(job)
            until(partial(is_answered, server, named(job)), ANSWER_SECONDS)
        created = workloads(server)
        made.remove(keep=1 + len(objects))
        # without Kubernetes' garbage collector, the Workloads outlive their jobs
        for name in {named(job) for job in jobs} & created.keys():
            server.request("DELETE", f"{WORKLOADS}/{named(created[name])}")
        return {named(job): became(created.get(named(job)), by_uid) for job in jobs}


def workloads(server: Server) -> dict[str, Json]:
    """Return the Workloads by the name of their job."""
    return {
        owner["name"]: workload
        for workload in server.items(WORKLOADS)
        for owner in workload["metadata"].get("ownerReferences", ())
    }


def condition(workload: Json, name: str) -> Json:
    """Return a condition of a workload, or an empty mapping."""
    conditions = workload.get("status", {}).get("conditions", ())
    return next((one for one in conditions if one["type"] == name), {})


def is_answered(server: Server, job: str) -> bool:
    """Return whether the scheduler has said something about a job's workload."""
    return bool(condition(workloads(server).get(job, {}), "QuotaReserved"))


def became(workload: Json | None, by_uid: dict[str, str]) -> Json:
    """Return what the scheduler did with the workload of one job."""
    if workload is None:
        return {"outcome": "no workload"}
    preempted = preemption(condition(workload, "Preempted"), by_uid)
    if condition(workload, "Admitted").get("status") == "True":
        assigned = workload["status"]["admission"]["podSetAssignments"]
        return {"outcome": "admitted", "podSets": [pod_set(one) for one in assigned], **preempted}
    message = condition(workload, "QuotaReserved").get("message")
    is_preempted = preempted and preempted["preempted"]["now"]
    return {
        "outcome": "preempted" if is_preempted else "pending",
        **({"message": message} if message else {}),
        **preempted,
    }


def preemption(told: Json, by_uid: dict[str, str]) -> Json:
    """Return which job preempted a workload, how, and whether it still is, from the words of a
    condition.
    """
    match = PREEMPTED.search(told.get("message", ""))
    if not match:
        return {}
    return {
        "preempted": {
            "by": by_uid.get(match[1], ""),
            "how": HOW[match[2]],
            "now": told["status"] == "True",
        }
    }


def pod_set(assigned: Json) -> Json:
    """Return the recorded part of a pod set's assignment."""
    kept: Json = {key: assigned[key] for key in ("count", "flavors", "name") if key in assigned}
    topology = assigned.get("topologyAssignment")
    return (
        {**kept, "topology": {key: topology[key] for key in ("domains", "levels")}}
        if topology
        else kept
    )


ASKED = {"creates": creates, "updates": updates, "admission": admission}


def main() -> int:
    """Record the named sets, or compare them. Returns the exit status."""
    parser = server_arguments(RECORDER, __doc__)
    parser.add_argument(
        "--release", required=True, metavar="VERSION", help="of Kueue, such as 0.19.2"
    )
    options = parser.parse_args()
    status = 0
    with connected(options.server) as server:
        for name in options.sets:
            rows = of_release(
                name, list(ASKED[name.rpartition("/")[2]](server, name)), options.release
            )
            versions = {
                **recorded.header(name)["versions"],
                "kueue": options.release,
                "kubernetes": server.version,
            }
            status |= finish(name, header(RECORDER, versions), rows, ANSWERS, check=options.check)
    return status


if __name__ == "__main__":
    sys.exit(main())
