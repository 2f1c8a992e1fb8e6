"""Dagster: an asset that a training job makes, with node 0's log in the run's log and a resource for the cluster."""

from pathlib import Path
from typing import Any

from dagster import (
    AssetExecutionContext,
    ConfigurableResource,
    Definitions,
    MaterializeResult,
    asset,
)

import ptcompile
from ptcompile.adapters import cluster

SPEC = Path(__file__).parents[1] / "mnist" / "spec.yaml"


class Training(ConfigurableResource):  # type: ignore[type-arg]
    """Where jobs run. The client is made when the first job is."""

    namespace: str = "default"
    target: str = "jobset"
    poll_interval: float = 10.0

    def api(self) -> Any:
        """A client of the kubeconfig."""
        from kubernetes import client, config

        settings = client.Configuration()
        config.load_kube_config(client_configuration=settings)
        return client.ApiClient(settings)

    def run(self, context: AssetExecutionContext, spec: str) -> dict[str, str]:
        """One job under the name of this run, to its end."""
        result = ptcompile.compile(spec, target=self.target, name=f"train-{context.run_id[:8]}")
        job = result.handle.job._replace(namespace=result.handle.job.namespace or self.namespace)
        with self.api() as api:
            live = cluster.submit(api, result, self.namespace)
            found = cluster.wait(api, job, self.poll_interval)
            for line in cluster.log(api, cluster.replicas(api, live)[0]):
                context.log.info(line)
        if found.state != "succeeded":
            raise RuntimeError(f"{job.kind} {job.name} failed: {found.why}")
        return {"kind": job.kind, "name": job.name}


@asset
def model(context: AssetExecutionContext, training: Training) -> MaterializeResult:  # type: ignore[type-arg]
    """The model of the spec beside this file."""
    return MaterializeResult(metadata=training.run(context, SPEC.read_text(encoding="utf-8")))


definitions = Definitions(assets=[model], resources={"training": Training()})
