"""Builders of TrainJobs from short specs."""

from __future__ import annotations

from typing import Any

import yaml

from ptcompile.compiler.frontend.lowering import lower
from ptcompile.compiler.frontend.reader import decode_spec
from ptcompile.compiler.passes import run
from ptcompile.ir.job import Context
from ptcompile.kinds.pods import PodView
from ptcompile.operators.table import expand
from ptcompile.operators.targets import target_named
from ptcompile.simulator.kubelet import environment
from ptcompile.spec.cluster_profile import ClusterProfile
from tests import making
from tests.making import DEFAULT_CLUSTER, smallest

Json = dict[str, Any]
RELEASES = ("2.0", "2.1", "2.2", "2.3")
IN_PLACE = "restartPolicy: OnFailure"
RANGE = "elastic: {nnodes: '2:4', nprocPerNode: 2}"
GPU = "resources: {cpu: 4, memory: 8Gi, gpu: 2}"


def release(trainer: str, **spec: Any) -> ClusterProfile:
    return making.profile({"versions": {"trainer": trainer}, **spec})


def both(
    body: str = "", cluster: ClusterProfile = DEFAULT_CLUSTER, name: str = "train"
) -> tuple[Json, ...]:
    """Return the manifests that the target emits, without validating them."""
    spec, problems = decode_spec(yaml.safe_load(smallest(body, name)))
    assert spec is not None, problems
    target = target_named("trainjob")
    job = run(lower(spec, cluster), Context(cluster, target))
    assert not [one for one in target.unsupported(job, cluster) if one.severity == "error"]
    return tuple(target.emit(job, cluster))


def train_job(body: str = "", cluster: ClusterProfile = DEFAULT_CLUSTER) -> Json:
    return both(body, cluster)[-1]


def jobset_of(body: str = "", cluster: ClusterProfile = DEFAULT_CLUSTER) -> Json:
    """Return the JobSet spec of the job's own runtime."""
    runtime, _ = both(body, cluster)
    assert runtime["kind"] == "TrainingRuntime"
    spec: Json = runtime["spec"]["template"]["spec"]
    return spec


def child(body: str = "", cluster: ClusterProfile = DEFAULT_CLUSTER) -> Json:
    (job,) = jobset_of(body, cluster)["replicatedJobs"]
    spec: Json = job["template"]["spec"]
    return spec


def main(body: str = "", cluster: ClusterProfile = DEFAULT_CLUSTER) -> Json:
    container: Json = child(body, cluster)["template"]["spec"]["containers"][0]
    return container


def pods(body: str, cluster: ClusterProfile = DEFAULT_CLUSTER) -> list[PodView]:
    manifests = both(body, cluster)
    return list(expand(manifests[-1], versions=cluster.versions(), related=manifests).pods)


def seen(pod: PodView) -> dict[str, str]:
    """Return the environment of the training container's processes."""
    return environment(next(c for c in pod.containers if c.name == "node"), pod)
