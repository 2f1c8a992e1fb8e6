"""Compare recorded runs of a cluster with what ptcompile says of them, in both directions.

A comparison has what ptcompile says and what the cluster did; a value that only one of the two has differs. A run is
one line of a set of tests/recorded/cluster, whose header has the releases of its cluster.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import ptcompile
from ptcompile.kubernetes.unstructured import Json, kind_of, nested_map
from ptcompile.operators.table import kind_named
from tests import recorded

LOCAL_QUEUE = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "LocalQueue",
    "metadata": {"name": "lq"},
    "spec": {"clusterQueue": "cq"},
}
"""The queue of its jobs."""
ALLOCATED = frozenset(
    {"batch.kubernetes.io/controller-uid", "controller-uid", "jobset.sigs.k8s.io/jobset-uid"}
)
"""Labels with a uid, which simulate leaves out."""
UNKNOWN = "*"
"""A value that was not recorded."""
KINDS = {
    "job": ("batch/v1", "Job"),
    "jobset": ("jobset.x-k8s.io/v1alpha2", "JobSet"),
    "pod": ("v1", "Pod"),
    "pytorchjob": ("kubeflow.org/v1", "PyTorchJob"),
    "trainjob": ("trainer.kubeflow.org/v1alpha1", "TrainJob"),
    "volcano": ("batch.volcano.sh/v1alpha1", "Job"),
}
"""apiVersion and kind of each target's job."""
CHILDREN = {"Job": KINDS["job"], "JobSet": KINDS["jobset"]}
"""The kinds of objects below a job whose status is followed too."""


class Compared(NamedTuple):
    """One comparison."""

    what: str
    where: str
    said: object
    seen: object

    @property
    def agrees(self) -> bool:
        """Whether ptcompile says what the cluster did. A set is what the other side may be."""
        if isinstance(self.seen, frozenset):
            return self.said in self.seen
        if self.seen == UNKNOWN:
            return self.said is not None
        if isinstance(self.said, str) and isinstance(self.seen, str):
            return re.fullmatch(_PLACEHOLDER.sub(".+", re.escape(self.said)), self.seen) is not None
        return self.said == self.seen

    def __str__(self) -> str:
        seen = " or ".join(sorted(self.seen)) if isinstance(self.seen, frozenset) else self.seen
        return f"{self.what} of {self.where}: said {self.said}, seen {seen}"


_PLACEHOLDER = re.compile(r"<[\w.:/\\-]+>")
"""A value that only the cluster knows, such as that of a ConfigMap or a generated name."""


class PodMoment(NamedTuple):
    """One pod at a moment: its phase and the states of its containers."""

    seconds: float
    name: str
    uid: str
    text: str

    @property
    def is_gone(self) -> bool:
        """Whether the pod was deleted."""
        return self.text.startswith("DELETED")

    @property
    def phase(self) -> str:
        """`status.phase`."""
        return self.text.removeprefix("DELETED ").split()[0]

    @property
    def exit_codes(self) -> list[int]:
        """The exit statuses of its ended containers."""
        return [int(code) for code in re.findall(r"=terminated:\w+/(\d+)", self.text)]

    @property
    def restarts(self) -> int:
        """The highest number of restarts of a container."""
        return max(map(int, re.findall(r"\br(\d+)\b", self.text)), default=0)

    def live(self) -> Json:
        """Return the pod as an object, with the recorded part of its status."""
        statuses = [
            {
                "name": name,
                "state": {state: {"reason": reason, **({"exitCode": int(code)} if code else {})}},
            }
            for name, state, reason, code in re.findall(r"([\w-]+)=(\w+):?(\w*)/?(\d*)", self.text)
        ]
        status: dict[str, Any] = {"phase": self.phase, "containerStatuses": statuses}
        if reason := re.search(r"unscheduled:(\w+)", self.text):
            status["conditions"] = [
                {"type": "PodScheduled", "status": "False", "reason": reason[1]}
            ]
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": self.name},
            "status": status,
        }


