"""An Airflow operator that runs a spec as a job and waits for it without occupying a worker
(Airflow 2.11 and 3).

Needs apache-airflow-providers-cncf-kubernetes, whose connections and hooks it uses.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from typing import Any

from airflow.providers.cncf.kubernetes.hooks.kubernetes import AsyncKubernetesHook, KubernetesHook
from airflow.providers.common.compat.sdk import AirflowException, AirflowFailException, BaseOperator
from airflow.triggers.base import BaseTrigger, TriggerEvent

import ptcompile
from ptcompile.adapters import cluster
from ptcompile.kubernetes.unstructured import Json, JsonDict

Event = JsonDict
"""Payload of the trigger's final event: `ptcompile.Status.to_dict()`."""


class PtcompileOperator(BaseOperator):
    """Compile a spec, create its objects, and wait for the end of the job, whose name is unique per
    try.

    The name is known before compiling, so host names fit it. A worker restarted within the same try
    finds the existing job. A spec that does not compile fails the task without a retry. When the
    job is over, the log of node 0 is copied to the task's log if its pod still exists.
    """

    template_fields: Sequence[str] = ("spec", "target", "cluster", "namespace", "run_name")
    template_ext: Sequence[str] = (".yaml", ".yml")
    template_fields_renderers = {"spec": "yaml", "cluster": "yaml"}  # noqa: RUF012  # Airflow's own way

    def __init__(
        self,
        *,
        spec: str | Json,
        target: str | None = None,
        cluster: str | Json | None = None,
        namespace: str = "default",
        run_name: str | None = None,
        kubernetes_conn_id: str = "kubernetes_default",
        deferrable: bool = True,
        poll_interval: float = 10.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.spec = spec
        self.target = target
        self.cluster = cluster
        self.namespace = namespace
        self.run_name = run_name
        self.kubernetes_conn_id = kubernetes_conn_id
        self.deferrable = deferrable
        self.poll_interval = poll_interval
        self._job: ptcompile.Reference | None = None

    def execute(self, context: Any) -> None:
        """Create the job, or find the one of this try, and wait for it."""
        result = self._compile(context)
        self._job = job = result.handle.job._replace(
            namespace=result.handle.job.namespace or self.namespace
        )
        if cluster.find(self._api, job) is None:
            cluster.submit(self._api, result, job.namespace or self.namespace)
        context["ti"].xcom_push(key="job", value=job._asdict())
        if self.deferrable:
            trigger = PtcompileTrigger(
                cluster.target_of(job), job.namespace or "", job.name, **self._trigger_options
            )
            self.defer(trigger=trigger, method_name="execute_complete")

        self._finish(job, cluster.wait(self._api, job, self.poll_interval).to_dict())

    def execute_complete(self, context: Any, event: Event) -> None:
        """Finish the task; Airflow calls this when the trigger fires."""
        self._finish(cluster.reference(event["target"], event["namespace"], event["name"]), event)

    def on_kill(self) -> None:
        """Delete the job with its pods."""
        live = cluster.find(self._api, self._job) if self._job is not None else None
        if live is not None and self._job is not None:
            cluster.delete(self._api, self._job, cluster.handle_of(live).propagation)

    @property
    def _api(self) -> Any:
        return KubernetesHook(conn_id=self.kubernetes_conn_id).api_client

    @property
    def _trigger_options(self) -> JsonDict:
        return {"kubernetes_conn_id": self.kubernetes_conn_id, "poll_interval": self.poll_interval}

    def _compile(self, context: Any) -> ptcompile.Result:
        ti = context["ti"]
        ids = {
            "dag_id": ti.dag_id,
            "task_id": ti.task_id,
            "run_id": ti.run_id,
            "try_number": str(ti.try_number),
        }
        # each try of each instance of a mapped task needs its own job
        mapped = str(getattr(ti, "map_index", -1))
        digest = hashlib.sha256("\0".join([*ids.values(), mapped]).encode()).hexdigest()[:8]
        name = self.run_name or f"{cluster.label(ti.task_id)}-{digest}"

        labels = {key: cluster.label(value) for key, value in ids.items()}
        overrides = [
            (("metadata", "labels", f"airflow.apache.org/{key}"), value)
            for key, value in labels.items()
        ]

        result = ptcompile.compile(
            self.spec, target=self.target, cluster=self.cluster, name=name, overrides=overrides
        )
        for diagnostic in result.diagnostics:
            self.log.warning("%s %s", diagnostic.code, diagnostic.message)
        if not result.ok:
            raise AirflowFailException(str(ptcompile.CompileError(result.diagnostics)))

        return result

    def _finish(self, job: ptcompile.Reference, event: Event) -> None:
        """Print the log of node 0, and fail the task if the job did not succeed."""
        live = cluster.find(self._api, job)
        if live is not None:
            for replica in cluster.replicas(self._api, live)[:1]:
                for line in cluster.log(self._api, replica):
                    self.log.info("[node 0] %s", line)

        if event["state"] != "succeeded":
            causes = [str(event[key]) for key in ("reason", "message") if event.get(key)]
            raise AirflowException(
                ": ".join([f"{job.kind} {job.namespace}/{job.name} failed", *causes])
            )


class PtcompileTrigger(BaseTrigger):
    """Waits for the end of a job in Airflow's triggerer."""

    def __init__(
        self, target: str, namespace: str, name: str, kubernetes_conn_id: str = "kubernetes_default",
        poll_interval: float = 10.0,
    ) -> None:  # fmt: skip
        super().__init__()
        self.job = {"target": target, "namespace": namespace, "name": name}
        self.kubernetes_conn_id = kubernetes_conn_id
        self.poll_interval = poll_interval

    def serialize(self) -> tuple[str, JsonDict]:
        """Return the arguments as plain data for Airflow's database."""
        options = {
            "kubernetes_conn_id": self.kubernetes_conn_id,
            "poll_interval": self.poll_interval,
        }
        return f"{type(self).__module__}.{type(self).__qualname__}", {**self.job, **options}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Yield one event when the job ends."""
        hook = AsyncKubernetesHook(conn_id=self.kubernetes_conn_id)
        job = cluster.reference(**self.job)
        async with hook.get_conn() as api:
            while not (status := cluster.state(await _read_live(api, job))).done:
                await asyncio.sleep(self.poll_interval)
        yield TriggerEvent({**status.to_dict(), **self.job})


async def _read_live(api: Any, job: ptcompile.Reference) -> Json | None:
    from kubernetes_asyncio.client import CoreV1Api, CustomObjectsApi
    from kubernetes_asyncio.client.exceptions import ApiException

    group, _, version = job.api_version.rpartition("/")
    try:
        if not group:
            pod = await CoreV1Api(api).read_namespaced_pod(job.name, job.namespace)
            return {"apiVersion": "v1", "kind": "Pod", **api.sanitize_for_serialization(pod)}
        live: Json = await CustomObjectsApi(api).get_namespaced_custom_object(
            group, version, job.namespace, job.plural, job.name
        )
    except ApiException as error:
        if error.status == 404:
            return None
        raise

    return live
