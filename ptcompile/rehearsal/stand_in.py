"""What trains in a rehearsal: processes that meet, add up their ranks, and say what they saw.

A program of its own, copied into each pod's folder: it needs torch, and nothing of ptcompile. It takes steps until a
file `finish` stands in the folder of any pod; a file `fail` makes the first process of its pod fail, once.
"""

import datetime
import json
import os
import socket
import sys
import time

_NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "GROUP_RANK", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT")
_CROSS_RANK = "CROSS_RANK"
"""deepspeed's name of the node's rank, which torchrun calls GROUP_RANK."""
_ALONE = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}
"""A process that knows no others is a world of its own."""
_FAILED = 3


def main() -> int:
    """Meet, check the sum of all ranks, and take steps until told to finish."""
    import torch  # type: ignore[import-not-found, unused-ignore]
    import torch.distributed as dist  # type: ignore[import-not-found, unused-ignore]

    folder = os.path.dirname(os.path.abspath(__file__))
    if not any(name in os.environ for name in _ALONE):
        os.environ.update(_ALONE)
    dist.init_process_group("gloo", timeout=datetime.timedelta(minutes=5))
    rank, world = dist.get_rank(), dist.get_world_size()
    total = torch.tensor([rank])
    dist.all_reduce(total)
    hosts = [None] * world
    dist.all_gather_object(hosts, socket.gethostname())
    seen: dict[str, object] = {name: os.environ.get(name) for name in _NAMES}
    seen |= {"rank": rank, "world": world, "hosts": len(set(hosts)), "sum": int(total.item()), "args": sys.argv[1:]}
    seen["GROUP_RANK"] = seen["GROUP_RANK"] or os.environ.get(_CROSS_RANK)
    first = os.environ.get("LOCAL_RANK", "0") == "0"
    _say(os.path.join(folder, "seen.jsonl"), seen)
    while True:
        flag = torch.tensor([int(os.path.exists(os.path.join(folder, "finish")))])
        dist.all_reduce(flag, op=dist.ReduceOp.MAX)
        if flag.item():
            dist.barrier()
            dist.destroy_process_group()
            return 0
        if first and _taken(os.path.join(folder, "fail")):
            os._exit(_FAILED)
        time.sleep(0.2)


def _say(path: str, seen: dict[str, object]) -> None:
    """One write, so that the lines of two processes never mix."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(handle, json.dumps({**seen, "time": time.time()}).encode() + b"\n")
    os.close(handle)


def _taken(path: str) -> bool:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
