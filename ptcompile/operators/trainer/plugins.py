"""What each of Trainer's policies adds to the trainer's pods (Trainer 2.3: torch, plain, mpi, jax, xgboost, flux)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptcompile.kubernetes.untyped import at, items, text, texts
from ptcompile.operators.common import podspec
from ptcompile.operators.trainer import runtimes
from ptcompile.operators.trainer.build import INDEX_PATH, PORT, Build, plain, with_port
from ptcompile.operators.trainer.mpi import flux, mpi
from ptcompile.operators.trainer.torchtune import torchtune

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def torch(build: Build) -> None:
    """torchrun's PET variables. Nothing at all where `spec.trainer` is absent (2.3, issue 4076)."""
    plain(build)
    if build.trainer is None:
        build.notes.append("spec.trainer is absent: the pods get no PET_* variables (Trainer 2.3)")
        return
    names = [
        podspec.value("PET_NNODES", str(runtimes.nodes(build.manifest, build.runtime))),
        podspec.value("PET_NPROC_PER_NODE", runtimes.processes(build.manifest, build.runtime, build.version)),
        podspec.field("PET_NODE_RANK", INDEX_PATH),
    ]
    address = [podspec.value("PET_MASTER_ADDR", build.master), podspec.value("PET_MASTER_PORT", str(PORT))]
    tune = texts(build.trainer.get("command")) == ["tune", "run"]
    env = names if tune else [*names, *address]
    build.on_container(lambda c: with_port(podspec.upsert_env(c, env)))
    _inject(build, [*names, *address])
    if tune:
        torchtune(build)


def _inject(build: Build, env: Sequence[Json]) -> None:
    """`torch.envInjection`: the variables for further containers (2.3)."""
    for target in items(at(build.runtime, "spec", "mlPolicy", "torch", "envInjection").get("targets")):
        for name in texts(target.get("containerNames")):
            build.on_container(lambda c: podspec.upsert_env(c, env), job=text(target.get("jobName")), name=name)


def jax(build: Build) -> None:
    """JAX's coordinator, number of processes and process id."""
    count = runtimes.nodes(build.manifest, build.runtime)
    build.set_nodes(count)
    if build.trainer is None:
        return
    env = [
        podspec.value("JAX_NUM_PROCESSES", str(count)),
        podspec.field("JAX_PROCESS_ID", INDEX_PATH),
        podspec.value("JAX_COORDINATOR_ADDRESS", f"{build.master}:{PORT}"),
    ]
    build.on_container(lambda c: with_port(podspec.upsert_env(c, env)))


def xgboost(build: Build) -> None:
    """XGBoost's tracker; one worker a GPU, one without GPUs."""
    count = runtimes.nodes(build.manifest, build.runtime)
    build.set_nodes(count)
    if build.trainer is None:
        return
    given = build.trainer.get("numProcPerNode")
    gpus = runtimes.gpus(runtimes.node_resources(build.manifest, build.runtime))
    each = given if isinstance(given, int) and not isinstance(given, bool) else max(1, gpus)
    env = [
        podspec.value("DMLC_TRACKER_URI", build.master),
        podspec.value("DMLC_TRACKER_PORT", str(PORT)),
        podspec.field("DMLC_TASK_ID", INDEX_PATH),
        podspec.value("DMLC_NUM_WORKER", str(count * each)),
    ]
    build.on_container(lambda c: with_port(podspec.upsert_env(c, env)))


PLUGINS: dict[str, Callable[[Build], None]] = {
    "plain": plain,
    "torch": torch,
    "mpi": mpi,
    "jax": jax,
    "xgboost": xgboost,
    "flux": flux,
}
