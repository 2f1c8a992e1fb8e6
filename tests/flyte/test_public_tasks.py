"""Fifteen flytekit tasks in the style of public Flyte projects, and the jobs they compile to.

Sources: tutorials, the plugin's documentation and training repositories (flytekit 1.16), with different names and
values.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NamedTuple

import pytest

import ptcompile
from ptcompile import flyte

flytekit = pytest.importorskip("flytekit")
plugin = pytest.importorskip("flytekitplugins.kfpytorch")
pytest.importorskip("torch")  # flytekit requires torch for Elastic tasks
client = pytest.importorskip("kubernetes.client")
accelerators = pytest.importorskip("flytekit.extras.accelerators")
pytestmark = pytest.mark.filterwarnings("ignore")
warnings.simplefilter("ignore")

task, Resources, Secret, PodTemplate = (
    flytekit.task,
    flytekit.Resources,
    flytekit.Secret,
    flytekit.PodTemplate,
)
PyTorch, Elastic, Worker, Master = plugin.PyTorch, plugin.Elastic, plugin.Worker, plugin.Master
RunPolicy, CleanPodPolicy, RestartPolicy = (
    plugin.RunPolicy,
    plugin.CleanPodPolicy,
    plugin.RestartPolicy,
)
FlyteDirectory: Any = flytekit.FlyteDirectory
SPEC = flytekit.ImageSpec(
    name="trainer", packages=["torch", "flytekitplugins-kfpytorch"], registry="ghcr.io/acme"
)
UNION = Secret(group="any", key="wandb_api_key", env_var="WANDB_API_KEY")
UNION.group = None  # valid if Union's package is installed


@dataclass
class Hyperparameters:
    batch_size: int = 64
    lr: float = 0.01
    classes: list[str] = field(default_factory=lambda: ["person"])


@task(
    task_config=PyTorch(worker=Worker(replicas=2)),
    retries=2,
    cache=True,
    cache_version="1",
    requests=Resources(cpu="2", mem="4Gi", gpu="1"),
    limits=Resources(mem="8Gi", gpu="1"),
    container_image="ghcr.io/acme/mnist:1",
)
def mnist_cookbook(hp: Hyperparameters) -> float:
    return 0.5


@task(
    task_config=PyTorch(worker=Worker(replicas=1)),
    requests=Resources(cpu="500m", mem="500Mi", gpu="0"),
    limits=Resources(mem="500Mi", gpu="0"),
    container_image="ghcr.io/acme/mnist:1",
)
def mnist_sandbox(hp: Hyperparameters = Hyperparameters()) -> None: ...  # noqa: B008  as flytekit tasks do


@task(
    task_config=Elastic(
        nnodes=2,
        nproc_per_node=8,
        rdzv_configs={"timeout": 36000, "join_timeout": 36000},
        max_restarts=3,
    ),
    accelerator=accelerators.T4,
    requests=Resources(mem="32Gi", cpu="48", gpu="8", ephemeral_storage="100Gi"),
    container_image=SPEC,
)
def lightning_autoencoder(dataloader_num_workers: int) -> FlyteDirectory:
    return FlyteDirectory("/tmp")  # noqa: S108


@task(
    task_config=Elastic(nnodes=1, nproc_per_node=4, start_method="fork"),
    requests=Resources(mem="120Gi", cpu="44", gpu="4", ephemeral_storage="200Gi"),
    environment={"WANDB_PROJECT": "lora", "TOKENIZERS_PARALLELISM": "false"},
    secret_requests=[Secret(group="tokens", key="wandb", mount_requirement=Secret.MountType.FILE)],
    container_image="ghcr.io/acme/lora:1",
)
def lora_fine_tuning(config: dict[str, Any], publish: bool = False) -> None: ...


@task(
    task_config=Elastic(
        rdzv_configs={"timeout": "30000"}, run_policy=RunPolicy(clean_pod_policy=CleanPodPolicy.ALL)
    ),
    retries=2,
    requests=Resources(cpu="1000m", mem="2500Mi"),
    limits=Resources(mem="2500Mi"),
    container_image=SPEC,
)
def migrated_one_node(epochs: int = 5) -> float:
    return 0.5


@task(
    task_config=Elastic(
        nnodes=2,
        nproc_per_node=4,
        max_restarts=3,
        monitor_interval=10,
        rdzv_configs={"timeout": "60000", "join_timeout": "30000"},
        run_policy=RunPolicy(CleanPodPolicy.RUNNING, 600, 7200, 2),
    ),
    requests=Resources(cpu="4", mem="16Gi", gpu="4"),
    container_image=SPEC,
)
def migrated_two_nodes(epochs: int) -> float:
    return 0.5


@task(
    task_config=PyTorch(
        master=Master(requests=Resources(cpu="1", mem="2Gi"), restart_policy=RestartPolicy.NEVER),
        worker=Worker(
            replicas=3, requests=Resources(cpu="2", mem="4Gi"), restart_policy=RestartPolicy.FAILURE
        ),
        run_policy=RunPolicy(clean_pod_policy=CleanPodPolicy.ALL, backoff_limit=3),
    ),
    container_image="ghcr.io/acme/roles:1",
)
def migrated_roles(batch_size: int, lr: float) -> None: ...


@task(
    task_config=Elastic(nnodes=2, nproc_per_node=1, max_restarts=3, start_method="fork"),
    requests=Resources(mem="40Gi", cpu="10", gpu="1", ephemeral_storage="15Gi"),
    secret_requests=[UNION],
    accelerator=accelerators.T4,
    environment={"NCCL_DEBUG": "WARN", "TORCH_DISTRIBUTED_DEBUG": "INFO"},
    shared_memory=True,
    container_image="ghcr.io/acme/bert:1",
)
def union_bert(dataset_shards: FlyteDirectory, wandb_entity: str) -> None: ...


@task(
    task_config=Elastic(nnodes=1, nproc_per_node=8),
    requests=Resources(mem="400Gi", cpu="90", gpu="8"),
    accelerator=accelerators.A100,
    shared_memory="64Gi",
    secret_requests=[Secret(group="hf", key="token", env_var="HF_TOKEN_FILE")],
    container_image="ghcr.io/acme/liger:1",
)
def union_liger(max_steps: int = 20, learning_rates: list[float] | None = None) -> None: ...


@task(
    task_config=PyTorch(worker=Worker(replicas=1)),
    requests=Resources(cpu="2", mem="4Gi"),
    pod_template=PodTemplate(
        primary_container_name="default",
        pod_spec=client.V1PodSpec(
            containers=[
                client.V1Container(
                    name="default",
                    image_pull_policy="Always",
                    working_dir="/workspace",
                    volume_mounts=[client.V1VolumeMount(mount_path="/shared", name="shared")],
                )
            ],
            volumes=[
                client.V1Volume(
                    name="shared",
                    persistent_volume_claim=client.V1PersistentVolumeClaimVolumeSource(
                        claim_name="shared-data"
                    ),
                )
            ],
            tolerations=[client.V1Toleration(key="jetson", operator="Exists", effect="NoSchedule")],
            node_selector={"kubernetes.io/arch": "arm64"},
        ),
    ),
    container_image="registry.local:5000/resnet:1",
)
def edge_cluster(data: str) -> FlyteDirectory:
    return FlyteDirectory("/tmp")  # noqa: S108


@task(
    task_config=PyTorch(num_workers=0),
    secret_requests=[Secret(group="fetcher", key="proxy_url")],
    container_image="{{.image.sweep_cu128}}",
)
def sweep(command: str, run_name: str) -> None: ...


@task(
    task_config=PyTorch(master=Worker(replicas=1), worker=Worker(replicas=1)),
    requests=Resources(cpu="8", mem="64Gi", gpu="4"),
    labels={"team": "ml-platform"},
    annotations={"note": "ddp"},
    interruptible=True,
    timeout=timedelta(hours=2),
    container_image="ghcr.io/acme/platform:1",
)
def platform_ddp(epochs: int) -> str:
    return ""


@task(task_config=PyTorch(worker=Worker(replicas=5)), requests=Resources(cpu="1", mem="1Gi"))
def plugin_readme() -> None: ...


@task(
    task_config=Elastic(nnodes=4, nproc_per_node=8),
    resources=Resources(cpu=("16", "32"), mem="200Gi", gpu=8),
    container_image="ghcr.io/acme/e2e:1",
)
def end_to_end(configs: list[dict[str, float]]) -> None: ...


@task(
    task_config=Elastic(
        nnodes="1:2", nproc_per_node=4, rdzv_configs={"timeout": 1800, "join_timeout": 1200}
    ),
    requests=Resources(cpu="2", mem="4Gi"),
    limits=Resources(cpu="4", mem="8Gi"),
    shared_memory="2Gi",
    container_image="acme/elastic:1",
)
def elastic_range(data_path: str) -> float:
    return 0.5


class Row(NamedTuple):
    """A task, its inputs, and the expected result."""

    task: Any
    inputs: dict[str, Any]
    world: tuple[str, int, int] | None
    """Kind, pods and processes, or None if it does not compile."""
    words: Any = None
    """Spec fields that the row is about."""
    reported: frozenset[str] = frozenset()
    """Paths of errors and warnings, except that a result is dropped."""
    knobs: Any = None


def reported(*paths: str) -> frozenset[str]:
    return frozenset(paths)


def name(row: Row) -> str:
    """Return the task's name without its module."""
    return str(row.task.name.rpartition(".")[2])


