"""Flyte's output compared with ptcompile's, row by row. `python -m tests.flyte.compat` prints the table as Markdown.

`verdict`: "same" (same effect), "kept" (Flyte loses it, ptcompile keeps it), "ours" (ptcompile decides otherwise, with
the reason).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ptcompile import flyte
from tests.flyte.making import (
    OURS as F,
    convert,
    document,
    env,
    main,
    manifest,
    messages,
    pod,
    resources,
    roles,
)

GPU = "nvidia.com/gpu"


class Row(NamedTuple):
    """A row of the table. `check` returns whether the last column is true."""

    topic: str
    flyte: str
    here: str
    verdict: str
    check: Callable[[], bool]


def two(**fields: Any) -> Any:
    return F.PyTorch(worker=F.Worker(replicas=2), **fields)


def command(config: Any, role: str = "Worker", **knobs: Any) -> str:
    return " ".join(main(manifest(config, **knobs), role)["command"])


def policy(**fields: Any) -> Any:
    policy = F.RunPolicy(**{"clean_pod_policy": F.CleanPodPolicy.ALL, **fields})
    made = manifest(F.Elastic(nnodes=2, run_policy=policy))["spec"]["runPolicy"]
    return {key: value for key, value in made.items() if (key, value) != ("cleanPodPolicy", "All")}


def restarts(made: dict[str, Any]) -> list[str]:
    return [role["restartPolicy"] for role in roles(made).values()]


ROWS: tuple[Row, ...] = (
    Row(
        "workers_count, PyTorch",
        "one Master in addition to the workers",
        "the same",
        "same",
        lambda: (
            {key: role["replicas"] for key, role in roles(manifest(two())).items()}
            == {"Master": 1, "Worker": 2}
        ),
    ),
    Row(
        "no workers",
        "rejected by Flyte 2; only a Master in 1.15",
        "only a Master",
        "kept",
        lambda: [*roles(manifest(F.PyTorch(worker=F.Worker(replicas=0))))] == ["Master"],
    ),
    Row(
        "num_workers with worker.replicas",
        "rejected, except 0 with a number",
        "always rejected",
        "ours",
        lambda: not convert(F.PyTorch(worker=F.Worker(replicas=2), num_workers=0)).ok,
    ),
    Row(
        "name of the container",
        "pytorch",
        "pytorch",
        "same",
        lambda: main(manifest(two()))["name"] == "pytorch",
    ),
    Row(
        "no restart policy",
        "Never",
        "Never; OnFailure with retries or a backoff limit, which have no effect with Never",
        "kept",
        lambda: (
            restarts(manifest(two())) == ["Never"] * 2
            and restarts(manifest(two(), retries=2)) == ["OnFailure"] * 2
        ),
    ),
    Row(
        "run policy: 0 seconds to live",
        "lost: 0 is unset",
        "0",
        "kept",
        lambda: policy(ttl_seconds_after_finished=0) == {"ttlSecondsAfterFinished": 0},
    ),
    Row(
        "run policy: backoff limit 0",
        "lost: 0 is unset",
        "0",
        "kept",
        lambda: policy(backoff_limit=0) == {"backoffLimit": 0},
    ),
    Row(
        "run policy: deadline 0",
        "lost: 0 is unset",
        "rejected, as by Kubernetes",
        "ours",
        lambda: not convert(F.Elastic(run_policy=F.RunPolicy(active_deadline_seconds=0))).ok,
    ),
    Row(
        "run policy without clean_pod_policy",
        "cleanPodPolicy: None is written",
        "the same, with a note on what that holds",
        "same",
        lambda: (
            policy(backoff_limit=1, clean_pod_policy=None)
            == {"backoffLimit": 1, "cleanPodPolicy": "None"}
        ),
    ),
    Row(
        "run policy on one node",
        "dropped",
        "kept: a Pod if it can express it, else a Job",
        "kept",
        lambda: (
            manifest(F.Elastic(run_policy=F.RunPolicy(ttl_seconds_after_finished=5)))["kind"]
            == "Job"
        ),
    ),
    Row(
        "nnodes 1",
        "a Pod, without an operator",
        "a Pod",
        "same",
        lambda: manifest(F.Elastic())["kind"] == "Pod",
    ),
    Row(
        'nnodes "1" and "1:1"',
        "a PyTorchJob of one worker",
        "a Pod, as for 1",
        "kept",
        lambda: (
            manifest(F.Elastic(nnodes="1"))
            == manifest(F.Elastic(nnodes="1:1"))
            == manifest(F.Elastic())
        ),
    ),
    Row(
        'nnodes "2:4"',
        "four workers, elasticPolicy 2 to 4",
        "the same",
        "same",
        lambda: (
            (made := manifest(F.Elastic(nnodes="2:4")))["spec"]["elasticPolicy"]["minReplicas"] == 2
            and roles(made)["Worker"]["replicas"] == 4
        ),
    ),
    Row(
        "nnodes 4",
        "four workers with elasticPolicy 4 to 4; succeeds with its first pod",
        "a Master and three workers with c10d; succeeds with node 0",
        "ours",
        lambda: (
            {key: role["replicas"] for key, role in roles(manifest(F.Elastic(nnodes=4))).items()}
            == {"Master": 1, "Worker": 3}
            and "--rdzv-backend=c10d" in command(F.Elastic(nnodes=4))
        ),
    ),
    Row(
        'nnodes "4:2", 0',
        "minReplicas above maxReplicas, no nodes",
        "rejected with the reason",
        "ours",
        lambda: not convert(F.Elastic(nnodes="4:2")).ok and not convert(F.Elastic(nnodes=0)).ok,
    ),
    Row(
        "nproc_per_node",
        "elasticPolicy.nProcPerNode, deprecated and not counted in WORLD_SIZE",
        "spec.nprocPerNode",
        "kept",
        lambda: manifest(F.Elastic(nnodes="2:4", nproc_per_node=8))["spec"]["nprocPerNode"] == "8",
    ),
    Row(
        "nproc_per_node above the GPUs",
        "not noticed",
        "refused",
        "ours",
        lambda: (
            [
                diagnostic.name
                for diagnostic in flyte.task(
                    restarts,
                    task_config=F.Elastic(nproc_per_node=8),
                    script="t.py",
                    image="i",
                    limits=F.Resources(gpu=4),
                )
                .compile("job")
                .diagnostics
            ]
            == ["more-processes-than-gpus"]
        ),
    ),
    Row(
        "max_restarts, monitor_interval, start_method",
        "the last two only inside the process",
        "torchrun's options in the manifest",
        "kept",
        lambda: (
            "--max-restarts=3 --monitor-interval=9 --start-method=fork"
            in command(F.Elastic(nnodes=2, max_restarts=3, monitor_interval=9, start_method="fork"))
        ),
    ),
    Row(
        "rdzv_configs",
        "only inside the process; a mapping replaces both defaults of 900 s",
        "in the manifest; merged with the defaults",
        "kept",
        lambda: (
            "--rdzv-conf=timeout=900,join_timeout=1200"
            in command(F.Elastic(nnodes=2, rdzv_configs={"join_timeout": 1200}))
        ),
    ),
    Row(
        "roles of an Elastic",
        "not supported",
        "task(..., master=, worker=) for a fixed number of nodes",
        "kept",
        lambda: (
            roles(manifest(F.Elastic(nnodes=3), worker=F.Worker(image="w:1")))["Worker"]["replicas"]
            == 2
        ),
    ),
    Row(
        "processes in a PyTorch pod",
        "one; the operator sets MASTER_ADDR, WORLD_SIZE and RANK",
        "the same: `python SCRIPT`",
        "same",
        lambda: command(two()) == "python train.py",
    ),
    Row(
        "started program",
        "pyflyte-execute, which calls the function",
        "ptcompile.flyte.run, which calls the function; or the given script or command",
        "same",
        lambda: (
            command(two(), script=None) == "python -m ptcompile.flyte.run"
            and main(manifest(two(), script=None))["args"] == ["tests.flyte.making:_function"]
        ),
    ),
    Row(
        "OMP_NUM_THREADS",
        "set to 1 inside the process, with more than one process",
        "in the manifest",
        "kept",
        lambda: env(manifest(F.Elastic(nproc_per_node=2))) == {"OMP_NUM_THREADS": "1"},
    ),
    Row(
        "missing limit or request",
        "the other of the two",
        "the other of the two",
        "same",
        lambda: resources(manifest(two(), limits=F.Resources(cpu=2)))["cpu"] == ("2", "2"),
    ),
    Row(
        "replica without cpu or memory",
        "the platform's default",
        "the task's",
        "kept",
        lambda: (
            resources(
                manifest(
                    F.PyTorch(worker=F.Worker(replicas=1, limits=F.Resources(gpu=1))),
                    requests=F.Resources(cpu=8),
                )
            )["cpu"]
            == ("8", "8")
        ),
    ),
    Row(
        "zero for a replica",
        "dropped: the task's applies",
        "this replica has none",
        "kept",
        lambda: (
            [*resources(made, "Master"), *resources(made)] == ["cpu", "cpu", GPU]
            if (
                made := manifest(
                    F.PyTorch(
                        master=F.Master(limits=F.Resources(gpu=0)), worker=F.Worker(replicas=1)
                    ),
                    limits=F.Resources(gpu=1, cpu=1),
                )
            )
            else False
        ),
    ),
    Row(
        "above the platform's limit",
        "clamped silently",
        "kept; the cluster's quotas decide",
        "ours",
        lambda: (
            resources(manifest(two(), limits=F.Resources(cpu=4000)))["cpu"] == ("4k", "4k")
            or resources(manifest(two(), limits=F.Resources(cpu=4000)))["cpu"] == ("4000", "4000")
        ),
    ),
    Row(
        "invalid quantity",
        "found by the backend, after registration",
        "found at once, with its location",
        "ours",
        lambda: messages(two(), requests=F.Resources(mem="8GiB"))[0].startswith("requests.mem: "),
    ),
    Row(
        "legacy per_replica_storage_*",
        "dropped",
        "ephemeral-storage, with a warning",
        "kept",
        lambda: (
            flyte.pytorch_task(per_replica_storage_limit="9Gi", image="i")(restarts)
            .convert("job")
            .document["spec"]["resources"]
            == {"ephemeralStorage": "9Gi"}
        ),
    ),
    Row(
        "retries",
        "the engine starts the job again",
        "backoffLimit, unless the run policy has one",
        "ours",
        lambda: (
            document(two(), retries=2)["runPolicy"] == {"cleanPodPolicy": "None", "backoffLimit": 2}
        ),
    ),
    Row(
        "timeout",
        "the engine ends the job",
        "activeDeadlineSeconds, if it is the shorter one",
        "ours",
        lambda: (
            document(two(), timeout=60)["runPolicy"]
            == {"cleanPodPolicy": "None", "activeDeadlineSeconds": 60}
        ),
    ),
    Row(
        "cache, deprecated and other settings of the engine",
        "no part of the manifest",
        "a warning",
        "same",
        lambda: messages(two(), cache=True)[0].startswith("cache: "),
    ),
    Row(
        "environment",
        "the platform's default wins over the user's",
        "the user's wins",
        "ours",
        lambda: (
            env(
                manifest(
                    F.Elastic(),
                    environment={"A": "mine"},
                    platform=flyte.platform({"default-env-vars": [{"A": "theirs"}]}),
                )
            )
            == {"A": "mine"}
        ),
    ),
    Row(
        "FLYTE_INTERNAL_* and finalizers",
        "13 variables, an owner and a finalizer",
        "none: no engine waits for them",
        "ours",
        lambda: (
            env(manifest(F.Elastic())) == {}
            and "finalizers" not in manifest(F.Elastic())["metadata"]
        ),
    ),
    Row(
        "flyte/gpu=dedicated:NoSchedule",
        "only if configured",
        "in the job if no platform is given; a Flyte platform follows its configuration",
        "ours",
        lambda: (
            pod(manifest(F.Elastic(), limits=F.Resources(gpu=1), cluster=None))["tolerations"][0][
                "key"
            ]
            == "flyte/gpu"
            and "tolerations"
            not in pod(
                manifest(F.Elastic(), limits=F.Resources(gpu=1), platform=flyte.platform({}))
            )
        ),
    ),
    Row(
        "order of tolerations and variables",
        "differs from run to run",
        "always the same",
        "kept",
        lambda: (
            manifest(two(), environment={"B": "1", "A": "2"})
            == manifest(two(), environment={"B": "1", "A": "2"})
        ),
    ),
    Row(
        "shared memory",
        "shm, flyte-shared-memory or flyte-shm; without a size none, 0 or an empty string",
        "shm; without a size none",
        "kept",
        lambda: (
            pod(manifest(F.Elastic()))["volumes"]
            == pod(manifest(F.Elastic(), shared_memory=True))["volumes"]
            == [{"name": "shm", "emptyDir": {"medium": "Memory"}}]
        ),
    ),
    Row(
        "two containers with increase_shared_mem",
        "refused",
        "mounted where the primary container is",
        "kept",
        lambda: (
            main(
                manifest(
                    F.Elastic(),
                    pod_template=F.PodTemplate(
                        {"containers": [{"name": "log", "image": "l"}, {"name": "primary"}]}
                    ),
                )
            )["volumeMounts"][0]["name"]
            == "shm"
        ),
    ),
    Row(
        "one pod template for two tasks",
        "modified in place: the second fails",
        "never modified",
        "kept",
        lambda: (
            (template := F.PodTemplate({"containers": []}))
            and document(F.Elastic(), pod_template=template)
            == document(F.Elastic(), pod_template=template)
        ),
    ),
    Row(
        "resources of a pod template's container",
        "replaced entirely by the task's",
        "overridden by the task's, key by key",
        "kept",
        lambda: (
            resources(
                manifest(
                    F.Elastic(),
                    limits=F.Resources(cpu=2),
                    pod_template=F.PodTemplate(
                        {
                            "containers": [
                                {
                                    "name": "primary",
                                    "resources": {"limits": {"cpu": "1", "rdma/hca": "1"}},
                                }
                            ]
                        }
                    ),
                )
            )
            == {"cpu": ("2", "2"), "rdma/hca": ("1", "1")}
        ),
    ),
    Row(
        "secret requests",
        "added by Flyte's webhook",
        "written out, under the same names and paths",
        "same",
        lambda: (
            env(
                manifest(
                    F.Elastic(), secret_requests=[F.Secret("g", "k", mount_requirement="ENV_VAR")]
                )
            )
            == {"_FSEC_G_K": {"secretKeyRef": {"name": "g", "key": "k"}}}
        ),
    ),
    Row(
        "enums",
        "all members of an enum are equal and have no hash",
        "real enums; Flyte's are distinguished by name",
        "kept",
        lambda: (
            len({*F.RestartPolicy}) == 3
            and document(
                F.PyTorch(worker=F.Worker(replicas=1, restart_policy=F.RestartPolicy.FAILURE))
            )["worker"]["restartPolicy"]
            == "OnFailure"
        ),
    ),
    Row(
        "safe-to-evict annotation, enableServiceLinks, terminationMessagePolicy",
        "added to every pod",
        "not added; a profile's default annotations can include the first",
        "ours",
        lambda: "enableServiceLinks" not in pod(manifest(F.Elastic())),
    ),
)


def markdown() -> str:
    """Return the table as Markdown."""
    lines = ["| | Flyte 1.16 | ptcompile | |", "|---|---|---|---|"]
    lines += [
        f"| {row.topic} | {row.flyte} | {row.here} | {row.verdict} |".replace("\n", " ")
        for row in ROWS
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(markdown(), end="")
