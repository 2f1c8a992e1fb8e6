"""Rendezvous: what torchrun is told, as an argument list without a shell, and what a plain command finds in its env.

Only what the operator does not hand over by itself is written. One node needs nobody: `--standalone`. Several nodes
meet at node 0: statically, by rank, where their number is fixed; through torchrun's c10d store where it is a range, or
where processes or pods are restarted, since nodes that met statically cannot meet again (PyTorch 2.13). A plain command
gets no torchrun: it gets MASTER_ADDR, MASTER_PORT, WORLD_SIZE and RANK, counting nodes, where no operator sets them.
Beside `elastic` a command starts torchrun itself, and finds the same settings as PET_* variables.
Pods that do not train take no part.
"""

from __future__ import annotations

from ptcompile.job.model import Context, Job, Json, Launch, PodTemplate, Wiring, map_templates, unchanged


def rendezvous(job: Job, context: Context) -> Job:
    """The main container of each role that trains gets its torchrun command, or its variables."""
    wiring = context.target.wiring(job)

    def wire(template: PodTemplate) -> PodTemplate:
        main = template.main
        if job.launch is None:
            there = {entry.get("name") for entry in main.env}
            added = tuple(entry for entry in wiring.env if entry["name"] not in there)
            return template._replace(main=main._replace(env=(*main.env, *added)))
        if not job.launch.entry:
            return template._replace(main=main._replace(env=_told(main.env, job, job.launch, wiring)))
        if main.command is not None:
            return template
        command = ("torchrun", *_words(job, job.launch, wiring), *job.launch.entry)
        return template._replace(main=main._replace(command=command))

    return map_templates(job, wire, beside=unchanged)


def _words(job: Job, launch: Launch, wiring: Wiring) -> list[str]:
    return [
        f"--{option}={value}" if value else f"--{option}" for option, value in _options(job, launch, wiring).items()
    ]


def _told(env: tuple[Json, ...], job: Job, launch: Launch, wiring: Wiring) -> tuple[Json, ...]:
    """The variables with torchrun's options among them: each option has a variable PET_<OPTION> (PyTorch 2.13).

    A variable cannot refer to one that a controller appends, so the rank is read from the pod itself.
    """
    there = {entry.get("name") for entry in env}
    told: list[Json] = []
    for option, value in _options(job, launch, wiring).items():
        name = f"PET_{option.upper().replace('-', '_')}"
        source = wiring.rank_from if option == "node-rank" else {"value": value or "1"}
        if name not in there:
            told.append({"name": name, **source})
    return (*env, *told)


def _options(job: Job, launch: Launch, wiring: Wiring) -> dict[str, str]:
    """torchrun's options in the order of its own help; a switch has an empty value."""
    given = {
        **_meeting(job, launch, wiring),
        "max-restarts": str(launch.max_restarts) if launch.max_restarts else None,
        "monitor-interval": None if launch.monitor_interval is None else str(launch.monitor_interval),
        "start-method": launch.start_method if launch.start_method != "spawn" else None,
    }
    return {option: value for option, value in given.items() if value is not None and option not in wiring.injected}


def _meeting(job: Job, launch: Launch, wiring: Wiring) -> dict[str, str | None]:
    nodes, processes = job.most_nodes, str(launch.nproc_per_node)
    conf = ",".join([f"{k}={v}" for k, v in launch.rdzv_conf.items()]) or None
    if nodes == 1 and "nnodes" not in wiring.injected:
        return {"standalone": "", "nproc-per-node": processes, "rdzv-conf": conf}
    if launch.rdzv_backend == "static":
        how = {"node-rank": wiring.node_rank, "master-addr": wiring.host, "master-port": str(job.master_port)}
    else:
        endpoint = launch.rdzv_endpoint or f"{wiring.host}:{job.master_port}"
        how = {"rdzv-backend": launch.rdzv_backend, "rdzv-endpoint": endpoint, "rdzv-id": launch.rdzv_id}
    count = f"{job.min_nodes}:{nodes}" if job.elastic else str(nodes)
    return {"nnodes": count, "nproc-per-node": processes, **how, "rdzv-conf": conf}
