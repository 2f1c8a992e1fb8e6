"""Rendezvous: what torchrun is told, as an argument list without a shell, and what a plain command finds in its env.

Only what the operator does not pass on itself is written. One node needs no other: `--standalone`. Several nodes meet
at node 0: statically, by rank, where their number is fixed; through torchrun's c10d store where it is a range, or where
processes or pods are restarted, since nodes of a static rendezvous cannot meet again (PyTorch 2.13). A plain command
gets no torchrun: it gets MASTER_ADDR, MASTER_PORT, WORLD_SIZE and RANK, counting nodes, where no operator sets them.
Beside `elastic` a command starts torchrun itself, and finds the same settings as PET_* variables.
Pods that do not train take no part.

Nodes that meet through c10d again, since processes restart or pods join late, get two variables more:
- TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1: from PyTorch 2.4 on an agent keeps the store of its first meeting, and a pod
  that joins a later one waits for keys that are in no store; after 60 seconds every pod exits with 1 (measured on
  2.13; pytorch issues 135712 and 147064). Older releases ignore it.
- PET_LOCAL_ADDR, for pods on their node's network: c10d hands out the node's host name otherwise, which the pods of
  other nodes may not resolve.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.ir.job import Context, Job, Launch, Wiring, keep_template, map_templates, with_rendezvous
from ptcompile.ir.pods import PodTemplate
from ptcompile.simulator.launchers.torchrun import OWN_STORE, SHARED_STORE, torch_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.ir.pods import Json


def rendezvous(job: Job, context: Context) -> Job:
    """The main container of each role that trains gets its torchrun command, or its variables."""
    wiring = context.target.wiring(job)
    if job.launch is None:
        return map_templates(job, lambda template: _with_env(template, wiring.env), auxiliary_change=keep_template)
    launch = with_rendezvous(job, job.launch)
    job = job if launch == job.launch else job._replace(launch=launch)
    options = _options(job, launch, wiring)
    command = ("torchrun", *[f"--{name}=" + value if value else f"--{name}" for name, value in options.items()])

    def wire(template: PodTemplate) -> PodTemplate:
        added = tuple(_variables(job, launch, template, context))
        if not launch.entry:
            return _with_env(template, (*_told(options, wiring), *added))
        if template.main.command is None:
            template = template.with_main(template.main._replace(command=(*command, *launch.entry)))
        return _with_env(template, added)

    return map_templates(job, wire, auxiliary_change=keep_template)


def _with_env(template: PodTemplate, entries: Sequence[Json]) -> PodTemplate:
    """The template with the variables that it does not name."""
    if not entries:
        return template
    there = {entry.get("name") for entry in template.main.env}
    added = [entry for entry in entries if entry["name"] not in there]
    return template.with_env((*template.main.env, *added)) if added else template


def _variables(job: Job, launch: Launch, template: PodTemplate, context: Context) -> Iterator[Json]:
    """What torchrun reads from its environment, where nodes meet through c10d."""
    if job.peak_nodes == 1 or launch.rdzv_backend != "c10d":
        return
    torch = torch_of(template.main.image, context.cluster.versions())
    if (job.elastic or launch.max_restarts) and torch >= SHARED_STORE:
        yield {"name": OWN_STORE, "value": "1"}
    if template.extra.get("hostNetwork"):
        yield {"name": "PET_LOCAL_ADDR", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}


def _told(options: Mapping[str, str], wiring: Wiring) -> Iterator[Json]:
    """torchrun's options as variables: each option has one called PET_<OPTION> (PyTorch 2.13).

    A variable cannot refer to one that a controller appends, so the rank is read from the pod itself.
    """
    for option, value in options.items():
        source = wiring.rank_from if option == "node-rank" else {"value": value or "1"}
        yield {"name": f"PET_{option.upper().replace('-', '_')}", **source}


def _options(job: Job, launch: Launch, wiring: Wiring) -> dict[str, str]:
    """torchrun's options in the order of its own help; a switch has an empty value."""
    given = _meeting(job, launch, wiring)
    if launch.max_restarts:
        given["max-restarts"] = str(launch.max_restarts)
    if launch.monitor_interval is not None:
        given["monitor-interval"] = str(launch.monitor_interval)
    if launch.start_method != "spawn":
        given["start-method"] = launch.start_method
    return {option: value for option, value in given.items() if value is not None and option not in wiring.injected}


def _meeting(job: Job, launch: Launch, wiring: Wiring) -> dict[str, str | None]:
    nodes, processes = job.peak_nodes, str(launch.nproc_per_node)
    settings = ",".join([f"{key}={value}" for key, value in launch.settings.items()]) or None
    if nodes == 1 and "nnodes" not in wiring.injected:
        return {"standalone": "", "nproc-per-node": processes, "rdzv-conf": settings}
    if launch.rdzv_backend == "static":
        how = {"node-rank": wiring.node_rank, "master-addr": wiring.host, "master-port": str(job.master_port)}
    else:
        endpoint = launch.rdzv_endpoint or f"{wiring.host}:{job.master_port}"
        how = {"rdzv-backend": launch.rdzv_backend, "rdzv-endpoint": endpoint, "rdzv-id": launch.rdzv_id}
    count = f"{job.min_nodes}:{nodes}" if job.elastic else str(nodes)
    return {"nnodes": count, "nproc-per-node": processes, **how, "rdzv-conf": settings}
