"""The pods of a job as they are played, and their command lines.

The first word is the program's name. accelerate decides by the GPUs that it finds, and deepspeed reads a host file of
the image: both are told what they would have found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.unstructured import as_mappings, as_string, nested_map, object_name
from ptcompile.rehearsal.settings import RehearsalError
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.launchers import LAUNCHERS, launcher_of
from ptcompile.simulator.launchers.torchrun import SWITCHES, conf_of, option_name
from ptcompile.simulator.meeting import short_names, training_roles
from ptcompile.simulator.pod import Pod, WorkloadPods

SCRIPT = "stand_in.py"
"""The file in a pod's folder that trains, ours or the user's."""
HOSTFILE = "hostfile"
"""The file in a pod's folder that names all pods and their processes, for deepspeed."""
MODULES: Final[Mapping[str, str]] = {
    "torchrun": "torch.distributed.run",
    "accelerate": "accelerate.commands.launch",
    "deepspeed": "deepspeed.launcher.runner",
}
"""The launchers that can be played, and the module that each is."""
_COUNTS = frozenset({"nproc-per-node", "num-processes", "hostfile", "include", "config-file", "no-ssh"})
"""What is rewritten for the processes and files of the rehearsal."""


def line(pod: Pod, processes: int, pods: int) -> tuple[str, ...]:
    """The command line of a pod with so many processes, one of so many pods.

    Raises:
        RehearsalError: its launcher cannot be played.
    """
    launch = pod.launch
    by_image = launch.launcher == "image" and any(name.startswith("PET_") for name in pod.env)
    if launch.launcher == "torchrun" or by_image:
        return ("torchrun", *_torchrun(launch.arguments, processes), SCRIPT, *_arguments(pod))
    if launch.launcher in ("command", "image"):
        return ("python", SCRIPT)
    if launch.launcher == "accelerate" and launcher_of(launch.entry):
        return ("accelerate", *_accelerate(pod, processes, pods), SCRIPT)
    if launch.launcher == "deepspeed" and launcher_of(launch.entry):
        return ("deepspeed", *_deepspeed(pod, processes, pods), SCRIPT)
    raise RehearsalError(f"{launch.launcher} starts the processes, which has no stand-in: use --own-command")


def _torchrun(words: tuple[str, ...], processes: int) -> Iterator[str]:
    """torchrun's options as given, but for the processes and what a module or a program would need."""
    i = 0
    while i < len(words) and words[i].startswith("-") and words[i] not in ("-", "--"):
        name = option_name(words[i])
        alone = "=" in words[i] or name in (*SWITCHES, "use-env", "help")
        given = words[i : i + 1 if alone else i + 2]
        if name == "nproc-per-node":
            yield f"--nproc-per-node={processes}"
        elif name not in ("module", "no-python", "run-path"):
            yield from given
        i += len(given)


def _arguments(pod: Pod) -> tuple[str, ...]:
    """The script's own arguments."""
    return tuple(pod.launch.entry[1:]) if pod.launch.launcher == "torchrun" else tuple(pod.args or ())


def _accelerate(pod: Pod, processes: int, pods: int) -> Iterator[str]:
    options = pod.launch.options
    if "config-file" in options and "nnodes" not in options and pods > 1:
        raise RehearsalError("accelerate reads its machines from a config file, which is not there: use --own-command")
    nodes = int(options.get("nnodes", "1")) if options.get("nnodes", "1").isdigit() else 1
    if processes * nodes > 1:
        yield "--multi_gpu"  # what it takes for itself where it finds GPUs
    yield f"--num_processes={processes * nodes}"
    yield from _told("accelerate", options)


def _deepspeed(pod: Pod, processes: int, pods: int) -> Iterator[str]:
    options = pod.launch.options
    if pods == 1:
        yield f"--num_gpus={processes}"
        return
    if "no-ssh" not in options:
        raise RehearsalError("deepspeed reaches the other pods by ssh, which nothing here answers: give it --no_ssh")
    yield from (f"--hostfile={HOSTFILE}", "--no_ssh")
    yield from _told("deepspeed", options)


