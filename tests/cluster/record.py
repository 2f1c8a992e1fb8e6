"""Run a handful of jobs on a cluster and record them: `python -m tests.cluster.record cluster/SET`.

Each job is compiled for each target whose operator is installed, created in a namespace of the
recorder's own, followed until its end and removed. --check compares the runs of a recording with
what ptcompile says. The image needs a shell and `env`.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import quote

import yaml

import ptcompile
from tests.cluster.runs import KINDS, Run, compare, recorded_runs
from tests.recorded.recording import (
    NAMESPACE,
    Json,
    Made,
    Server,
    connected,
    header,
    owned,
    server_arguments,
    write,
)

RECORDER = "tests.cluster.record"
IMAGE = "busybox:1.36"
LONGEST_SECONDS = 300
"""A job is followed for so long if it does not end."""
BODIES: dict[str, str] = {
    "one": "nodes: 1",
    "two": "nodes: 2\nenv: {A: '1', B: '$(A)2'}",
    "fail": "nodes: 1\nenv: {CODE: '3'}",
    "retry": "nodes: 1\nenv: {CODE: '3'}\nrunPolicy: {backoffLimit: 1, onPodFailure: RestartPod}",
}
"""The jobs, each for every installed target that can express it."""
_SCRIPT = (
    r"echo ENV; env; echo ARGV; tr '\0' '\n' </proc/1/cmdline; echo END; sleep 5; exit ${CODE:-0}"
)
_OF_IMAGE = re.compile(
    r"PATH|HOME|HOSTNAME|PWD|SHLVL|OLDPWD|KUBERNETES_\w+|\w+_SERVICE_\w+|\w+_PORT(_\w+)?"
)
"""Variables of the image, the shell and Services, which the pod's spec does not have."""
_MASTER_PORT = "MASTER_PORT"


def installed_targets(server: Server) -> list[str]:
    """Return the targets whose kinds the API server knows."""
    return [target for target, kind in KINDS.items() if server.path(_object(kind, ""))]


def _object(kind: tuple[str, str], name: str) -> Json:
    """Return what says which object is meant."""
    api_version, kind_name = kind
    return {"apiVersion": api_version, "kind": kind_name, "metadata": {"name": name}}


def spec_of(name: str, body: str, image: str = IMAGE) -> Json:
    """Return the spec of one job, whose processes print their environment."""
    fields = {
        "image": image,
        "command": ["sh", "-c", _SCRIPT],
        "resources": {"cpu": "20m", "memory": "64Mi"},
    }
    return {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {**fields, **yaml.safe_load(body)},
    }


def record(
    made: Made, name: str, target: str, result: ptcompile.Result, *, interval: float
) -> Json:
    """Create a job, follow it until its end, remove it, and return its run."""
    existing = len(made)
    try:
        for manifest in result.manifests:
            made.create(manifest)
        timeline, pods, logs = _follow(result.handle, made.server, interval)
    finally:
        made.remove(keep=existing)
    return {
        "id": f"{name}-{target}",
        "target": target,
        "fault": None,
        "manifests": [*result.manifests],
        "pods": [
            _seen_pod(pod_name, pod, logs.get(pod_name)) for pod_name, pod in sorted(pods.items())
        ],
        "timeline": timeline,
    }


def _follow(
    handle: ptcompile.Handle, server: Server, interval: float
) -> tuple[list[list[Any]], dict[str, Json], dict[str, str]]:
    """Return every change of the job, the objects below it and its pods; the pods as created; and their logs."""
    start = time.monotonic()
    timeline: list[list[Any]] = []
    last: dict[str, list[Any]] = {}
    pods: dict[str, Json] = {}
    logs: dict[str, str] = {}
    is_done = False
    while not is_done and time.monotonic() - start < LONGEST_SECONDS:
        present = [*_objects(handle, server)]
        is_done = any(ptcompile.status(item).done for item in present if _is_job(item, handle))
        for item in present:
            uid, entry = item["metadata"]["uid"], _entry(item)
            if last.get(uid) != entry:
                last[uid] = entry
                timeline.append([round(time.monotonic() - start, 1), *entry])
            if item["kind"] == "Pod":
                pods.setdefault(_base_name(item), item)
                if (
                    item["status"].get("phase") in ("Succeeded", "Failed")
                    and _base_name(item) not in logs
                ):
                    logs[_base_name(item)] = server.get(f"{server.object_path(item)}/log").text
        time.sleep(0 if is_done else interval)
    return timeline, pods, logs


