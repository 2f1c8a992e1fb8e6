"""A typical user program with every part of the vocabulary: it runs, and type checkers report nothing."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import ptcompile
from ptcompile import (
    Accelerator,
    ClusterProfile,
    ClusterTopology,
    CompileError,
    Defaults,
    Diagnostic,
    Elastic,
    EnvSource,
    Extensions,
    Fabric,
    Gpu,
    Handle,
    JobSpec,
    Metadata,
    NodeRequirement,
    OperatorVersions,
    Plugin,
    ProfileMetadata,
    ProfileSpec,
    ResourceList,
    Resources,
    Result,
    RoleSpec,
    RunPolicy,
    SideRole,
    Spec,
    Spot,
    Status,
    Toleration,
    Topology,
    TopologyLevel,
    Volcano,
)
from ptcompile.extending import Context, Edit, Fix, Found, Job, Rule, found_at

common: dict[str, str] = {"NCCL_DEBUG": "INFO"}
cards: dict[str, int] = {"rdma/hca": 1}
waits: dict[str, int] = {"timeout": 1200}
mounts = [{"name": "data", "mountPath": "/data"}]

elastic = Spec(
    metadata=Metadata(name="llama-sft", namespace="research", labels={"team": "nlp"}),
    spec=JobSpec(
        image="ghcr.io/acme/llama:2.1",
        script="train.py",
        args=["--epochs", "3"],
        elastic=Elastic(nnodes="2:4", nproc_per_node=8, max_restarts=3, rdzv_configs=waits),
        resources=Resources(cpu=32, memory="256Gi", gpu=8, ephemeral_storage=1.5e9, devices=cards),
        shared_memory="64Gi",
        env=common,
        volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "corpus"}}],
        volume_mounts=mounts,
        run_policy=RunPolicy(
            clean_pod_policy="Running", ttl_seconds_after_finished=600, backoff_limit=3
        ),
        queue="research",
        topology=Topology(preferred="rack"),
    ),
)
roles = Spec(
    metadata=Metadata(name="roles"),
    spec=JobSpec(
        image="img:1",
        command=["python", "train.py"],
        target="pytorchjob",
        master=RoleSpec(env={"TOKEN": EnvSource(secret_key_ref={"name": "hf", "key": "token"})}),
        worker=RoleSpec(
            replicas=3,
            resources=Resources(requests=ResourceList(cpu=4), limits=ResourceList(cpu="8")),
        ),
        shared_memory=False,
        volcano=Volcano(master_task="first"),
    ),
)
sides = Spec(
    metadata=Metadata(name="sides"),
    spec=JobSpec(
        image="img:1",
        module="acme.train",
        nodes=2,
        roles={"loader": SideRole(command=["python", "load.py"])},
    ),
)
profile = ClusterProfile(
    metadata=ProfileMetadata(name="prod"),
    spec=ProfileSpec(
        versions=OperatorVersions(kubernetes="1.34", training_operator="1.9"),
        gpu=Gpu(
            tolerations=[Toleration(key="nvidia.com/gpu", operator="Exists", effect="NoSchedule")]
        ),
        accelerators={"h100": Accelerator(node_labels={"gpu": "h100"})},
        fabrics={"ib": Fabric(resources={"rdma/hca": 1}, env={"NCCL_IB_HCA": "mlx5"})},
        spot=Spot(match_expressions=[NodeRequirement(key="spot", operator="In", values=["yes"])]),
        defaults=Defaults(limits={"cpu": 8, "memory": "64Gi"}, env={"A": "b"}),
        queue_system="kueue",
        topology=ClusterTopology(levels={"rack": TopologyLevel(node_label="acme.com/rack")}),
    ),
)


def compiled(spec: Spec) -> list[dict[str, Any]]:
    """Return the manifests, or raise an exception that says why there are none."""
    result: Result = ptcompile.compile(spec, cluster=profile, target=spec.spec.target)
    lines: list[str] = [
        f"{diagnostic.code} {diagnostic.severity} {diagnostic.stage}: {diagnostic.message}"
        for diagnostic in result.diagnostics
    ]
    if not result.ok:
        raise CompileError(result.diagnostics)
    first: Diagnostic | None = next(iter(result.diagnostics), None)
    if first is not None and first.span is not None:
        lines.append(f"line {first.span.line}")
    return list(result.unwrap())


def no_default_namespace(
    manifest: Mapping[str, Any], others: Sequence[Mapping[str, Any]]
) -> Iterator[Found]:
    """Yield a finding for the default namespace: a plugin's rule."""
    if manifest["metadata"].get("namespace") == "default":
        fix = Fix("name a team's", (Edit("set", ("metadata", "namespace"), "team-a"),), safe=False)
        yield found_at(("metadata", "namespace"), "there is no quota", "name a team's", fix)


def labelled(job: Job, context: Context) -> Job:
    """Label a job with its target: a plugin's pass."""
    return job._replace(labels={**job.labels, "target": context.target.name})


RULES: tuple[Rule, ...] = (
    Rule("ACME002", "no-default-namespace", no_default_namespace, kinds=("Job",)),
)
SIMPLE: dict[str, str] = {
    "code": "ACME101",
    "name": "cost-center",
    "path": "metadata.labels",
    "expression": "'cost-center' in self",
    "message": "every job has the label cost-center",
}


def extended(spec: Spec) -> None:
    """Compile with rules and passes from plugins or a configuration."""
    extensions: Extensions = ptcompile.extensions(rules=[SIMPLE])
    more = extensions._replace(rules=(*extensions.rules, *RULES), passes=(("labelled", labelled),))
    result = ptcompile.compile(spec, cluster=profile, extensions=more)
    codes: list[str] = [diagnostic.code for diagnostic in result.diagnostics]
    assert "ACME101" in codes, codes
    listed: tuple[Plugin, ...] = ptcompile.plugins()
    assert all(one.version for one in listed)


def read_profile_from(file: Path, spec: Spec) -> None:
    """Pass a profile as a path, as the spec may be."""
    assert ptcompile.compile(spec, cluster=file).diagnostics == ptcompile.compile(spec).diagnostics
    manifests = ptcompile.compile(spec, cluster=file).yaml()
    assert ptcompile.lint(manifests, cluster=file).ok
    assert not ptcompile.diff(manifests, manifests, from_cluster=file, to_cluster=file).differs
    assert ptcompile.requires(spec, cluster=file).ok


def main() -> None:
    """Use the results as a program would."""
    extended(elastic)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "cluster.yaml")
        file.write_text("apiVersion: ptcompile/v1\nkind: ClusterProfile\n", encoding="utf-8")
        read_profile_from(file, roles)
    for spec in (elastic, roles, sides):
        manifests = compiled(spec)
        report = ptcompile.lint(ptcompile.compile(spec, cluster=profile).yaml(), cluster=profile)
        world = ptcompile.simulate(manifests[-1])
        assert report.documents == len(manifests), report.diagnostics
        handle: Handle = ptcompile.compile(spec, cluster=profile).handle
        state: Status = ptcompile.status(manifests[-1])
        assert handle.job.kind == manifests[-1]["kind"]
        assert not state.done
        assert handle.roles[0].first_rank == 0
        assert all(pod.env is not None for pod in world.pods)


if __name__ == "__main__":
    main()