class ObjectMoment(NamedTuple):
    """A job, or a Job or JobSet below it, at a moment."""

    seconds: float
    live: Json


class Run:
    """One recorded run, on a cluster of some releases."""

    def __init__(self, row: Mapping[str, Any], versions: Mapping[str, str]) -> None:
        self.profile = {
            "apiVersion": "ptcompile/v1",
            "kind": "ClusterProfile",
            "metadata": {"name": "recorded"},
            "spec": {"versions": versions},
        }
        self.id: str = row["id"]
        self.target: str = row["target"]
        self.fault: str = row["fault"] or ""
        self.manifests: list[Json] = row["manifests"]
        self.job = self.manifests[-1]
        self.seen_pods: dict[str, Json] = {pod["name"]: pod for pod in row["pods"]}
        self.gates: list[str] = row.get("gates", [])
        self.timeline: list[list[Any]] = row["timeline"]

    @cached_property
    def world(self) -> ptcompile.World:
        """What simulate says."""
        return ptcompile.simulate([*self.manifests, LOCAL_QUEUE], cluster=self.profile)

    @cached_property
    def pods(self) -> list[PodMoment]:
        """The pods at each moment."""
        return [PodMoment(entry[0], *entry[2:]) for entry in self.timeline if entry[1] == "Pod"]

    @cached_property
    def actions(self) -> list[str]:
        """What was done to the job while it ran."""
        return [entry[2] for entry in self.timeline if entry[1] == "action"]

    @cached_property
    def objects(self) -> dict[str, list[ObjectMoment]]:
        """The job and the objects below it at each moment, by kind and name."""
        moments: dict[str, list[ObjectMoment]] = {}
        for entry in self.timeline:
            if entry[1] in ("Pod", "action"):
                continue
            seconds, kind, name, uid, status = entry
            is_root = (kind, name) == (self.job["kind"], self.job["metadata"]["name"])
            api_version, _ = kind_of(self.job) if is_root else CHILDREN[kind]
            spec = self._spec_at(seconds) if is_root else {}
            metadata = self.job["metadata"] if is_root else {"name": name}
            live = {
                "apiVersion": api_version,
                "kind": kind,
                "metadata": metadata,
                "spec": spec,
                "status": status,
            }
            moments.setdefault(f"{kind}/{name} {uid}", []).append(ObjectMoment(seconds, live))
        return moments

    def _spec_at(self, seconds: float) -> Json:
        """Return the job's spec at a moment, which a resumption changes."""
        resumed = any(
            entry[0] <= seconds and entry[1] == "action" and "resume" in entry[2]
            for entry in self.timeline
        )
        return {**self.job["spec"], "suspend": False} if resumed else self.job["spec"]

    @cached_property
    def is_rescaled(self) -> bool:
        """Whether the number of pods was changed while it ran, which simulate is not asked about."""
        return any("patch" in action for action in self.actions)


def recorded_runs(name: str) -> list[Run]:
    """Return the runs of a recording."""
    versions = recorded.header(name)["versions"]
    return [Run(row, versions) for row in recorded.rows(name)]


def compare(run: Run) -> Iterator[Compared]:
    """Yield every comparison of a run."""
    yield from _compare_pods(run)
    for pod in run.world.pods:
        seen = run.seen_pods.get(pod.name, {})
        if "labels" in seen:
            labels = {key: value for key, value in seen["labels"].items() if key not in ALLOCATED}
            yield from _compare_values("labels", pod.name, pod.view.labels, labels)
        if "env" in seen:
            yield from _compare_values("env", pod.name, pod.env, seen["env"])
            argv = [*(pod.command or ()), *(pod.args or ())]
            yield Compared("argv", pod.name, "\n".join(argv), "\n".join(seen["argv"]))
    yield from _compare_gates(run)
    yield from _compare_ends(run)
    yield from _compare_conditions(run)
    yield from _compare_statuses(run)


def _compare_values(
    what: str, pod: str, predicted: Mapping[str, str], seen: Mapping[str, str]
) -> Iterator[Compared]:
    for name in sorted({*predicted, *seen}):
        yield Compared(what, f"{pod}: {name}", predicted.get(name), seen.get(name))


