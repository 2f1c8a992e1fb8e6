"""A rendezvous timeout that c10d does not read.

PTC469 unread-timeout: warning at run (differs), by torchrun.
Needs: {TORCHRUN} {MULTI_POD_KINDS} timeout c10d/elasticPolicy

What: --rdzv-conf gives `timeout` and no `read_timeout`, and the backend is c10d.

Why: c10d reads join_timeout, how long nodes wait for enough others, and read_timeout, how long they
wait for node 0 to host the store: 60 seconds by default. `timeout` is read only by the static
rendezvous and etcd. A node 0 whose image is pulled two minutes later than the others' finds that
they have given up: measured after 83 and 104 seconds, with timeout=900.

Example: one_node_jobset.yaml with

      completions: 4
      parallelism: 4
      template:
        spec:
          containers:
            - name: pytorch
              command:
                - torchrun
                - --nnodes=4
                - --rdzv-backend=c10d
                - --rdzv-endpoint=train-node-0-0.train:29400
    -           - --rdzv-conf=timeout=900,join_timeout=900  # <--
    +           - --rdzv-conf=timeout=900,join_timeout=900,read_timeout=900
                - train.py
              resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: add read_timeout with that many seconds.

Source: PyTorch 2.13, torch/distributed/elastic/rendezvous/c10d_rendezvous_backend.py and
dynamic_rendezvous.py; pytorch's documentation of rendezvous names `timeout` with static and etcd.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole, count_nodes
from ptcompile.simulator.launchers.torchrun import conf_of, is_int

_DEFAULT_READ_TIMEOUT_SECONDS = 60
"""torch's default for read_timeout."""


def check(subject: Subject) -> Findings:
    for roles in subject.torchrun_groups:
        first = next((role for role in roles if _is_unread(role)), None)
        if first is None or count_nodes(roles) < 2:
            continue

        conf = first.options["rdzv-conf"]
        timeout = conf_of(conf)["timeout"]
        help = f"add read_timeout={timeout}"
        yield found_at(
            first.path_of("rdzv-conf"),
            f"c10d does not read timeout: the others wait {_DEFAULT_READ_TIMEOUT_SECONDS} seconds "
            f"for node 0, not {timeout}",
            help,
            first.fix_to("rdzv-conf", f"{conf},read_timeout={timeout}", help),
        )


def _is_unread(role: TrainingRole) -> bool:
    values = conf_of(role.options.get("rdzv-conf", ""))
    timeout = values.get("timeout", "")
    is_unread = role.meets_by_c10d and "read_timeout" not in values
    return is_unread and is_int(timeout) and int(timeout) != _DEFAULT_READ_TIMEOUT_SECONDS
