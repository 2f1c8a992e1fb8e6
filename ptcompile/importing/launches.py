"""A torchrun launch in a command line as `script` or `module` with `elastic`, where torchrun would hold the same.

What torchrun holds is asked of the simulated pods: flags over PET_* variables over its own defaults. Whether the lifted
spec means the same is not decided here: it is compiled and compared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ptcompile.simulation.job import Job
from ptcompile.simulation.launch import Launch, of_container
from ptcompile.simulation.meeting import training
from ptcompile.simulation.rendezvous import DEFAULTS, Rendezvous
from ptcompile.simulation.shell import one_command
from ptcompile.torchrun import conf_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.importing.draft import Spec

_SWITCHES = frozenset({"standalone", "module"})
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


def lifted(spec: Spec, job: Job) -> Spec | None:
    """The spec with torchrun's own launch in its words; None where its command is not understood."""
    words = spec["spec"]
    leads = training(job)
    command, args = words.get("command"), words.get("args") or []
    if not command or not leads or not all(isinstance(word, str) for word in (*command, *args)):
        return None
    launch = _launch(command, args, words.get("env") or {})
    if launch is None or launch.options.keys() - DEFAULTS.keys() - _SWITCHES or not launch.entry:
        return None
    elastic = _elastic(leads[0][2], sum(role.count for role, _, _ in leads))
    if elastic is None:
        return None
    entry, *arguments = launch.entry
    start = {"module" if launch.options.get("module") else "script": entry}
    left = {word: value for word, value in words.items() if word not in {"command", "args", "elastic"}}
    said = {**left, **start, **({"args": arguments} if arguments else {}), "elastic": elastic}
    return {**spec, "spec": {**said, **_port(leads[0][2], words)}}


def _launch(command: Sequence[str], args: Sequence[str], env: Mapping[str, Any]) -> Launch | None:
    """The launch, its words as the kubelet expands them; None where a shell does more than start one command."""
    found = of_container(command, args, {})
    if found.launcher != "torchrun":
        return None
    if not found.in_shell:
        return None if "torch.distributed.launch" in command else found
    script = one_command([*command, *args])
    if script is None:
        return None
    told = [_expanded(word, env) for word in script]
    return None if None in told else of_container([word for word in told if word is not None], [], {})


def _expanded(word: str, env: Mapping[str, Any]) -> str | None:
    """`$X` of a shell as the kubelet's `$(X)`; None where no variable of the container is called so."""
    names = [one or other for one, other in _VARIABLE.findall(word)]
    if any(name not in env for name in names):
        return None
    return _VARIABLE.sub(lambda found: f"$({found[1] or found[2]})", word)


def _elastic(seen: Rendezvous, pods: int) -> dict[str, Any] | None:
    options, nodes = seen.options, seen.nodes
    if "nproc-per-node" not in options:
        return None  # no pod runs it: the launch is in the template alone
    if nodes is None or (nodes[0] == nodes[1] != pods):
        return None  # each pod would be a world of its own
    processes, interval = options["nproc-per-node"], options["monitor-interval"]
    if not processes.isdigit() and processes not in {"auto", "cpu", "gpu"}:
        return None
    if interval != DEFAULTS["monitor-interval"] and not interval.isdigit():
        return None
    conf = conf_of(options["rdzv-conf"])
    out: dict[str, Any] = {
        "nnodes": f"{nodes[0]}:{nodes[1]}" if nodes[0] < nodes[1] else None,
        "nprocPerNode": int(processes) if processes.isdigit() else processes,
        "maxRestarts": int(options["max-restarts"]) if options["max-restarts"].isdigit() else 0,
        "startMethod": options["start-method"],
        "rdzvBackend": options["rdzv-backend"] if pods > 1 or nodes[1] > 1 else None,
        "rdzvEndpoint": seen.endpoint if options["rdzv-backend"].startswith("etcd") else None,
    }
    out = {word: value for word, value in out.items() if value is not None}
    if max(pods, nodes[1]) > 1:
        out["rdzvId"] = options["rdzv-id"] if options["rdzv-id"] != DEFAULTS["rdzv-id"] else None
        out["rdzvConfigs"] = {"timeout": None, "join_timeout": None, **conf}
    elif conf:
        out["rdzvConfigs"] = conf
    out["monitorInterval"] = int(interval) if interval.isdigit() else None
    return out


def _port(seen: Rendezvous, words: Spec) -> Spec:
    """The port where the nodes meet, unless the object itself says one."""
    port = seen.endpoint.rpartition(":")[2]
    said = "masterPort" in words or words["target"] == "pytorchjob" or seen.backend.startswith("etcd")
    said = said or not port.isdigit() or port == "0"
    return {} if said else {"masterPort": int(port)}