def _objects(handle: ptcompile.Handle, server: Server) -> Iterator[Json]:
    """Yield the job, the Jobs and the JobSet below it, and its pods."""
    job = handle.job
    own = [] if job.kind == "Pod" else [(job.api_version, job.kind)]
    own += [KINDS["jobset"]] if job.kind == "TrainJob" else []
    for kind in own:
        answer = server.request("GET", server.object_path(_object(kind, job.name)))
        if answer.accepted:
            yield answer.data

    selector = f"fieldSelector={quote(handle.field_selector or '')}"
    if handle.label_selector:
        selector = f"labelSelector={quote(handle.label_selector)}"
    lists = [KINDS["pod"]]
    if job.kind in ("JobSet", "TrainJob"):
        lists.insert(0, KINDS["job"])
    for kind in lists:
        # the objects of a list do not say their kind
        about = _object(kind, "")
        yield from ({**about, **item} for item in server.items(f"{server.path(about)}?{selector}"))


def _is_job(item: Json, handle: ptcompile.Handle) -> bool:
    return (item["kind"], item["metadata"]["name"]) == (handle.job.kind, handle.job.name)


def _entry(item: Json) -> list[Any]:
    metadata = item["metadata"]
    if item["kind"] == "Pod":
        return ["Pod", _base_name(item), metadata["uid"], _pod_text(item)]
    return [item["kind"], metadata["name"], metadata["uid"], item.get("status", {})]


def _base_name(pod: Json) -> str:
    """Return the pod's name without the random part that a Job adds to it."""
    name: str = pod["metadata"]["name"]
    owners = [owner["kind"] for owner in pod["metadata"].get("ownerReferences", [])]
    is_of_job = "Job" in owners and "batch.kubernetes.io/job-name" in pod["metadata"].get(
        "labels", {}
    )
    return name.rpartition("-")[0] if is_of_job else name


def _pod_text(pod: Json) -> str:
    """Return phase and container states of a pod in one line, such as `Running pytorch=running r0`."""
    status = pod["status"]
    words = [status.get("phase", "Pending")]
    for condition in status.get("conditions", []):
        if (condition["type"], condition["status"]) == ("PodScheduled", "False"):
            words.append(f"unscheduled:{condition['reason']}")
    for container in (
        *status.get("initContainerStatuses", []),
        *status.get("containerStatuses", []),
    ):
        ((state, details),) = container["state"].items()
        reason = f":{details['reason']}" if "reason" in details else ""
        code = f"/{details['exitCode']}" if "exitCode" in details else ""
        words += [f"{container['name']}={state}{reason}{code}", f"r{container['restartCount']}"]
    words += [
        item["type"] for item in status.get("conditions", []) if item["type"] == "DisruptionTarget"
    ]
    return " ".join([*words, *(["deleting"] if "deletionTimestamp" in pod["metadata"] else [])])


def _seen_pod(name: str, pod: Json, log: str | None) -> Json:
    seen: dict[str, Any] = {"name": name, "labels": pod["metadata"].get("labels", {})}
    if log is not None and "\nEND" in log:
        environment, _, command = (
            log.partition("ENV\n")[2].partition("\nEND")[0].partition("\nARGV\n")
        )
        seen["argv"] = command.splitlines()
        values = dict(line.split("=", 1) for line in environment.splitlines() if "=" in line)
        seen["env"] = {
            key: value
            for key, value in values.items()
            if key == _MASTER_PORT or not _OF_IMAGE.fullmatch(key)
        }
    return seen


def recorded_rows(server: Server, *, image: str = IMAGE, interval: float = 0.5) -> Iterator[Json]:
    """Yield the run of each job for each installed target that can express it."""
    targets = installed_targets(server)
    with owned(server) as made:
        for target in targets:
            for name, body in BODIES.items():
                result = ptcompile.compile(spec_of(f"{name}-{target}", body, image), target=target)
                if result.ok:
                    yield record(made, name, target, result, interval=interval)


def differences(runs: Iterable[Run]) -> list[str]:
    """Return a line for each comparison of runs that differs."""
    compared = [(run.id, item) for run in runs for item in compare(run)]
    return [f"{run_id}: {item}" for run_id, item in compared if not item.agrees]


def main(arguments: Sequence[str] | None = None) -> int:
    """Record the named sets, or with --check compare their runs. Returns the exit status."""
    parser = server_arguments(RECORDER, __doc__)
    parser.add_argument(
        "--release",
        action="append",
        default=[],
        metavar="SOFTWARE=VERSION",
        help="of each operator, by its name in a profile, such as trainingOperator=1.9",
    )
    parser.add_argument("--image", default=IMAGE)
    options = parser.parse_args(arguments)
    releases = dict(release.split("=", 1) for release in options.release)
    status = 0
    for name in options.sets:
        if not options.check:
            with connected(options.server) as server:
                first = header(RECORDER, {"kubernetes": server.version, **releases})
                write(name, first, recorded_rows(server, image=options.image))
        lines = differences(recorded_runs(name))
        sys.stdout.writelines(f"{line}\n" for line in lines)
        status |= bool(lines)
    return status


if __name__ == "__main__":
    sys.exit(main())
