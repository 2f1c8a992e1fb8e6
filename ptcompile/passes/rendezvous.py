"""Rendezvous: what torchrun is told, as an argument list without a shell, and what a plain command finds in its env.

Only what the operator does not hand over by itself is written. One node needs nobody: `--standalone`. Several nodes
meet at node 0: statically, by rank, where their number is fixed; through torchrun's c10d store where it is a range, or
where processes or pods are restarted, since nodes that met statically cannot meet again (PyTorch 2.13). A plain command
gets no torchrun: it gets MASTER_ADDR, MASTER_PORT, WORLD_SIZE and RANK, counting nodes, where no operator sets them.
Pods that do not train take no part.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.ir import Context, Job, Launch, PodTemplate, Wiring, map_templates, unchanged


def rendezvous(job: Job, context: Context) -> Job:
    """The main container of each role that trains gets its torchrun command, or its variables."""
    wiring = context.target.wiring(job)

    def wire(template: PodTemplate) -> PodTemplate:
        main = template.main
        if job.launch is None:
            there = {entry.get("name") for entry in main.env}
            added = tuple(entry for entry in wiring.env if entry["name"] not in there)
            return template._replace(main=main._replace(env=(*main.env, *added)))
        if main.command is not None:
            return template
        command = ("torchrun", *_options(job, job.launch, wiring), *job.launch.entry)
        return template._replace(main=main._replace(command=command))

    return map_templates(job, wire, beside=unchanged)


def _options(job: Job, launch: Launch, wiring: Wiring) -> Iterator[str]:
    """torchrun's options in the order of its own help."""
    given = dict(_meeting(job, launch, wiring))
    given["max-restarts"] = str(launch.max_restarts) if launch.max_restarts else None
    given["monitor-interval"] = str(launch.monitor_interval)
    given["start-method"] = launch.start_method if launch.start_method != "spawn" else None
    for option, value in given.items():
        if value is not None and option not in wiring.injected:
            yield f"--{option}={value}" if value else f"--{option}"


def _meeting(job: Job, launch: Launch, wiring: Wiring) -> Iterator[tuple[str, str | None]]:
    conf = ",".join(f"{k}={v}" for k, v in launch.rdzv_conf.items())
    if job.nodes == 1 and "nnodes" not in wiring.injected:
        yield "standalone", ""
        yield "nproc-per-node", str(launch.nproc_per_node)
        yield "rdzv-conf", conf or None
        return
    yield "nnodes", f"{job.min_nodes}:{job.nodes}" if job.elastic else str(job.nodes)
    yield "nproc-per-node", str(launch.nproc_per_node)
    if launch.rdzv_backend == "static":
        yield "node-rank", wiring.node_rank
        yield "master-addr", wiring.host
        yield "master-port", str(job.master_port)
    else:
        yield "rdzv-backend", launch.rdzv_backend
        yield "rdzv-endpoint", launch.rdzv_endpoint or f"{wiring.host}:{job.master_port}"
        yield "rdzv-id", launch.rdzv_id
    yield "rdzv-conf", conf or None