def _compare_pods(run: Run) -> Iterator[Compared]:
    names = {pod.name for pod in run.world.pods}
    seen = {*run.seen_pods}
    if run.is_rescaled or _never_started(run):
        return
    for name in sorted(names | seen):
        yield Compared("pods", name, name in names, name in seen)


def _never_started(run: Run) -> bool:
    """Return whether the job waited in its queue until the end of the recording."""
    return not run.pods


def _compare_gates(run: Run) -> Iterator[Compared]:
    is_queued = "kueue.x-k8s.io/queue-name" in nested_map(run.job, "metadata", "labels")
    if run.gates or (run.target == "pod" and is_queued):
        (stored,) = ptcompile.stored(run.job, cluster=run.profile).objects
        gates = [gate["name"] for gate in stored.manifest["spec"].get("schedulingGates", [])]
        yield Compared("gates", run.job["metadata"]["name"], sorted(gates), run.gates or UNKNOWN)


# Ends: what the first failure, or the first pod that is taken away, leads to


def _compare_ends(run: Run) -> Iterator[Compared]:
    if run.is_rescaled or _never_started(run):
        return
    failure = _first_failure(run)
    if failure is None:
        yield Compared("ends", "no failure", "none", _seen_scopes(run))
        return
    pod, code = failure
    where = f"{pod} with {'a disruption' if code is None else f'exit status {code}'}"
    yield Compared("ends", where, _predicted_scope(run, pod, code), _seen_scopes(run))


def _first_failure(run: Run) -> tuple[str, int | None] | None:
    """Return the pod that fails first, and its exit status, or None if it was evicted or deleted."""
    taken = [
        action.split()[-1]
        for action in run.actions
        if action.startswith(("evict", "kubectl delete"))
    ]
    for pod in run.pods:
        if any(name.startswith(pod.name) for name in taken) or "DisruptionTarget" in pod.text:
            return pod.name, None
    for pod in run.pods:
        if any(pod.exit_codes) and not pod.is_gone and "deleting" not in pod.text:
            return pod.name, next(code for code in pod.exit_codes if code)
    return None


def _predicted_scope(run: Run, pod: str, code: int | None) -> str:
    """Return what starts again, as `Kind.restarts` says: a container, a pod, a role, the job, or none."""
    view = next(item for item in run.world.pods if item.name == pod)
    kind = kind_named(kind_of(run.job))
    retries = kind.restarts(run.job, view.role, run.manifests, code) or ()
    usable = [retry for retry in retries if retry.limit is None or retry.limit > 0]
    return usable[0].scope if usable else "none"


def _seen_scopes(run: Run) -> frozenset[str]:
    """Return what started again: several answers if all pods failed, and all of them are new."""
    uids: dict[str, set[str]] = {}
    for pod in run.pods:
        uids.setdefault(pod.name, set()).add(pod.uid)
    again = {name for name, of_pod in uids.items() if len(of_pod) > 1}
    failed = {pod.name for pod in run.pods if pod.phase == "Failed"}
    if not again:
        return frozenset({"container" if any(pod.restarts for pod in run.pods) else "none"})
    of_job = {"job", "role"} if again == {*uids} else set()
    return frozenset(of_job | ({"pod"} if again <= failed else set()))


# Conditions: how the last state reads

_ENDS = {
    "Job": {"Complete": "succeeded", "Failed": "failed"},
    "JobSet": {"Completed": "succeeded", "Failed": "failed"},
    "PyTorchJob": {"Succeeded": "succeeded", "Failed": "failed"},
    "TrainJob": {"Complete": "succeeded", "Failed": "failed"},
}
"""The state that each final condition means (docs/facts/job-states.md)."""
_PHASES = {
    "Completed": "succeeded",
    "Failed": "failed",
    "Terminated": "failed",
    "Aborted": "failed",
}
"""The same for the phases of a Volcano Job."""


