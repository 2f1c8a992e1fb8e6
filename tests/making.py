"""Specs, jobs and profiles for tests, in few words."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import yaml

from ptcompile.compiler.pipeline import Compiled, compile_document
from ptcompile.compiler.trace import Trace
from ptcompile.ir.job import Context, Job, Launch, Role, TopologyConstraint
from ptcompile.ir.pods import Container, PodTemplate, Resources
from ptcompile.registry.targets import target_named
from ptcompile.source import documents as reading
from ptcompile.spec.cluster_profile import ClusterProfile
from ptcompile.spec.reader import default_cluster

DEFAULT_CLUSTER = default_cluster()

FIRST_LINE = 5
"""Where the body of `text` begins."""

LAUNCH = Launch(
    entry=("train.py",),
    nproc_per_node=2,
    rdzv_backend="static",
    rdzv_id="train",
    rdzv_endpoint=None,
    rdzv_conf={},
    monitor_interval=5,
    max_restarts=0,
    start_method="spawn",
)


def text(body: str, name: str = "train") -> str:
    """A TrainingJob document with these lines under `spec`, the first of them on line 5."""
    lines = textwrap.indent(textwrap.dedent(body).strip("\n"), "  ")
    return f"apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {{name: {name}}}\nspec:\n{lines}\n"


def smallest(body: str = "", name: str = "train") -> str:
    """The smallest spec that compiles, in two lines, with these lines behind it."""
    return text("image: img:1\nscript: train.py\n" + textwrap.dedent(body).strip("\n"), name)


def documents(text: str) -> list[dict[str, Any]]:
    """The documents of a stream as ptcompile reads them, which is ten times as fast as yaml.safe_load_all."""
    return [one.data for one in reading.read(text).documents]


def training_runtime(name: str, job: str) -> str:
    """A TrainingRuntime of two nodes that run torchrun, whose Job has this spec."""
    return f"""\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata: {{name: {name}}}
spec:
  mlPolicy: {{numNodes: 2, torch: {{}}}}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}}}
          spec: {job}
"""


def compiled(source: str, target: str | None = None, cluster: ClusterProfile = DEFAULT_CLUSTER) -> Compiled:
    """One document compiled, without the reader."""
    return compile_document(yaml.safe_load(source), cluster, target)


def manifest(source: str, target: str, cluster: ClusterProfile = DEFAULT_CLUSTER) -> dict[str, Any]:
    """The object that holds the pods of a spec that compiles."""
    done = compiled(source, target, cluster)
    assert not [p for p in done.problems if p.severity == "error"], done.problems
    return next(one for one in done.manifests if one["kind"] not in {"Service", "PodGroup"})


def traced(source: str, target: str, cluster: ClusterProfile = DEFAULT_CLUSTER) -> tuple[Trace, Mapping[str, Any], int]:
    """The trace of a spec that compiles, the spec's document, and the index of the object that holds its pods."""
    done = compiled(source, target, cluster)
    assert done.trace is not None, done.problems
    kinds = [one["kind"] not in {"Service", "PodGroup"} for one in done.manifests]
    return done.trace(), yaml.safe_load(source), kinds.index(True)


def profile(spec: Mapping[str, Any]) -> ClusterProfile:
    """A profile with this `spec`."""
    return ClusterProfile.model_validate({"kind": "ClusterProfile", "spec": spec})


def context(cluster: ClusterProfile = DEFAULT_CLUSTER, target: str = "job") -> Context:
    """What a pass may look at."""
    return Context(cluster, target_named(target))


def template(
    requests: Mapping[str, str] | None = None, limits: Mapping[str, str] | None = None, **fields: Any
) -> PodTemplate:
    """A pod template; `main` fields are those of its container, the others its own."""
    main = fields.pop("main", {})
    return PodTemplate(
        Container("pytorch", "img:1", resources=Resources(requests or {}, limits or {}), **main), **fields
    )


def job(*templates: PodTemplate, replicas: int = 1, **fields: Any) -> Job:
    """A job of one role a template, called as in a spec."""
    names = ("node",) if len(templates) < 2 else ("master", "worker")
    roles = tuple(Role(name, replicas, one) for name, one in zip(names, templates or (template(),), strict=False))
    if len(roles) == 2:
        roles = (roles[0]._replace(replicas=1), roles[1])
    nodes = sum(role.replicas for role in roles)
    return Job(**{"name": "train", "roles": roles, "min_nodes": nodes, "launch": LAUNCH, **fields})


def nearness(level: str, *, required: bool = True) -> TopologyConstraint:
    """How near to each other pods must be."""
    return TopologyConstraint(level, required)
