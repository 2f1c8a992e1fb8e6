"""Record runs of the cluster that KUBECONFIG names: `python -m tests.cluster.record OUT.jsonl`.

A handful of jobs is compiled for each target whose operator is installed, applied with kubectl, followed until its end
and deleted. Each run is one line, in the form of tests/recorded/cluster; `python -m tests.cluster.record --check
OUT.jsonl` compares such a file with what ptcompile says. The image needs a shell and `env`.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

import ptcompile
from ptcompile.kubernetes.unstructured import Json
from tests.cluster.runs import KINDS, Run, compare

Kubectl = Callable[..., str]

IMAGE = "busybox:1.36"
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


def kubectl(*args: str, stdin: str | None = None) -> str:
    """Return what kubectl prints; raises CalledProcessError."""
    result = subprocess.run(
        ["kubectl", *args], input=stdin, capture_output=True, text=True, check=True
    )
    return result.stdout


def installed_targets(run: Kubectl = kubectl) -> list[str]:
    """Return the targets whose kinds the API server knows."""
    names = {*run("api-resources", "--output=name").split()}
    plurals = {
        target: f"{kind.lower()}s.{api_version.rpartition('/')[0]}".rstrip(".")
        for target, (api_version, kind) in KINDS.items()
    }
    return [target for target, plural in plurals.items() if plural in names]


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
        "metadata": {"name": name},
        "spec": {**fields, **yaml.safe_load(body)},
    }


def record(
    name: str,
    target: str,
    manifests: Sequence[Json],
    handle: ptcompile.Handle,
    *,
    run: Kubectl = kubectl,
    timeout: float = 300,
    interval: float = 0.5,
) -> Json:
    """Apply a job, follow it until its end, delete it, and return its run."""
    files = yaml.safe_dump_all([*manifests])
    run("apply", "-f", "-", stdin=files)
    try:
        timeline, pods, logs = _follow(handle, run, timeout, interval)
    finally:
        run("delete", "-f", "-", "--ignore-not-found", "--wait=true", stdin=files)
    return {
        "id": f"{name}-{target}",
        "target": target,
        "fault": None,
        "manifests": [*manifests],
        "pods": [
            _seen_pod(pod_name, pod, logs.get(pod_name)) for pod_name, pod in sorted(pods.items())
        ],
        "timeline": timeline,
    }


def _follow(
    handle: ptcompile.Handle, run: Kubectl, timeout: float, interval: float
) -> tuple[list[list[Any]], dict[str, Json], dict[str, str]]:
    """Return every change of the job, the objects below it and its pods; the pods as created; and their logs."""
    start = time.monotonic()
    timeline: list[list[Any]] = []
    last: dict[str, list[Any]] = {}
    pods: dict[str, Json] = {}
    logs: dict[str, str] = {}
    is_done = False
    while not is_done and time.monotonic() - start < timeout:
        present = [*_objects(handle, run)]
        is_done = any(ptcompile.status(item).done for item in present if _is_job(item, handle))
        for item in present:
            uid, entry = item["metadata"]["uid"], _entry(item, handle)
            if last.get(uid) != entry:
                last[uid] = entry
                timeline.append([round(time.monotonic() - start, 1), *entry])
            if item["kind"] == "Pod":
                pods.setdefault(_base_name(item), item)
                if (
                    item["status"].get("phase") in ("Succeeded", "Failed")
                    and _base_name(item) not in logs
                ):
                    logs[_base_name(item)] = run("logs", item["metadata"]["name"])
        time.sleep(0 if is_done else interval)
    return timeline, pods, logs


def _objects(handle: ptcompile.Handle, run: Kubectl) -> Iterator[Json]:
    """Yield the job, the Jobs and the JobSet below it, and its pods."""
    group = handle.job.api_version.rpartition("/")[0]
    names = [f"{handle.job.plural}.{group}".rstrip(".")] if handle.job.kind != "Pod" else []
    names += ["jobsets.jobset.x-k8s.io"] if handle.job.kind == "TrainJob" else []
    for name in names:
        yield from _items(
            run("get", name, f"--field-selector=metadata.name={handle.job.name}", "--output=json")
        )
    if handle.job.kind in ("JobSet", "TrainJob"):
        yield from _items(
            run("get", "jobs.batch", f"--selector={handle.label_selector}", "--output=json")
        )
    selector = (
        f"--selector={handle.label_selector}"
        if handle.label_selector
        else f"--field-selector={handle.field_selector}"
    )
    yield from _items(run("get", "pods", selector, "--output=json"))


def _items(text: str) -> list[Json]:
    items: list[Json] = json.loads(text)["items"]
    return items


def _is_job(item: Json, handle: ptcompile.Handle) -> bool:
    return (item["kind"], item["metadata"]["name"]) == (handle.job.kind, handle.job.name)


def _entry(item: Json, handle: ptcompile.Handle) -> list[Any]:
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


def recorded(
    run: Kubectl = kubectl, *, image: str = IMAGE, timeout: float = 300, interval: float = 0.5
) -> Iterator[Json]:
    """Yield the run of each job for each installed target that can express it."""
    for target in installed_targets(run):
        for name, body in BODIES.items():
            result = ptcompile.compile(spec_of(f"{name}-{target}", body, image), target=target)
            if result.ok:
                yield record(
                    name,
                    target,
                    result.manifests,
                    result.handle,
                    run=run,
                    timeout=timeout,
                    interval=interval,
                )


def main(arguments: Sequence[str] | None = None) -> int:
    """Record runs into a file, or with --check compare those of a file."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.record", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--check", action="store_true", help="compare the runs of the file")
    parser.add_argument("--image", default=IMAGE)
    options = parser.parse_args(arguments)
    if not options.check:
        options.file.write_text(
            "".join(f"{json.dumps(row)}\n" for row in recorded(image=options.image))
        )
    runs = [Run(json.loads(line)) for line in options.file.read_text().splitlines()]
    compared = [(run.id, item) for run in runs for item in compare(run)]
    differences = [f"{run_id}: {item}\n" for run_id, item in compared if not item.agrees]
    sys.stdout.write("".join(differences))
    sys.stdout.write(
        f"{len(runs)} runs, {len(compared)} comparisons, {len(differences)} differences\n"
    )
    return 1 if differences else 0


if __name__ == "__main__":
    raise SystemExit(main())
