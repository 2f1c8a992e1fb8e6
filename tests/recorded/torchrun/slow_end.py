"""A script whose processes meet and end, but those of node rank SLOW work on for seven minutes.

endings.json has how its pods ended: `ptcompile rehearse spec.yaml --script slow_end.py --limit 560s`, with a spec of 3
nodes and `env: {SLOW: "1"}`; for c10d with `elastic: {nnodes: 3, maxRestarts: 2}`, for static with `nodes: 3`.
"""

import os
import time


def main() -> None:
    """Meet, train one step, and work on where SLOW says so."""
    import torch  # type: ignore[import-not-found, unused-ignore]
    import torch.distributed as dist  # type: ignore[import-not-found, unused-ignore]

    dist.init_process_group("gloo")
    dist.all_reduce(torch.tensor([1.0]))
    dist.barrier()
    dist.destroy_process_group()
    if os.environ["GROUP_RANK"] == os.environ["SLOW"]:
        time.sleep(420)


if __name__ == "__main__":
    main()