def _told(name: str, options: Mapping[str, str]) -> Iterator[str]:
    names = LAUNCHERS[name].names
    for option, value in options.items():
        if option not in _COUNTS:
            yield f"--{names[option].replace('-', '_')}={value}"


def stand_ins(pod: Pod, pods: int) -> Iterator[str]:
    """What its launcher would have found in the cluster, one sentence each."""
    launch = pod.launch
    if launch.launcher == "accelerate":
        if "config-file" in launch.options:
            yield "accelerate's config file is not there"
        yield "accelerate is told --multi_gpu, and only how the pods meet"
    if launch.launcher == "deepspeed" and pods > 1:
        yield "a host file with all pods replaces deepspeed's"


MOST_PODS = 32
"""More are refused: each is a process of torch's at least."""
_INTERFACES = ("GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")


class Actor(NamedTuple):
    """One pod that trains, as it is played."""

    number: int
    """Counted over the pods that train."""
    name: str
    role: str
    place: int
    """The index within the role."""
    hostname: str
    own_names: tuple[str, ...]
    """The names behind its address in its own /etc/hosts, as the kubelet writes them."""
    names: tuple[str, ...]
    """Those under which Services make the others find it."""
    argv: tuple[str, ...]
    env: Mapping[str, str]
    processes: int
    image: str
    """Empty where the manifest names none."""
    directory: str | None
    """The manifest's workingDir."""
    rank: str | None
    """The node's rank that `simulate` claims; None where it is assigned at the rendezvous."""


class Cast(NamedTuple):
    """All pods of a rehearsal, and what is not as in the cluster, one sentence each."""

    actors: tuple[Actor, ...]
    stand_ins: tuple[str, ...]


def cast(job: SimulatedJob, *, most: int, own_command: bool = False, script: str | None = None) -> Cast:
    """The pods of a job that train, with at most this many processes each. `script` trains instead of ours.

    Raises:
        RehearsalError: it cannot be rehearsed, such as the job of an unknown launcher.
    """
    roles = [role for role, _, _ in training_roles(job)]
    pods = [job.pod(role, index) for role in roles for index in range(min(role.count, MOST_PODS + 1))]
    if not pods:
        raise RehearsalError("no pod trains here")
    if len(pods) > MOST_PODS:
        raise RehearsalError(f"{sum(role.count for role in roles)} pods are too many to rehearse: at most {MOST_PODS}")
    actors = tuple(_actor(number, pod, most, len(pods), own_command=own_command) for number, pod in enumerate(pods))
    return Cast(actors, tuple(dict.fromkeys(_stand_ins(job, pods, actors, script, own_command=own_command))))


def _actor(number: int, pod: Pod, most: int, pods: int, *, own_command: bool) -> Actor:
    processes = min(most, pod.rendezvous.processes or most)
    env = {name: value for name, value in pod.env.items() if name not in _INTERFACES}
    if "PET_NPROC_PER_NODE" in env:
        env["PET_NPROC_PER_NODE"] = str(processes)
    if own_command:
        argv = (*(pod.command or ()), *(pod.args or ()))
        if not argv:
            raise RehearsalError("the image's own command is unknown: --own-command needs one in the manifest")
    else:
        argv = line(pod, processes, pods)
        env = {**{k: v for k, v in pod.launch.env.items() if k not in _INTERFACES and k != "HOSTNAME"}, **env}
    hostname = f"node-{number}" if pod.on_host else pod.hostname or f"{pod.name}-{number:05d}"
    full = f"{hostname}.{pod.own_fqdn.partition('.')[2]}" if "." in pod.own_fqdn and not pod.on_host else None
    return Actor(
        number=number,
        name=pod.display_name,
        role=pod.role,
        place=pod.index,
        hostname=hostname,
        own_names=(full, hostname) if full else (hostname,),
        names=tuple(dict.fromkeys(_names(pod))),
        argv=argv,
        env=env,
        processes=processes,
        image=as_string(pod.main.spec.get("image")) if pod.main else "",
        directory=as_string(pod.main.spec.get("workingDir")) or None if pod.main else None,
        rank=pod.rendezvous.node_rank if pod.rendezvous.node_rank.isdigit() else None,
    )


