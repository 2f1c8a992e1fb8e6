"""The pods of a rehearsal and their command lines.

The first argument is the program's name. accelerate counts the GPUs it finds, and deepspeed reads a
host file in the image; both get those values from the rehearsal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ptcompile._internal.spelling import is_short_number
from ptcompile.apiserver import validate
from ptcompile.kinds.templates import cluster_host_name
from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.index import is_headless
from ptcompile.kubernetes.unstructured import nested_maps, nested_string, object_name, without_keys
from ptcompile.rehearsal.settings import RehearsalError
from ptcompile.rehearsal.volumes import (
    PodSurroundings,
    claims_of,
    describe_surroundings,
    surroundings_of,
)
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.launchers import LAUNCHERS, launcher_of
from ptcompile.simulator.launchers.torchrun import SWITCHES, conf_of, option_name
from ptcompile.simulator.meeting import dns_names, services_of, short_names, training_roles
from ptcompile.simulator.pod import Pod

SCRIPT = "stand_in.py"
"""The training script in a pod's folder: the stand-in or the user's."""
HOSTFILE = "hostfile"
"""The host file in a pod's folder, which lists all pods and their processes for deepspeed."""
MODULES: Mapping[str, str] = {
    "torchrun": "torch.distributed.run",
    "accelerate": "accelerate.commands.launch",
    "deepspeed": "deepspeed.launcher.runner",
}
"""Launchers that can be rehearsed, with their modules."""
_FIELDS_MADE_PATHS = frozenset({"name", "hostname", "subdomain", "mountPath", "subPath"})
"""Fields of a pod of which paths and host names are made."""
_REPLACED_OPTIONS = frozenset(
    {"nproc-per-node", "num-processes", "hostfile", "include", "config-file", "no-ssh"}
)
"""Options that the rehearsal replaces with its number of processes and its files."""


def command_line(pod: Pod, processes: int, pods: int) -> tuple[str, ...]:
    """Return a pod's command line with `processes` processes, for a job with `pods` pods.

    Raises:
        RehearsalError: the launcher cannot be rehearsed.
    """
    launch = pod.launch
    launcher = launch.launcher
    image_starts_torchrun = launcher == "image" and any(name.startswith("PET_") for name in pod.env)
    if launcher == "torchrun" or image_starts_torchrun:
        arguments = launch.entry[1:] if launcher == "torchrun" else pod.args or ()
        return ("torchrun", *_torchrun_options(launch.arguments, processes), SCRIPT, *arguments)
    if launcher in ("command", "image"):
        return ("python", SCRIPT)
    if launcher == "accelerate" and launcher_of(launch.entry):
        return ("accelerate", *_accelerate_options(pod, processes, pods), SCRIPT)
    if launcher == "deepspeed" and launcher_of(launch.entry):
        return ("deepspeed", *_deepspeed_options(pod, processes, pods), SCRIPT)

    raise RehearsalError(f"{launcher} starts the processes but has no stand-in: use --own-command")


def _torchrun_options(arguments: tuple[str, ...], processes: int) -> Iterator[str]:
    """Yield torchrun's options as written, with the number of processes replaced and without those
    for modules and programs.
    """
    index = 0
    while (
        index < len(arguments)
        and arguments[index].startswith("-")
        and arguments[index] not in ("-", "--")
    ):
        name = option_name(arguments[index])
        has_no_separate_value = "=" in arguments[index] or name in (*SWITCHES, "use-env", "help")
        option = arguments[index : index + 1 if has_no_separate_value else index + 2]
        if name == "nproc-per-node":
            yield f"--nproc-per-node={processes}"
        elif name not in ("module", "no-python", "run-path"):
            yield from option
        index += len(option)


def _accelerate_options(pod: Pod, processes: int, pods: int) -> Iterator[str]:
    options = pod.launch.options
    if "config-file" in options and "nnodes" not in options and pods > 1:
        raise RehearsalError(
            "accelerate reads its machines from a config file, which is missing: use --own-command"
        )

    nnodes = options.get("nnodes", "")
    nodes = int(nnodes) if is_short_number(nnodes) else 1
    if processes * nodes > 1:
        # accelerate sets this itself if it finds GPUs
        yield "--multi_gpu"
    yield f"--num_processes={processes * nodes}"
    yield from _other_options("accelerate", options)


def _deepspeed_options(pod: Pod, processes: int, pods: int) -> Iterator[str]:
    options = pod.launch.options
    if pods == 1:
        yield f"--num_gpus={processes}"
        return
    if "no-ssh" not in options:
        raise RehearsalError(
            "deepspeed starts the other pods over ssh, which a rehearsal does not provide: add "
            "--no_ssh"
        )

    yield from (f"--hostfile={HOSTFILE}", "--no_ssh")
    yield from _other_options("deepspeed", options)


def _other_options(name: str, options: Mapping[str, str]) -> Iterator[str]:
    names = LAUNCHERS[name].names
    for option, value in options.items():
        if option not in _REPLACED_OPTIONS:
            yield f"--{names[option].replace('-', '_')}={value}"


