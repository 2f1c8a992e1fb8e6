"""Kubeflow Pipelines v2: a step that compiles a spec, creates the job, and waits for it. It has no step for a resource.

The step's service account needs create, get and delete on the job's kind, and get on pods and their logs. An image
with ptcompile and kubernetes saves the installation: give it as `base_image`.
"""

from kfp import compiler, dsl


@dsl.component(base_image="python:3.11", packages_to_install=["ptcompile", "kubernetes"])
def train(spec: str, run: str, namespace: str, target: str, poll_interval: float = 10.0) -> str:
    """Run one job under a name of its own; the name of its kind and its state."""
    from kubernetes import client, config

    import ptcompile
    from ptcompile.adapters import cluster

    settings = client.Configuration()
    config.load_incluster_config(client_configuration=settings)
    result = ptcompile.compile(spec, target=target, name=run)
    with client.ApiClient(settings) as api:
        live = cluster.submit(api, result, namespace)
        job = result.handle.job._replace(namespace=live["metadata"]["namespace"])
        found = cluster.wait(api, job, poll_interval)
        for line in cluster.log(api, cluster.replicas(api, live)[0]):
            print(line)
    if found.state != "succeeded":
        raise RuntimeError(f"{job.kind} {job.name} failed: {found.why}")
    return f"{job.kind} {found.state}"


@dsl.pipeline(name="training")
def pipeline(spec: str, run: str, namespace: str = "default", target: str = "jobset") -> None:
    """One step. Its result is not cached: the same spec is another run."""
    train(spec=spec, run=run, namespace=namespace, target=target).set_caching_options(False)


if __name__ == "__main__":
    compiler.Compiler().compile(pipeline, "pipeline.yaml")