def _names(pod: Pod) -> Iterator[str]:
    """By the Services that select the pod: its own name in a headless one that is its subdomain, and the Service's."""
    view = pod.view
    for service in _services(pod.job):
        space = as_string(nested_map(service, "metadata").get("namespace")) or pod.job.namespace
        wanted = nested_map(service, "spec", "selector")
        if space != view.namespace or not wanted or not wanted.items() <= view.labels.items():
            continue
        name = object_name(service)
        full = f"{name}.{space}.svc.cluster.local"
        if nested_map(service, "spec").get("clusterIP") == "None" and view.subdomain == name and view.hostname:
            yield from short_names(f"{pod.hostname}.{full}", space)
        yield from short_names(full, space)


def _services(job: WorkloadPods) -> Iterator[Mapping[str, object]]:
    yield from job.expansion.services
    yield from (one for one in job.stream if as_string(one.get("kind")) == "Service")


def _stand_ins(
    job: SimulatedJob, pods: list[Pod], actors: tuple[Actor, ...], script: str | None, *, own_command: bool
) -> Iterator[str]:
    """What is not as in the cluster, one sentence each."""
    first, actor = pods[0], actors[0]
    if not own_command:
        yield f"{script or 'a script that checks world, ranks and an all_reduce'} replaces what the pods run"
        yield from stand_ins(first, len(pods))
    asked = first.rendezvous.processes_text
    if asked != str(actor.processes):
        yield f"processes per node: {actor.processes} instead of {asked}"
    if aside := sorted({role.name for role in job.roles} - {pod.role for pod in pods}):
        yield f"auxiliary pods are not started: {', '.join(aside)}"
    spec = first.view.spec
    if init := [as_string(one.get("name")) for one in as_mappings(spec.get("initContainers"))]:
        yield f"init containers do not run: {', '.join(init)}"
    if volumes := [as_string(one.get("name")) for one in as_mappings(spec.get("volumes"))]:
        yield f"volumes are absent: {', '.join(volumes)}"
    if first.main is not None and first.main.spec.get("envFrom"):
        yield "the variables of envFrom are absent"
    unknown = sorted(name for name, value in first.env.items() if _is_unknown(value))
    if unknown:
        yield f"no manifest holds the values of {', '.join(unknown)}: they read <source>"
    if dropped := [name for name in _INTERFACES if name in first.env]:
        yield f"the only interface is eth0, so {', '.join(dropped)} is dropped"


def _is_unknown(value: str) -> bool:
    return value.startswith("<") and value.endswith(">") and value[1:-1] not in POD_FIELDS


POD_FIELDS = ("status.podIP", "status.hostIP", "metadata.name", "spec.nodeName")
"""Fields that only a running pod has: a rehearsal has them too."""


def with_fields(value: str, actor: Actor, address: str) -> str:
    """A value with the fields that only a running pod has."""
    known = {"status.podIP": address, "status.hostIP": address, "metadata.name": actor.hostname}
    for field in POD_FIELDS:
        value = value.replace(f"<{field}>", known.get(field, f"node-{actor.number}"))
    return value


def scaled_conf(conf: str, by: float) -> str:
    """A --rdzv-conf whose waits are shorter by a factor, torchrun's own defaults among them; at least 1 second each."""
    given = conf_of(conf)
    waits = {"join_timeout": 600, "last_call_timeout": 30, "read_timeout": 60, "timeout": 600, "keep_alive_interval": 5}
    for name, default in waits.items():
        given[name] = str(max(1, round((atoi(given.get(name, "")) or default) / by)))
    return ",".join(f"{name}={value}" for name, value in given.items())
