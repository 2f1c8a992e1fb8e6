"""The stand-in training script: its processes join, sum their ranks and record what they see.

A standalone program, copied into each pod's folder; it needs torch but not ptcompile. It trains
until a file `finish` exists in any pod's folder. A file `fail` makes the first process of its pod
fail once.
"""

import datetime
import json
import os
import socket
import sys
import time

_REPORTED_VARIABLES = (
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "GROUP_RANK",
    "MASTER_ADDR",
    "MASTER_PORT",
    "TORCHELASTIC_RESTART_COUNT",
)
_CROSS_RANK = "CROSS_RANK"
"""deepspeed's variable for the node rank, which torchrun calls GROUP_RANK."""
_SINGLE_PROCESS_ENV = {
    "RANK": "0",
    "WORLD_SIZE": "1",
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "29500",
}
"""Variables of a process that trains alone."""
_FAULT_EXIT_STATUS = 3
_HOST_BYTES = 253
"""Bytes of a host name that are compared, which is all of it."""


def main() -> int:
    """Join the other processes, check the sum of all ranks, and take steps until a `finish` file
    exists.
    """
    import torch  # type: ignore[import-not-found, unused-ignore]
    import torch.distributed as dist  # type: ignore[import-not-found, unused-ignore]

    folder = os.path.dirname(os.path.abspath(__file__))
    if not any(name in os.environ for name in _SINGLE_PROCESS_ENV):
        os.environ.update(_SINGLE_PROCESS_ENV)
    dist.init_process_group("gloo", timeout=datetime.timedelta(minutes=5))
    rank = dist.get_rank()
    world = dist.get_world_size()
    total = torch.tensor([rank])
    dist.all_reduce(total)
    # collectives of objects need numpy, which torch does not install
    own_host = torch.tensor([*socket.gethostname().encode()[:_HOST_BYTES].ljust(_HOST_BYTES)])
    hosts = [torch.empty_like(own_host) for _ in range(world)]
    dist.all_gather(hosts, own_host)
    record: dict[str, object] = {name: os.environ.get(name) for name in _REPORTED_VARIABLES}
    count = len({tuple(host.tolist()) for host in hosts})
    record |= {
        "rank": rank,
        "world": world,
        "hosts": count,
        "sum": int(total.item()),
        "args": sys.argv[1:],
    }
    record["GROUP_RANK"] = record["GROUP_RANK"] or os.environ.get(_CROSS_RANK)
    is_first_process = os.environ.get("LOCAL_RANK", "0") == "0"
    _append_record(os.path.join(folder, "seen.jsonl"), record)
    while True:
        flag = torch.tensor([int(os.path.exists(os.path.join(folder, "finish")))])
        dist.all_reduce(flag, op=dist.ReduceOp.MAX)
        if flag.item():
            dist.barrier()
            dist.destroy_process_group()
            return 0
        if is_first_process and _remove_file(os.path.join(folder, "fail")):
            os._exit(_FAULT_EXIT_STATUS)
        time.sleep(0.2)


def _append_record(path: str, record: dict[str, object]) -> None:
    """Append one JSON line in a single write, so lines of different processes never mix."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(handle, json.dumps({**record, "time": time.time()}).encode() + b"\n")
    os.close(handle)


def _remove_file(path: str) -> bool:
    """Remove a file and return whether it existed."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
