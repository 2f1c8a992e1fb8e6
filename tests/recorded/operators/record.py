"""Ask a cluster with an operator what it does with manifests, and record the rejections, and the
pods that it makes.

The cluster of KUBECONFIG (or `--server`) has the operator with its webhooks and CRDs, and
Kubernetes' controllers for JobSet and TrainJob; it needs no nodes, because no pod has to run. Each
manifest is a dry run first; if it is accepted, it is created in a namespace of the recorder's own
and removed again.

The first recordings called the operators' own code instead. A cluster does not show what they had
besides: `mutated`, `extra`, `pruned`, `refused` and `controllerError` keep their recorded values.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from tests import oracle
from tests.recorded.recording import (
    NAMESPACE,
    Answer,
    Json,
    Server,
    asked,
    connected,
    finish,
    header,
    namespace,
    owned,
    server_arguments,
    until,
)

RECORDER = "tests.recorded.operators.record"
ANSWERS = (
    "accepted",
    "stage",
    "errors",
    "warnings",
    "pods_total",
    "pods",
    "services",
    "configmaps",
    "jobs",
    "same_as_base",
)
MADE = ("pods_total", "pods", "services", "configmaps", "jobs")
"""The fields about what a controller made; a mutant that changes none of them has `same_as_base`
instead.
"""
DENIED = re.compile(r'admission webhook "([^"]+)" denied the request: (.*)', re.DOTALL)
PODS = f"{NAMESPACE}-pods"
"""The namespace of what controllers make; dry runs are in the other one. Recordings say `default`."""
QUIET_SECONDS = 2.0
"""A controller is done when it has made nothing new for so long."""
LONGEST_SECONDS = 30.0
WHOLE, FIRST, LAST = 12, 8, 2
"""A role of more pods than the first number is recorded by its first and last ones."""

ROLES = (
    "training.kubeflow.org/replica-type",
    "volcano.sh/task-spec",
    "jobset.sigs.k8s.io/replicatedjob-name",
)
INDEXES = (
    "training.kubeflow.org/replica-index", "volcano.sh/task-index", "batch.kubernetes.io/job-completion-index",
)  # fmt: skip
JOB_INDEX = "jobset.sigs.k8s.io/job-index"
UID_LABELS = (
    "batch.kubernetes.io/controller-uid",
    "controller-uid",
    "jobset.sigs.k8s.io/jobset-uid",
)
"""Labels that differ at each creation."""
POD_FIELDS = (
    "hostname",
    "subdomain",
    "restartPolicy",
    "schedulerName",
    "dnsPolicy",
    "priorityClassName",
)


def answers(server: Server, operator: str) -> Iterator[Json]:
    """Yield the rows of an operator's set with new answers."""
    with owned(server):
        yield from answered(server, operator)


def answered(server: Server, operator: str) -> Iterator[Json]:
    """Yield the rows of an operator's set; the namespace of dry runs exists."""
    mutating = webhooks(server, "mutatingwebhookconfigurations")
    by_base: dict[str, Json] = {}
    for row, manifest in oracle.rows(operator):
        kept = asked(row, ANSWERS)
        sent = server.dry_run(manifest) or Answer(404, {"message": "no such kind here"})
        if not sent.accepted:
            yield {**kept, **rejection(sent, mutating)}
            continue
        made = {} if manifest["kind"].endswith("Runtime") else expanded(server, named(manifest))
        warned = {"warnings": list(sent.warnings)} if sent.warnings else {}
        if "base" not in row:
            by_base[str(row.get("id"))] = made
        is_same = bool(made) and "base" in row and made == by_base.get(row["base"])
        yield {**kept, "accepted": True, **warned, **({"same_as_base": True} if is_same else made)}


def named(manifest: Json) -> Json:
    """Return a manifest for the namespace of pods; the end that a server would add to
    `generateName` is `abcde`.
    """
    metadata = {**manifest["metadata"], "namespace": PODS}
    name = metadata["name"] if "name" in metadata else f"{metadata['generateName']}abcde"
    return {**manifest, "metadata": {**metadata, "name": name}}