def launcher_stand_ins(pod: Pod, pods: int) -> Iterator[str]:
    """Yield one sentence for each replacement of what the launcher would find in the cluster."""
    launch = pod.launch
    if launch.launcher == "accelerate":
        if "config-file" in launch.options:
            yield "accelerate's config file is missing"
        yield "accelerate gets --multi_gpu and only the options with which pods meet"
    if launch.launcher == "deepspeed" and pods > 1:
        yield "a host file with all pods replaces deepspeed's"


MAX_PODS = 32
"""Maximum number of training pods: each runs at least one PyTorch process."""
_INTERFACE_VARIABLES = ("GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")
_LOADER_VARIABLES = frozenset(
    {
        "BASH_ENV",
        "LD_AUDIT",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "PATH",
        "PYTHONHOME",
        "PYTHONPATH",
        "PYTHONSTARTUP",
    }
)
"""Variables with which a manifest would choose files of this machine to run, such as one of its
repository.
"""
_DROPPED_VARIABLES = frozenset({*_INTERFACE_VARIABLES, *_LOADER_VARIABLES})


class Actor(NamedTuple):
    """A training pod in a rehearsal."""

    number: int
    """Number among the training pods, from 0."""
    name: str
    role: str
    place: int
    """Index within the role."""
    hostname: str
    own_names: tuple[str, ...]
    """Names for its address in its own /etc/hosts, as the kubelet writes them."""
    names: tuple[str, ...]
    """Names under which Services let other pods find its own address."""
    service_names: tuple[str, ...]
    """Names of Services that have a cluster IP and select it."""
    argv: tuple[str, ...]
    env: Mapping[str, str]
    processes: int
    image: str
    """Image of the manifest, or empty if it names none."""
    directory: str | None
    """Working directory of the manifest (`workingDir`)."""
    surroundings: PodSurroundings
    rank: str | None
    """Node rank that `simulate` predicts, or None if it is assigned at the rendezvous."""


class Cast(NamedTuple):
    """All pods of a rehearsal, and one sentence for each difference from the cluster."""

    actors: tuple[Actor, ...]
    stand_ins: tuple[str, ...]


def cast(
    job: SimulatedJob,
    *,
    max_processes: int,
    own_command: bool = False,
    script: str | None = None,
    mounts: Mapping[str, str] | None = None,
) -> Cast:
    """Return the training pods of a job with at most `max_processes` processes each. `script`
    replaces the stand-in script; `mounts` are folders of this machine by claim.

    Raises:
        RehearsalError: the job cannot be rehearsed, for example because of its launcher.
    """
    roles = [role for role, _, _ in training_roles(job)]
    pods = [
        job.pod(role, index) for role in roles for index in range(min(role.count, MAX_PODS + 1))
    ]
    if not pods:
        raise RehearsalError("the job has no training pods")
    if len(pods) > MAX_PODS:
        raise RehearsalError(
            f"{sum(role.count for role in roles)} pods are too many to rehearse: at most {MAX_PODS}"
        )
    if refusal := next(
        (text for role in roles for text in _name_refusals(job, job.pod(role, 0))), None
    ):
        raise RehearsalError(refusal)

    folders = mounts or {}
    claims = list(dict.fromkeys(claim for pod in pods for claim in claims_of(pod)))
    if unknown := next((claim for claim in folders if claim not in claims), None):
        claims_text = (
            f"the claims are {', '.join(claims)}" if claims else "no training pod mounts one"
        )
        raise RehearsalError(f"no training pod mounts a claim {unknown}: {claims_text}")

    actors = tuple(
        _actor(number, pod, max_processes, len(pods), folders, own_command=own_command)
        for number, pod in enumerate(pods)
    )
    stand_ins = (
        *_stand_ins(job, pods, actors, script, own_command=own_command),
        *describe_surroundings(pods[0], actors[0].surroundings, folders),
    )

    return Cast(actors, tuple(dict.fromkeys(stand_ins)))


def _name_refusals(job: SimulatedJob, pod: Pod) -> Iterator[str]:
    """Yield why the API server rejects names and paths of a pod, which a rehearsal turns into
    files, mounts and host names.
    """
    metadata = {"name": pod.name or "pod", "namespace": pod.view.namespace}
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod.view.spec}
    for problem in validate(manifest, webhooks=False, versions=job.versions):
        if problem.path and problem.path[-1] in _FIELDS_MADE_PATHS:
            yield f"the API server refuses its pods: {problem.message}"


