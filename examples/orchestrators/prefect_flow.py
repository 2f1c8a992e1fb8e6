"""Prefect: a flow that compiles a spec, creates the job, follows it to its end, and deletes it when it is cancelled."""

from __future__ import annotations

from typing import Any

from prefect import flow, get_run_logger, task
from prefect.runtime import flow_run

import ptcompile
from ptcompile.adapters import cluster


def api() -> Any:
    """A client of the kubeconfig."""
    from kubernetes import client, config

    settings = client.Configuration()
    config.load_kube_config(client_configuration=settings)
    return client.ApiClient(settings)


@task
def compiled(spec: str, target: str) -> ptcompile.Result:
    """The objects, under a name of this flow run. A spec that does not compile fails here."""
    result = ptcompile.compile(spec, target=target, name=f"train-{str(flow_run.id)[:8]}")
    result.unwrap()
    return result


@task
def followed(result: ptcompile.Result, namespace: str, poll_interval: float) -> str:
    """The job's last state; its pods go with it where the task is interrupted."""
    job = result.handle.job._replace(namespace=result.handle.job.namespace or namespace)
    with api() as client:
        live = cluster.submit(client, result, namespace)
        try:
            found = cluster.wait(client, job, poll_interval)
        except BaseException:  # cancelled, or the cluster is out of reach
            cluster.delete(client, job, result.handle.propagation)
            raise
        for line in cluster.log(client, cluster.replicas(client, live)[0]):
            get_run_logger().info(line)
    if found.state != "succeeded":
        raise RuntimeError(f"{job.kind} {job.name} failed: {found.why}")
    return found.state


@flow
def train(
    spec: str, target: str = "jobset", namespace: str = "default", poll_interval: float = 10.0
) -> str:
    """Run one spec."""
    return followed(compiled(spec, target), namespace, poll_interval)