def webhooks(server: Server, configurations: str) -> set[str]:
    """Return the names of the webhooks in all configurations of a type."""
    path = f"/apis/admissionregistration.k8s.io/v1/{configurations}"
    return {hook["name"] for one in server.items(path) for hook in one.get("webhooks", ())}


def rejection(answer: Answer, mutating: set[str]) -> Json:
    """Return who rejected an object, and the reasons."""
    denied = DENIED.search(answer.message)
    details = answer.data.get("details", {})
    causes = [f"{cause['field']}: {cause['message']}" for cause in details.get("causes", ())]
    if denied:
        stage = "mutate" if denied[1] in mutating else "webhook"
        return {"accepted": False, "stage": stage, "errors": [denied[2]]}
    is_decoder = "cannot be handled as" in answer.message
    return {
        "accepted": False,
        "stage": "decode" if is_decoder else "crd",
        "errors": causes or [answer.message],
    }


def expanded(server: Server, manifest: Json) -> Json:
    """Create an object, wait until its controllers are done, and return what they made. Everything
    is removed again.
    """
    with owned(server, namespace(PODS)) as made:
        made.create(manifest)
        objects = settled(server)
        pods = sorted(objects["pods"], key=lambda pod: pod["metadata"]["name"])
        found = {
            "pods_total": len(pods),
            "pods": shortened(list(numbered(pods))),
            "services": [service_row(one) for one in by_name(objects["services"])],
            "configmaps": [
                {"name": one["metadata"]["name"], "data": one["data"]}
                for one in by_name(objects["configmaps"])
            ],
            "jobs": [job_row(one) for one in by_name(objects["jobs"])],
        }
    kept = {key: value for key, value in found.items() if value or key == "pods_total"}
    told: Json = json.loads(json.dumps(kept).replace(PODS, "default"))
    return told


def settled(server: Server) -> dict[str, list[Json]]:
    """Return what is in the namespace of pods when nothing new comes."""
    seen: dict[str, list[Json]] = {name: [] for name in KINDS}
    since = time.monotonic()

    def is_quiet() -> bool:
        nonlocal seen, since
        now = {name: listed(server, root, name) for name, root in KINDS.items()}
        if names_of(now) != names_of(seen):
            seen, since = now, time.monotonic()
        return time.monotonic() - since >= QUIET_SECONDS

    until(is_quiet, LONGEST_SECONDS)
    return seen


KINDS = {
    "pods": "/api/v1",
    "services": "/api/v1",
    "configmaps": "/api/v1",
    "jobs": "/apis/batch/v1",
}
OF_CLUSTER = ("kube-root-ca.crt",)
"""ConfigMaps that every namespace has."""


def listed(server: Server, root: str, name: str) -> list[Json]:
    items = server.items(f"{root}/namespaces/{PODS}/{name}")
    return [item for item in items if item["metadata"]["name"] not in OF_CLUSTER]


def names_of(objects: dict[str, list[Json]]) -> list[str]:
    return sorted(
        f"{kind}/{one['metadata']['name']}" for kind, found in objects.items() for one in found
    )


def by_name(objects: Iterable[Json]) -> list[Json]:
    return sorted(objects, key=lambda one: str(one["metadata"]["name"]))


def shortened(pods: list[Json]) -> list[Json]:
    """Return the first and last pods of each role, by index."""
    groups: dict[Any, list[Json]] = defaultdict(list)
    for pod in pods:
        groups[pod["role"]].append(pod)
    kept = (
        sorted(group, key=lambda pod: (pod.get("jobIndex", 0), pod["index"]))
        for group in groups.values()
    )
    return [pod for group in kept for pod in ends(group)]


def ends(pods: list[Json]) -> list[Json]:
    """Return the first and last pods of a role, or all of them if they are few."""
    return pods if len(pods) <= WHOLE else [*pods[:FIRST], *pods[-LAST:]]