def _actor(
    number: int,
    pod: Pod,
    max_processes: int,
    pods: int,
    claims: Mapping[str, str],
    *,
    own_command: bool,
) -> Actor:
    processes = min(max_processes, pod.rendezvous.processes or max_processes)
    hostname = f"node-{number}" if pod.on_host else pod.hostname or f"{pod.name}-{number:05d}"
    main = pod.main.spec if pod.main else {}
    own_names = [hostname]
    if "." in pod.own_fqdn and not pod.on_host:
        _, _, domain = pod.own_fqdn.partition(".")
        own_names.insert(0, f"{hostname}.{domain}")

    return Actor(
        number=number,
        name=pod.display_name,
        role=pod.role,
        place=pod.index,
        hostname=hostname,
        own_names=tuple(own_names),
        names=tuple(dict.fromkeys((*dns_names(pod.view), *_service_names(pod, headless=True)))),
        service_names=tuple(_service_names(pod, headless=False)),
        argv=_own_command(pod) if own_command else command_line(pod, processes, pods),
        env=_env(pod, processes, own_command=own_command),
        processes=processes,
        image=nested_string(main, "image"),
        directory=nested_string(main, "workingDir") or None,
        surroundings=surroundings_of(pod, claims),
        rank=pod.rendezvous.node_rank if is_short_number(pod.rendezvous.node_rank) else None,
    )


def _own_command(pod: Pod) -> tuple[str, ...]:
    argv = tuple(pod.argv)
    if not argv:
        raise RehearsalError(
            "the image's own command is unknown: --own-command needs one in the manifest"
        )
    return argv


def _env(pod: Pod, processes: int, *, own_command: bool) -> dict[str, str]:
    """Return the variables of a pod that starts `processes` processes, with those that its command
    sets where a stand-in takes the place of that command.
    """
    env = without_keys(pod.variables, *_DROPPED_VARIABLES)
    if "PET_NPROC_PER_NODE" in env:
        env["PET_NPROC_PER_NODE"] = str(processes)
    if own_command:
        return env
    return {**without_keys(pod.launch.env, *_DROPPED_VARIABLES, "HOSTNAME"), **env}


def _service_names(pod: Pod, *, headless: bool) -> Iterator[str]:
    """Yield the names of the Services that select the pod: those that are headless, or those
    with a cluster IP.
    """
    for service in services_of(pod):
        namespace = pod.job.namespace
        if is_headless(service) == headless:
            name = cluster_host_name(object_name(service), None, namespace, pod.job.versions.domain)
            yield from short_names(name, namespace)


def _stand_ins(
    job: SimulatedJob,
    pods: list[Pod],
    actors: tuple[Actor, ...],
    script: str | None,
    *,
    own_command: bool,
) -> Iterator[str]:
    """Yield one sentence for each difference from the cluster."""
    first = pods[0]
    actor = actors[0]

    if not own_command:
        yield (
            f"{script or 'a script that checks world, ranks and an all_reduce'} replaces the "
            "pods' programs"
        )
        yield from launcher_stand_ins(first, len(pods))

    requested = first.rendezvous.processes_text
    if requested != str(actor.processes):
        yield f"processes per node: {actor.processes} instead of {requested}"
    if auxiliary_roles := sorted({role.name for role in job.roles} - {pod.role for pod in pods}):
        yield f"auxiliary pods are not started: {', '.join(auxiliary_roles)}"

    spec = first.view.spec
    if init_containers := [
        nested_string(entry, "name") for entry in nested_maps(spec, "initContainers")
    ]:
        yield f"init containers do not run: {', '.join(init_containers)}"
    if first.has_unknown_variables:
        yield "variables of envFrom are absent"

    unknown_variables = sorted(
        name for name, value in first.variables.items() if _is_unknown_value(value)
    )
    if unknown_variables:
        yield (
            f"no manifest holds the values of {', '.join(unknown_variables)}: they are set to "
            "<source>"
        )
    if dropped := [name for name in _INTERFACE_VARIABLES if name in first.env]:
        yield f"the only interface is eth0, so {', '.join(dropped)} is dropped"
    if dropped := sorted(
        name for name in _LOADER_VARIABLES if name in first.env or name in first.launch.env
    ):
        yield (
            f"a manifest cannot name code to load on this machine, so {', '.join(dropped)} is "
            "dropped"
        )


def _is_unknown_value(value: str) -> bool:
    return value.startswith("<") and value.endswith(">") and value[1:-1] not in POD_FIELDS


POD_FIELDS = ("status.podIP", "status.hostIP", "metadata.name", "spec.nodeName")
"""Fields that only running pods have, rehearsed pods included."""


def with_fields(value: str, actor: Actor, address: str) -> str:
    """Return `value` with the fields of a running pod filled in."""
    values = {"status.podIP": address, "status.hostIP": address, "metadata.name": actor.hostname}
    for field in POD_FIELDS:
        value = value.replace(f"<{field}>", values.get(field, f"node-{actor.number}"))
    return value


def scale_conf(conf: str, factor: float) -> str:
    """Return a --rdzv-conf with all timeouts divided by `factor`, torchrun's defaults included;
    each is at least 1 second.
    """
    settings = conf_of(conf)
    waits = {
        "join_timeout": 600,
        "last_call_timeout": 30,
        "read_timeout": 60,
        "timeout": 600,
        "keep_alive_interval": 5,
    }
    for name, default in waits.items():
        settings[name] = str(max(1, round((atoi(settings.get(name, "")) or default) / factor)))

    return ",".join(f"{name}={value}" for name, value in settings.items())