def _end_of(live: Json) -> str | None:
    """Return the final state that the conditions or the phase mean, or None before the end."""
    status = nested_map(live, "status")
    if kind_of(live) == KINDS["volcano"]:
        return _PHASES.get(nested_map(status, "state").get("phase", ""))
    ends = _ENDS[live["kind"]]
    met = [item["type"] for item in status.get("conditions", []) if item["status"] == "True"]
    return next((ends[name] for name in met if name in ends), None)


def _compare_conditions(run: Run) -> Iterator[Compared]:
    for name, moments in run.objects.items():
        for moment in moments:
            status = ptcompile.status(moment.live)
            where = f"{name} at {moment.seconds}"
            yield Compared(
                "conditions", where, status.state if status.done else None, _end_of(moment.live)
            )


# Statuses: each moment, compared with the pods at that moment


def _compare_statuses(run: Run) -> Iterator[Compared]:
    for name, moments in run.objects.items():
        for moment in moments:
            where = f"{name} at {moment.seconds}"
            status = ptcompile.status(moment.live)
            yield Compared("statuses", where, status.state, _possible_states(run, moment, moments))
    for pod in run.pods:
        live = pod.live()
        where = f"Pod/{pod.name} at {pod.seconds}"
        yield Compared("statuses", where, ptcompile.status(live).state, _POD_STATES[pod.phase])


_POD_STATES = {
    "Pending": frozenset({"created", "queued"}),
    "Running": frozenset({"running", "restarting"}),
    "Succeeded": frozenset({"succeeded"}),
    "Failed": frozenset({"failed"}),
}
_ORDER_SECONDS = 2.0
"""Objects of different kinds come in watches of their own, up to this much apart."""


def _possible_states(run: Run, moment: ObjectMoment, moments: list[ObjectMoment]) -> frozenset[str]:
    """Return the states that the pods and the final conditions of a moment allow."""
    if (end := _end_of(moment.live)) is not None:
        return frozenset({end})
    if _is_suspended(moment.live):
        return frozenset({"queued"})
    since = moments[0].seconds - _ORDER_SECONDS
    pods = [pod for pod in run.pods if since <= pod.seconds <= moment.seconds + _ORDER_SECONDS]
    has_run = any(
        pod.phase != "Pending" and pod.seconds <= moment.seconds - _ORDER_SECONDS for pod in pods
    )
    if has_run and not is_undecided(moment.live) and not _starts(moment.live):
        return frozenset({"running", "restarting"})
    return frozenset(
        {"created", "queued", "running", "restarting"} if pods else {"created", "queued"}
    )


def is_undecided(live: Json) -> bool:
    """Return whether no count and no condition of an object shows whether its pods are yet to come or have ended.

    JobSet and Trainer write such a status before the pods exist, between the end of a pod and the end of its Job, and
    while the Job waits before it replaces a pod. A Job has uncountedTerminatedPods then, which was not recorded.
    """
    status = nested_map(live, "status")
    if any(item.get("status") == "True" for item in status.get("conditions", [])):
        return False
    counts = [status, *status.get("replicatedJobsStatus", []), *status.get("jobsStatus", [])]
    return not any(type(value) is int and value for item in counts for value in item.values())


def _starts(live: Json) -> bool:
    """Return whether a Volcano Job or PyTorchJob waits until all of its pods, or its master, run."""
    if kind_of(live) == KINDS["volcano"]:
        return nested_map(live, "status", "state").get("phase") == "Pending" and not live[
            "status"
        ].get("retryCount")
    return live["kind"] == "PyTorchJob" and not any(
        item["type"] in ("Running", "Restarting")
        for item in nested_map(live, "status").get("conditions", [])
    )


def _is_suspended(live: Json) -> bool:
    conditions = nested_map(live, "status").get("conditions", [])
    return any(item.get("type") == "Suspended" and item["status"] == "True" for item in conditions)


def states(moments: list[ObjectMoment]) -> list[str]:
    """Return the states of an object in order, each once in a row."""
    out: list[str] = []
    for moment in moments:
        state = ptcompile.status(moment.live).state
        if not out or out[-1] != state:
            out.append(state)
    return out
