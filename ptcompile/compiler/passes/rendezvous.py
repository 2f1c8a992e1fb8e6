"""Rendezvous: torchrun's command line, without a shell, or the variables of a plain command.

Only settings that the operator does not pass on itself are written. A single node runs with
`--standalone` unless the spec asks for a static rendezvous. Several nodes join at node 0:
statically by rank if their number is fixed, or through torchrun's c10d store if it is a range or if
processes or pods restart, since nodes cannot rejoin a static rendezvous (PyTorch 2.13). A plain
command runs without torchrun and gets MASTER_ADDR, MASTER_PORT, WORLD_SIZE and RANK, which count
nodes, unless the operator sets them. A command next to `elastic` starts torchrun itself and gets
the same settings as PET_* variables. Auxiliary pods do not take part.

Nodes that may rejoin through c10d, because processes restart or pods join late, get two more
variables:
- TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1: from PyTorch 2.4 on an agent keeps the store of its first
  rendezvous, so a pod that joins a later one waits for keys that no store has, and after 60 seconds
  every pod exits with 1 (measured on 2.13; pytorch issues 135712 and 147064). Older releases ignore
  it.
- PET_LOCAL_ADDR, for pods on the host network: otherwise c10d publishes the Kubernetes node's host
  name, which pods on other nodes may not resolve.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.ir.job import (
    Context,
    Job,
    Launch,
    Wiring,
    keep_template,
    map_templates,
    with_rendezvous,
)
from ptcompile.ir.pods import PodTemplate
from ptcompile.simulator.launchers.torchrun import FIRST_HYPHENS, OWN_STORE, SHARED_STORE, torch_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.kubernetes.versions import Version


def rendezvous(job: Job, context: Context) -> Job:
    """Add the torchrun command or its variables to the main container of each training role."""
    wiring = context.target.wiring(job)
    if job.launch is None:
        return map_templates(
            job, lambda template: _with_env(template, wiring.env), auxiliary_change=keep_template
        )

    launch = with_rendezvous(job, job.launch)
    if launch != job.launch:
        job = job._replace(launch=launch)
    options = _torchrun_options(job, launch, wiring)

    def wire(template: PodTemplate) -> PodTemplate:
        variables = tuple(_variables(job, launch, template, context))
        if not launch.entry:
            return _with_env(template, (*_option_variables(options, wiring), *variables))
        if template.main.command is None:
            torch = torch_of(template.main.image, context.cluster.versions())
            command = ("torchrun", *_arguments(options, torch), *launch.entry)
            template = template.with_main(template.main._replace(command=command))
        return _with_env(template, variables)

    return map_templates(job, wire, auxiliary_change=keep_template)


def _arguments(options: Mapping[str, str], torch: Version) -> Iterator[str]:
    """Yield torchrun's options as arguments, spelled as the image's PyTorch accepts them."""
    for option, value in options.items():
        name = f"--{option}" if torch >= FIRST_HYPHENS else f"--{option.replace('-', '_')}"
        yield f"{name}={value}" if value else name


def _with_env(template: PodTemplate, entries: Sequence[Json]) -> PodTemplate:
    """Return the template with the variables that it does not set."""
    if not entries:
        return template
    existing = {entry.get("name") for entry in template.main.env}
    added = [entry for entry in entries if entry["name"] not in existing]
    if added:
        return template.with_env((*template.main.env, *added))
    return template


def _variables(job: Job, launch: Launch, template: PodTemplate, context: Context) -> Iterator[Json]:
    """Yield the variables that torchrun needs if nodes join through c10d."""
    if job.peak_nodes == 1 or launch.rdzv_backend != "c10d" or not launch.adds_variables:
        return
    torch = torch_of(template.main.image, context.cluster.versions())
    if (job.elastic or launch.max_restarts) and torch >= SHARED_STORE:
        yield {"name": OWN_STORE, "value": "1"}
    if template.extra.get("hostNetwork"):
        yield {"name": "PET_LOCAL_ADDR", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}


def _option_variables(options: Mapping[str, str], wiring: Wiring) -> Iterator[Json]:
    """Yield torchrun's options as variables: each option has one named PET_<OPTION> (PyTorch 2.13).

    A variable cannot refer to one that a controller appends, so the rank is read from the pod
    itself.
    """
    for option, value in options.items():
        source = wiring.rank_from if option == "node-rank" else {"value": value or "1"}
        yield {"name": f"PET_{option.upper().replace('-', '_')}", **source}


def _torchrun_options(job: Job, launch: Launch, wiring: Wiring) -> dict[str, str]:
    """Return torchrun's options in the order of its help; a switch has an empty value."""
    options = _rendezvous_options(job, launch, wiring)
    if launch.max_restarts:
        options["max-restarts"] = str(launch.max_restarts)
    if launch.monitor_interval is not None:
        options["monitor-interval"] = str(launch.monitor_interval)
    if launch.start_method != "spawn":
        options["start-method"] = launch.start_method

    return {
        option: value
        for option, value in options.items()
        if value is not None and option not in wiring.injected
    }


def _rendezvous_options(job: Job, launch: Launch, wiring: Wiring) -> dict[str, str | None]:
    nodes = job.peak_nodes
    processes = str(launch.nproc_per_node)
    settings = ",".join([f"{key}={value}" for key, value in launch.settings.items()]) or None
    if nodes == 1 and "nnodes" not in wiring.injected:
        meeting = {"standalone": ""} if launch.standalone else {"master-port": str(job.master_port)}
        return {**meeting, "nproc-per-node": processes, "rdzv-conf": settings}

    if launch.rdzv_backend == "static":
        method = {
            "node-rank": wiring.node_rank,
            "master-addr": wiring.host,
            "master-port": str(job.master_port),
        }
    else:
        endpoint = launch.rdzv_endpoint or f"{wiring.host}:{job.master_port}"
        method = {
            "rdzv-backend": launch.rdzv_backend,
            "rdzv-endpoint": endpoint,
            "rdzv-id": launch.rdzv_id,
        }

    count = f"{job.min_nodes}:{nodes}" if job.elastic else str(nodes)
    return {"nnodes": count, "nproc-per-node": processes, **method, "rdzv-conf": settings}