def numbered(pods: Iterable[Json]) -> Iterator[Json]:
    """Yield the recorded part of each pod. The pods of a Job without indexes are alike, and are
    counted.
    """
    without_index: Counter[str] = Counter()
    for pod in pods:
        row = pod_row(pod)
        if row["index"] is None:
            row["index"] = without_index[row["group"]]
            without_index[row["group"]] += 1
        yield row


def pod_row(pod: Json) -> Json:
    """Return the recorded part of a pod: names, labels, and what its containers get."""
    metadata, spec = pod["metadata"], pod["spec"]
    labels = {
        key: value for key, value in metadata.get("labels", {}).items() if key not in UID_LABELS
    }
    job = labels.get("batch.kubernetes.io/job-name")
    index = next((int(labels[key]) for key in INDEXES if key in labels), None)
    start = metadata.get("generateName", "")
    # the Job controller ends the name of each pod with random letters
    names = (
        {"name": start.removesuffix("-"), "generateName": start, "group": job}
        if job
        else {"name": metadata["name"]}
    )
    of_job = {"jobIndex": int(labels[JOB_INDEX])} if JOB_INDEX in labels else {}
    containers = [
        container_row(container, is_init=True) for container in spec.get("initContainers", ())
    ]
    containers += [container_row(container, is_init=False) for container in spec["containers"]]
    annotations = metadata.get("annotations")
    return {
        **names,
        "role": next((labels[key] for key in ROLES if key in labels), ""),
        **of_job,
        "index": index,
        **{key: spec[key] for key in POD_FIELDS if key in spec},
        "labels": labels,
        **({"annotations": annotations} if annotations else {}),
        "containers": containers,
    }


def container_row(container: Json, *, is_init: bool) -> Json:
    added: Json = {
        key: container[key] for key in ("image", "command", "args") if is_init and key in container
    }
    env = [env_row(variable) for variable in container.get("env", ())]
    return {
        "name": container["name"],
        "init": is_init,
        **added,
        "env": env,
        "ports": container.get("ports", []),
    }


def env_row(variable: Json) -> Json:
    """Return a variable; a field of the pod is its path alone."""
    field = variable.get("valueFrom", {}).get("fieldRef")
    return {"name": variable["name"], "fieldRef": field["fieldPath"]} if field else variable


def service_row(service: Json) -> Json:
    spec = service["spec"]
    return {
        "name": service["metadata"]["name"],
        "headless": spec.get("clusterIP") == "None",
        "publishNotReadyAddresses": bool(spec.get("publishNotReadyAddresses")),
        "selector": spec.get("selector", {}),
    }


def job_row(job: Json) -> Json:
    spec, labels = job["spec"], job["metadata"].get("labels", {})
    fields = {
        key: spec[key]
        for key in ("backoffLimit", "completionMode", "completions", "parallelism")
        if key in spec
    }
    of_set = (
        {"index": int(labels[JOB_INDEX]), "replicatedJob": labels[ROLES[2]]}
        if JOB_INDEX in labels
        else {}
    )
    return {**fields, "name": job["metadata"]["name"], **of_set}


def main() -> int:
    """Record the named sets, or compare them. Returns the exit status."""
    parser = server_arguments(RECORDER, __doc__)
    parser.add_argument(
        "--release", required=True, metavar="VERSION", help="of the operator, such as 0.12.1"
    )
    options = parser.parse_args()
    software = {"operators/pytorchjob": "training_operator", "operators/trainjob": "trainer"}
    status = 0
    with connected(options.server) as server:
        for name in options.sets:
            operator = name.rpartition("/")[2]
            versions = {software.get(name, operator): options.release, "kubernetes": server.version}
            rows = list(answers(server, operator))
            status |= finish(name, header(RECORDER, versions), rows, ANSWERS, check=options.check)
    return status


if __name__ == "__main__":
    sys.exit(main())
