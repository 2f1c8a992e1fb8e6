"""What Trainer's mpi and flux policies add to the trainer's pods (Trainer 2.3)."""

from __future__ import annotations

from ptcompile.kubernetes.untyped import at, integer, items, text, texts
from ptcompile.operators.common import podspec
from ptcompile.operators.common.expansion import MOST_NAMED
from ptcompile.operators.trainer import runtimes
from ptcompile.operators.trainer.build import Build, plain
from ptcompile.operators.trainer.merge import env_over

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.untyped import Json


def mpi(build: Build) -> None:
    """OpenMPI's host file and ssh keys; with runLauncherAsNode the launcher is one of the nodes."""
    policy = at(build.runtime, "spec", "mlPolicy", "mpi")
    count = runtimes.nodes(build.manifest, build.runtime)
    as_node = policy.get("runLauncherAsNode") is True
    workers = max(1, count - 1) if as_node else count
    build.set_nodes(1)
    build.set_nodes(workers, job="node")
    slots = _slots(build, policy)
    _mpi_mounts(build, text(policy.get("sshAuthMountPath")) or "/root/.ssh")
    env = [
        podspec.value("OMPI_MCA_orte_default_hostfile", "/etc/mpi/hostfile"),
        podspec.value("OMPI_MCA_orte_keep_fqdn_hostnames", "true"),
        podspec.value("OMPI_MCA_orte_set_default_slots", str(slots)),
        podspec.value("OMPI_MCA_plm_rsh_args", "-o ConnectionAttempts=10"),
    ]
    given = (build.trainer or {}).get("env")
    build.on_container(lambda c: podspec.upsert_env(c, env))
    build.on_container(lambda c: env_over(c, given), job="node")
    hosts = [f"{build.name}-node-0-{i}.{build.name} slots={slots}\n" for i in range(min(workers, MOST_NAMED))]
    if as_node:
        hosts.append(f"{build.name}-launcher-0-0.{build.name} slots={slots}\n")
    build.configmaps.append({"metadata": {"name": f"{build.name}-mpi-hostfile"}, "data": {"hostfile": "".join(hosts)}})


def _slots(build: Build, policy: Json) -> int:
    """Processes a node: the TrainJob's, else the runtime's; a runtime's 1 becomes the number of GPUs."""
    given = (build.trainer or {}).get("numProcPerNode")
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    written = integer(policy.get("numProcPerNode"), 1)
    gpus = runtimes.gpus(runtimes.node_resources(build.manifest, build.runtime))
    return gpus if written == 1 and gpus > 1 else written


def _mpi_mounts(build: Build, path: str) -> None:
    keys = {"name": "mpi-ssh-auth", "secret": {"secretName": f"{build.name}-mpi-ssh-auth"}}
    hosts = {"name": "mpi-hostfile", "configMap": {"name": f"{build.name}-mpi-hostfile"}}
    mount = [{"name": "mpi-ssh-auth", "mountPath": path}]
    for job in ("node", None):
        build.on_pod(lambda s: podspec.with_items(s, "volumes", [keys]), job=job)
        build.on_container(lambda c: podspec.with_items(c, "volumeMounts", mount), job=job)
    build.on_pod(lambda s: podspec.with_items(s, "volumes", [hosts]))
    place = [{"name": "mpi-hostfile", "mountPath": "/etc/mpi"}]
    build.on_container(lambda c: podspec.with_items(c, "volumeMounts", place))


_FLUX_IMAGE = "ghcr.io/converged-computing/flux-view-ubuntu:tag-jammy"
_FLUX_MOUNTS = ("/mnt/flux", "/opt/software", "/etc/flux-config", "/curve", "/dev/shm")  # noqa: S108


def flux(build: Build) -> None:
    """A Flux broker in every node: an installing init container, and the command wrapped in Flux's entry point."""
    trainer = build.trainer
    if trainer is not None and trainer.get("numNodes") is None:
        build.failure = "the controller panics on a flux runtime without spec.trainer.numNodes (Trainer 2.3)"
        return
    plain(build)
    entries = items((trainer or {}).get("env"))
    image = next((text(e.get("value")) for e in entries if e.get("name") == "FLUX_VIEW_IMAGE"), _FLUX_IMAGE)
    installer = {"name": "flux-installer", "image": image, "command": ["/bin/bash", "/etc/flux-config/init.sh"]}
    installer_mounts = [{"name": "flux-install", "mountPath": "/mnt/flux"}, _flux_config()]
    words = " ".join(texts((trainer or {}).get("command"))).strip()
    command = ["/bin/bash", "/etc/flux-config/entrypoint.sh", words]
    mounts = [
        _flux_config() if p == "/etc/flux-config" else {"name": "flux-install", "mountPath": p} for p in _FLUX_MOUNTS
    ]
    build.on_pod(lambda s: podspec.with_items(s, "initContainers", [{**installer, "volumeMounts": installer_mounts}]))
    build.on_container(lambda c: podspec.with_items({**c, "command": command}, "volumeMounts", mounts))
    build.own = frozenset({"command"})


def _flux_config() -> dict[str, Any]:
    return {"name": "flux-config", "mountPath": "/etc/flux-config"}