GPU8 = {"cpu": 48, "memory": "32Gi", "gpu": 8, "ephemeralStorage": "100Gi"}
ROWS = (
    Row(
        mnist_cookbook,
        {"hp": Hyperparameters(lr=0.1)},
        ("PyTorchJob", 3, 3),
        {
            "resources": {
                "gpu": 1,
                "cpu": 2,
                "requests": {"memory": "4Gi"},
                "limits": {"memory": "8Gi"},
            }
        },
        reported("cache", "cache_version"),
    ),
    Row(mnist_sandbox, {}, ("PyTorchJob", 2, 2), {"resources": {"cpu": "500m", "memory": "500Mi"}}),
    Row(
        lightning_autoencoder,
        {"dataloader_num_workers": 4},
        ("PyTorchJob", 2, 16),
        {"resources": GPU8, "accelerator": "nvidia-tesla-t4", "image": SPEC.image_name()},
    ),
    Row(
        lora_fine_tuning,
        {"config": {"base": "acme/3b", "rank": 8}},
        ("Pod", 1, 4),
        {
            "volumeMounts": [
                {"name": "secret-0", "mountPath": "/etc/flyte/secrets/tokens", "readOnly": True}
            ]
        },
    ),
    Row(
        migrated_one_node,
        {},
        ("Job", 1, 1),
        {"runPolicy": {"backoffLimit": 2}},
        reported("task_config.run_policy.clean_pod_policy"),
    ),
    Row(
        migrated_two_nodes,
        {"epochs": "3"},
        ("PyTorchJob", 2, 8),
        {
            "runPolicy": {
                "cleanPodPolicy": "Running",
                "ttlSecondsAfterFinished": 600,
                "activeDeadlineSeconds": 7200,
                "backoffLimit": 2,
            }
        },
        reported("task_config.run_policy.active_deadline_seconds"),
    ),
    Row(
        migrated_roles,
        {"batch_size": 8, "lr": 0.1},
        ("PyTorchJob", 4, 4),
        {
            "master": {"restartPolicy": "Never", "resources": {"cpu": 1, "memory": "2Gi"}},
            "worker": {
                "restartPolicy": "OnFailure",
                "replicas": 3,
                "resources": {"cpu": 2, "memory": "4Gi"},
            },
        },
    ),
    Row(
        union_bert,
        {"dataset_shards": "s3://b/d", "wandb_entity": "me"},
        None,
        reported=reported("secret_requests.0.group"),
    ),
    Row(
        union_liger,
        {"learning_rates": [0.1]},
        ("Pod", 1, 8),
        {"sharedMemory": "64Gi", "accelerator": "nvidia-tesla-a100"},
    ),
    Row(
        edge_cluster,
        {"data": "/shared/cifar"},
        ("PyTorchJob", 2, 2),
        {
            "podTemplate": {
                "spec": {
                    "containers": [
                        {
                            "imagePullPolicy": "Always",
                            "name": "pytorch",
                            "volumeMounts": [
                                {"mountPath": "/shared", "name": "shared"},
                                {"mountPath": "/dev/shm", "name": "shm"},  # noqa: S108
                            ],
                            "workingDir": "/workspace",
                        }
                    ],
                    "nodeSelector": {"kubernetes.io/arch": "arm64"},
                    "tolerations": [
                        {"effect": "NoSchedule", "key": "jetson", "operator": "Exists"}
                    ],
                    "volumes": [
                        {"name": "shared", "persistentVolumeClaim": {"claimName": "shared-data"}},
                        {"emptyDir": {"medium": "Memory"}, "name": "shm"},
                    ],
                }
            }
        },
    ),
    Row(
        sweep,
        {"command": "python run.py", "run_name": "a"},
        None,
        reported=reported("container_image"),
    ),
    Row(
        sweep,
        {"command": "python run.py", "run_name": "a"},
        ("PyTorchJob", 1, 1),
        {"image": "acme/sweep:1"},
        knobs={"images": {"sweep_cu128": "acme/sweep:1"}},
    ),
    Row(
        platform_ddp,
        {"epochs": 1},
        ("PyTorchJob", 2, 2),
        {
            "runPolicy": {"cleanPodPolicy": "None", "activeDeadlineSeconds": 7200},
            "podLabels": {"team": "ml-platform"},
            "spot": True,
        },
        reported("interruptible"),
    ),
    Row(plugin_readme, {}, None, reported=reported("container_image")),
    Row(
        plugin_readme,
        {},
        ("PyTorchJob", 6, 6),
        {"image": "acme/default:1"},
        knobs={"image": "acme/default:1"},
    ),
    Row(
        end_to_end,
        {"configs": [{"lr": 0.1}, {}]},
        ("PyTorchJob", 4, 32),
        {
            "resources": {
                "memory": "200Gi",
                "gpu": 8,
                "requests": {"cpu": 16},
                "limits": {"cpu": 32},
            }
        },
    ),
    Row(
        elastic_range,
        {"data_path": "s3://b"},
        ("PyTorchJob", 2, 8),
        {"sharedMemory": "2Gi"},
        reported("task_config.nnodes"),
    ),
)


@pytest.mark.parametrize(
    "row", ROWS, ids=[f"{name(row)}{'-known' * bool(row.knobs)}" for row in ROWS]
)
def test_a_public_task_becomes_its_spec(row: Row) -> None:
    made = flyte.from_task(row.task, **(row.knobs or {}))
    result = made.compile(inputs=row.inputs)
    found = {
        ".".join(map(str, diagnostic.path))
        for diagnostic in result.diagnostics
        if diagnostic.severity != "note"
    }
    assert found - {"outputs"} == row.reported
    if row.world is None:
        assert not result.ok
        return
    main = result.unwrap()[-1]
    pods = ptcompile.simulate(result.yaml()).pods
    processes = sum(pod.rendezvous.processes or 1 for pod in pods)
    assert (main["kind"], len(pods), processes) == row.world
    for pod in pods:
        words = [*(pod.command or ()), *(pod.args or ())]
        assert words[words.index("ptcompile.flyte.run") + 1] == f"{__name__}:{name(row)}"
    spec = made.convert(inputs=row.inputs).document["spec"]
    for key, value in (row.words or {}).items():
        assert spec[key] == value


def test_the_rows_cover_fifteen_tasks() -> None:
    assert len({row.task.name for row in ROWS}) == 15
