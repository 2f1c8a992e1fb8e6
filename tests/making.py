"""Short builders of specs, jobs and profiles."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import yaml

from ptcompile.api.explain import explain_page
from ptcompile.api.inputs import Inputs
from ptcompile.compiler.pipeline import Compiled, compile_document
from ptcompile.compiler.trace import Trace
from ptcompile.diagnostics.selection import Selection
from ptcompile.explainer.page import ExplainPage
from ptcompile.ir.job import Context, Job, Launch, Role, TopologyConstraint
from ptcompile.ir.pods import Container, PodTemplate, Resources
from ptcompile.operators.targets import target_named
from ptcompile.source import documents as reading
from ptcompile.spec.cluster_profile import ClusterProfile
from ptcompile.spec.reader import default_cluster

DEFAULT_CLUSTER = default_cluster()
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

FIRST_LINE = 5
"""Line of the first line of `body` in the result of `text`."""

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
    """Return a TrainingJob document with these lines under `spec`; the first is on line 5."""
    lines = textwrap.indent(textwrap.dedent(body).strip("\n"), "  ")
    return (
        f"apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {{name: {name}}}\nspec:\n{lines}\n"
    )


def smallest(body: str = "", name: str = "train") -> str:
    """Return the smallest spec that compiles, which is two lines, followed by these lines."""
    return text("image: img:1\nscript: train.py\n" + textwrap.dedent(body).strip("\n"), name)


def documents(text: str) -> list[dict[str, Any]]:
    """Read a stream with ptcompile's reader, which is ten times as fast as yaml.safe_load_all."""
    return [document.data for document in reading.read(text).documents]


def load_yaml(text: str) -> Any:
    """Read a document with libyaml, which is seven times as fast as PyYAML's own parser."""
    return yaml.load(text, Loader=_LOADER)  # noqa: S506, TID251 - a safe loader


def training_runtime(name: str, job: str) -> str:
    """Return a TrainingRuntime for two nodes with torchrun; `job` is the spec of its Job."""
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


def compiled(
    source: str, target: str | None = None, cluster: ClusterProfile = DEFAULT_CLUSTER
) -> Compiled:
    """Compile one document without ptcompile's reader."""
    return compile_document(load_yaml(source), cluster, target)


def errors_of(
    target: str, body: str, cluster: ClusterProfile = DEFAULT_CLUSTER, name: str = "train"
) -> list[tuple[str, tuple[Any, ...]]]:
    """Return the name and the path of each error in the smallest spec with these lines."""
    problems = compiled(smallest(body, name), target, cluster).problems
    return [(problem.name, problem.path) for problem in problems if problem.severity == "error"]


def error_paths(source: str, target: str) -> list[tuple[Any, ...]]:
    """Return the path of each error in a spec."""
    problems = compiled(source, target).problems
    return [problem.path for problem in problems if problem.severity == "error"]


def manifest(source: str, target: str, cluster: ClusterProfile = DEFAULT_CLUSTER) -> dict[str, Any]:
    """Compile a valid spec and return the object that contains its pods."""
    done = compiled(source, target, cluster)
    assert not [p for p in done.problems if p.severity == "error"], done.problems
    return next(one for one in done.manifests if one["kind"] not in {"Service", "PodGroup"})


def traced(
    source: str, target: str, cluster: ClusterProfile = DEFAULT_CLUSTER
) -> tuple[Trace, Mapping[str, Any], int]:
    """Compile a valid spec and return its trace, its document, and the index of the object that contains its pods."""
    done = compiled(source, target, cluster)
    assert done.trace is not None, done.problems
    kinds = [one["kind"] not in {"Service", "PodGroup"} for one in done.manifests]
    return done.trace(), load_yaml(source), kinds.index(True)


def profile(spec: Mapping[str, Any]) -> ClusterProfile:
    """Return a profile with this `spec`."""
    return ClusterProfile.model_validate({"kind": "ClusterProfile", "spec": spec})


def context(cluster: ClusterProfile = DEFAULT_CLUSTER, target: str = "job") -> Context:
    """Return the context of a pass."""
    return Context(cluster, target_named(target))


def template(
    requests: Mapping[str, str] | None = None,
    limits: Mapping[str, str] | None = None,
    **fields: Any,
) -> PodTemplate:
    """Return a pod template. `main` has fields of the container; other fields are the template's."""
    main = fields.pop("main", {})
    return PodTemplate(
        Container("pytorch", "img:1", resources=Resources(requests or {}, limits or {}), **main),
        **fields,
    )


def job(*templates: PodTemplate, replicas: int = 1, **fields: Any) -> Job:
    """Return a job with one role per template and the usual names of roles."""
    names = ("node",) if len(templates) < 2 else ("master", "worker")
    roles = tuple(
        Role(name, replicas, pod_template)
        for name, pod_template in zip(names, templates or (template(),), strict=False)
    )
    if len(roles) == 2:
        roles = (roles[0]._replace(replicas=1), roles[1])
    nodes = sum(role.replicas for role in roles)
    return Job(**{"name": "train", "roles": roles, "min_nodes": nodes, "launch": LAUNCH, **fields})


def nearness(level: str, *, required: bool = True) -> TopologyConstraint:
    """Return a topology constraint."""
    return TopologyConstraint(level, required)


def gather(
    spec: str | bytes,
    *,
    target: str | None = None,
    cluster: str | bytes | None = None,
    filename: str = "spec.yaml",
    cluster_filename: str = "cluster.yaml",
    lint: bool = True,
) -> ExplainPage:
    """Return the page of `explain --html` for a spec and a profile."""
    inputs = Inputs.read(
        spec, filename=filename, cluster=cluster, cluster_filename=cluster_filename, only_specs=True
    )
    return explain_page(inputs, target, Selection() if lint else None)
