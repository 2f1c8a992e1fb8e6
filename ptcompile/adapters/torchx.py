"""A TorchX scheduler (0.7 and 0.8): `torchx run -s ptcompile -cfg target=jobset dist.ddp -j 2x8
--script train.py`.

A dry run compiles without contacting a cluster. Scheduling, describing, canceling and logs use the
client passed to `create_scheduler`, or else one from the kubeconfig or the pod's service account,
created on first use.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from torchx.schedulers.api import (
    DescribeAppResponse,
    ListAppResponse,
    Scheduler,
    Stream,
    filter_regex,
)
from torchx.schedulers.ids import make_unique
from torchx.specs import AppDef, AppDryRunInfo, AppState, ReplicaStatus, Role, RoleStatus, runopts

import ptcompile
from ptcompile._internal import files as disk
from ptcompile.adapters import cluster
from ptcompile.adapters.torchx_spec import spec_of
from ptcompile.kubernetes.unstructured import Json
from ptcompile.operators.targets import TARGETS

_STATES = {
    "created": AppState.PENDING,
    "queued": AppState.PENDING,
    "running": AppState.RUNNING,
    "restarting": AppState.RUNNING,
    "succeeded": AppState.SUCCEEDED,
    "failed": AppState.FAILED,
}
_PHASES = {
    "Pending": AppState.PENDING,
    "Running": AppState.RUNNING,
    "Succeeded": AppState.SUCCEEDED,
    "Failed": AppState.FAILED,
}
_SCHEDULER_LABELS = {"app.kubernetes.io/managed-by": "torchx-ptcompile"}
"""Labels of every job that this scheduler creates; `list` finds the jobs by them."""


class SubmitRequest(NamedTuple):
    """Result of a dry run: the compiled job, and the namespace of its objects."""

    result: ptcompile.Result
    namespace: str


class PtcompileScheduler(Scheduler[Json]):
    """Every target of ptcompile as one scheduler. An app's id is `NAMESPACE:TARGET:NAME`."""

    def __init__(self, session_name: str, client: Any = None) -> None:
        super().__init__("ptcompile", session_name)
        self._client = client

    @property
    def _api(self) -> Any:
        if self._client is None:
            from kubernetes import client, config  # type: ignore[attr-defined]  # a folder of schemas has its name

            configuration = client.Configuration()
            try:
                config.load_kube_config(client_configuration=configuration)
            except config.ConfigException:
                config.load_incluster_config(client_configuration=configuration)
            self._client = client.ApiClient(configuration)

        return self._client

    def _run_opts(self) -> runopts:
        opts = runopts()
        opts.add(
            "target",
            type_=str,
            default=None,
            help="the operator's API to write; default: what the job needs",
        )
        opts.add("cluster", type_=str, default=None, help="file with the platform's ClusterProfile")
        opts.add("namespace", type_=str, default="default", help="namespace of the job")
        opts.add("queue", type_=str, default=None, help="queue that admits the job")

        return opts

    def _submit_dryrun(self, app: AppDef, cfg: Json) -> AppDryRunInfo[SubmitRequest]:
        namespace = str(cfg.get("namespace") or "default")
        spec = spec_of(app, make_unique(cluster.label(app.name)).lower())
        spec["metadata"] |= {
            "namespace": namespace,
            "labels": {**_SCHEDULER_LABELS, "torchx.pytorch.org/app-name": cluster.label(app.name)},
        }
        if cfg.get("queue"):
            spec["spec"]["queue"] = cfg["queue"]
        profile = disk.read(str(cfg["cluster"])) if cfg.get("cluster") else None
        result = ptcompile.compile(spec, target=cfg.get("target"), cluster=profile)
        result.unwrap()

        return AppDryRunInfo(
            SubmitRequest(result, namespace), lambda request: request.result.yaml()
        )

    def schedule(self, dryrun_info: AppDryRunInfo[SubmitRequest]) -> str:
        """Create the objects and return the app's id."""
        request = dryrun_info.request
        cluster.submit(self._api, request.result, request.namespace)
        job = request.result.handle.job
        return f"{job.namespace or request.namespace}:{cluster.target_of(job)}:{job.name}"

    def describe(self, app_id: str) -> DescribeAppResponse | None:
        """Return the job's state and its pods, or None if the job is gone."""
        live = cluster.find(self._api, _reference(app_id))
        if live is None:
            return None

        status = ptcompile.status(live)
        pods = cluster.replicas(self._api, live)
        roles = cluster.handle_of(live).roles

        return DescribeAppResponse(
            app_id=app_id,
            state=_state(live),
            msg=status.why or "",
            roles=[Role(name=role.name, image="", num_replicas=role.replicas) for role in roles],
            roles_statuses=[
                RoleStatus(role.name, [_replica(pod) for pod in pods if pod.role == role.name])
                for role in roles
            ],
        )

    def list(self, cfg: Json | None = None) -> list[ListAppResponse]:
        """Return this scheduler's jobs in every namespace, of every kind that the cluster has.

        TorchX 0.8 passes the options of the command line, of which none limits the list.
        """
        selector = ",".join(f"{key}={value}" for key, value in _SCHEDULER_LABELS.items())
        responses = []
        for target in TARGETS:
            for live in cluster.find_all(self._api, cluster.reference(target, "", ""), selector):
                metadata = live["metadata"]
                if target == "pod" and metadata.get("ownerReferences"):
                    continue  # listed with the job that owns it
                app_id = f"{metadata['namespace']}:{target}:{metadata['name']}"
                responses.append(ListAppResponse(app_id=app_id, state=_state(live)))

        return responses

    def _cancel_existing(self, app_id: str) -> None:
        job = _reference(app_id)
        live = cluster.find(self._api, job)
        if live is not None:
            cluster.delete(self._api, job, cluster.handle_of(live).propagation)

    def log_iter(
        self,
        app_id: str,
        role_name: str,
        k: int = 0,
        regex: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        should_tail: bool = False,
        streams: Stream | None = None,
    ) -> Iterable[str]:
        """Return the log of replica `k` of a role; for an unknown role name, of the node with rank
        `k`.

        Kubernetes supports neither `until` nor a single stream; asking for one stream raises
        ValueError.
        """
        if streams not in (None, Stream.COMBINED):
            raise ValueError("streams must be None or COMBINED: a container's log has both streams")

        live = cluster.find(self._api, _reference(app_id))
        pods = cluster.replicas(self._api, live) if live is not None else ()
        pods_of_role = [p for p in pods if p.role == role_name and p.number == k]
        chosen = pods_of_role or [
            p for p in pods if p.rank == k and role_name not in {p.role for p in pods}
        ]
        if not chosen:
            raise ValueError(
                f"{app_id} has no pod {k} of role {role_name!r}; pods are deleted when some jobs "
                "end"
            )

        seconds = None
        if since:
            # a time without a zone is local
            seconds = int((datetime.now(UTC) - since.astimezone()).total_seconds())

        lines = cluster.log(self._api, chosen[0], follow=should_tail, since_seconds=seconds)
        ended = (f"{line}\n" for line in lines)

        return filter_regex(regex, ended) if regex else ended


def create_scheduler(session_name: str, client: Any = None, **_: Any) -> PtcompileScheduler:
    """Create the scheduler; TorchX's entry point. `client` is a `kubernetes.client.ApiClient`."""
    return PtcompileScheduler(session_name, client)


def _reference(app_id: str) -> ptcompile.Reference:
    namespace, target, name = app_id.split(":")
    return cluster.reference(target, namespace, name)


def _state(live: Json) -> AppState:
    if live["kind"] == "Job" and live.get("status", {}).get("state", {}).get("phase") == "Aborted":
        return AppState.CANCELLED  # a command stopped the Volcano Job
    return _STATES[ptcompile.status(live).state]


def _replica(replica: cluster.Replica) -> ReplicaStatus:
    status = replica.pod.get("status", {})
    phase = status.get("phase", "")
    host = status.get("podIP") or replica.pod["metadata"]["name"]
    return ReplicaStatus(replica.number, _PHASES.get(phase, AppState.UNKNOWN), replica.role, host)
