"""Recorded cases: job shapes on every target, and faults."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

SHARED = 'env: {TORCH_DISABLE_SHARE_RDZV_TCP_STORE: "0"}'
"""torchrun's default: one store for all rendezvous."""


class Case(NamedTuple):
    """A job and the faults injected into it."""

    name: str
    body: str
    """The lines of a spec, or a whole manifest."""
    target: str | None
    """The target of a spec, or None for a manifest."""
    faults: tuple[str, ...] = ()
    limit: int = 300
    """Time limit in seconds."""

    @property
    def source(self) -> str:
        """The complete document."""
        if self.target is None:
            return self.body
        lines = textwrap.indent(f"image: img:1\n{self.body}", "  ")
        return (
            f"apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {{name: "
            f"train}}\nspec:\n{lines}\n"
        )


def profile(release: str) -> str:
    """Return a cluster profile whose images have this PyTorch release, such as `2.5`."""
    return (
        f"apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {{versions: {{torch: "
        f"'{release}'}}}}\n"
    )


STATIC = "script: train.py\nnodes: 3"
FIXED = "script: train.py\nelastic: {nnodes: 3, maxRestarts: 3}"
RANGE = "script: train.py\nelastic: {nnodes: '2:3', maxRestarts: 3}"
WIDE = (
    "script: train.py\nelastic: {nnodes: '1:4', nprocPerNode: 2, maxRestarts: 100}\nrunPolicy: "
    "{onDisruption: Ignore}"
)
NO_RESTARTS = "script: train.py\nelastic: {nnodes: '2:3'}"
C10D = "script: train.py\nelastic: {nnodes: 3, rdzvBackend: c10d}"
IMPATIENT = (
    "script: train.py\nelastic: {nnodes: 3, rdzvBackend: c10d, rdzvConfigs: {timeout: 20, "
    "join_timeout: 20}}"
)
SHORT = "script: train.py\nelastic: {nnodes: 3, rdzvBackend: c10d, rdzvConfigs: {read_timeout: 60}}"
IN_PLACE = (
    "script: train.py\nrestartPolicy: OnFailure\nelastic: {nnodes: 2, nprocPerNode: 2, "
    "maxRestarts: 3}"
)
TARGETS = ("job", "pytorchjob", "volcano", "trainjob", "jobset")

_SUBDOMAIN = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train}
spec:
  elasticPolicy: {minReplicas: 2, maxReplicas: 3, rdzvBackend: c10d, rdzvConf: [{key: join_timeout, value: "40"}]}
  pytorchReplicaSpecs:
    Worker:
      replicas: 3
      template:
        spec:
          subdomain: other
          containers: [{name: pytorch, image: "img:1", command: [torchrun, train.py]}]
"""
_ALONE = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  completionMode: Indexed
  completions: 2
  parallelism: 2
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "img:1", command: [torchrun, train.py]}]
"""
_ACCELERATE = """\
nodes: 2
command: [accelerate, launch, --num_machines=2, --num_processes=4, --machine_rank=$(RANK),
  --main_process_ip=$(MASTER_ADDR), --main_process_port=$(MASTER_PORT), train.py]
"""
_DEEPSPEED = """\
nodes: 2
command: [sh, -c, 'exec deepspeed --hostfile=/job/hosts --no_ssh --node_rank=$RANK --master_addr=$MASTER_ADDR train.py']
"""

SHAPES: tuple[Case, ...] = (
    *(Case(f"static@{target}", STATIC, target) for target in TARGETS),
    *(Case(f"fixed@{target}", FIXED, target) for target in TARGETS),
    *(Case(f"range@{target}", RANGE, target) for target in TARGETS),
    *(
        Case(f"plain@{target}", "nodes: 2\ncommand: [python, train.py]", target)
        for target in ("job", "volcano")
    ),
    *(
        Case(f"roles@{t}", "script: train.py\nmaster: {}\nworker: {replicas: 2}", t)
        for t in ("pytorchjob", "volcano")
    ),
    Case("module", "module: pkg.train\nnodes: 2\nmasterPort: 29555\nargs: [--lr, '1']", "job"),
    Case("host-network", C10D + "\nhostNetwork: true\nmasterPort: 29400", "job"),
    Case("one-three", "script: train.py\nelastic: {nnodes: '1:3', rdzvId: my id=1}", "jobset"),
    Case("own-subdomain", _SUBDOMAIN, None, limit=120),
    Case("worlds-apart", _ALONE, None, limit=60),
    Case("accelerate", _ACCELERATE, "job"),
    Case("deepspeed", _DEEPSPEED, "job"),
)
"""Cases without faults, which test whether all nodes meet."""

FAULTS: tuple[Case, ...] = (
    Case("spot-killed", WIDE, "jobset", ("kill 3@3s,back=8s",)),
    Case("range-killed", RANGE, "job", ("kill 1@3s,back=8s",)),
    Case("range-killed-long", RANGE, "pytorchjob", ("kill 2@3s,back=45s",)),
    Case("range-killed-for-good", RANGE, "volcano", ("kill 2@3s",)),
    Case("range-drained", RANGE, "job", ("drain 1@3s,back=20s",)),
    Case("range-process-fails", RANGE, "job", ("fail-process 1@3s",)),
    Case("range-late", RANGE, "jobset", ("late 2=50s",)),
    Case("range-node-0-killed", RANGE, "job", ("kill 0@3s,back=8s",)),
    Case("fixed-killed", IN_PLACE, "job", ("kill 1@3s,back=10s",)),
    Case("fixed-node-0-killed", FIXED, "trainjob", ("kill 0@3s,back=8s",)),
    Case("fixed-process-fails", IN_PLACE, "job", ("fail-process 1@3s",)),
    Case("no-restarts-killed", NO_RESTARTS, "job", ("kill 2@3s,back=8s",)),
    Case("no-restarts-late", NO_RESTARTS, "job", ("late 2=50s",)),
    Case("no-restarts-process-fails", NO_RESTARTS, "job", ("fail-process 1@3s",)),
    Case("static-killed", STATIC, "job", ("kill 1@3s,back=8s",)),
    Case("static-process-fails", STATIC, "job", ("fail-process 1@3s",)),
    Case("c10d-worker-late", C10D, "job", ("late 2=45s",)),
    Case("c10d-node-0-late", C10D, "job", ("late 0=150s",)),
    Case("c10d-node-0-late-60", SHORT, "job", ("late 0=180s",)),
    Case("c10d-node-0-late-20", IMPATIENT, "job", ("late 0=90s",)),
    Case("c10d-worker-late-20", IMPATIENT, "job", ("late 2=50s",)),
    Case("static-node-0-late", STATIC, "job", ("late 0=75s",)),
    Case("c10d-dns-lag", IMPATIENT, "job", ("dns-lag 60s",)),
    Case("c10d-dns-lag-bare", C10D, "pytorchjob", ("dns-lag 10s",)),
    Case("static-dns-lag", STATIC, "job", ("dns-lag 10s",)),
    Case("shared-killed", f"{RANGE}\n{SHARED}", "job", ("kill 1@3s,back=8s",)),
    Case("shared-late", f"{RANGE}\n{SHARED}", "jobset", ("late 2=50s",)),
    Case("shared-fixed-killed", f"{IN_PLACE}\n{SHARED}", "job", ("kill 1@3s,back=10s",), limit=150),
    Case("shared-process-fails", f"{RANGE}\n{SHARED}", "job", ("fail-process 1@3s",), limit=150),
)
"""Cases for the README's promises and warnings, and for torchrun without a store per rendezvous."""

WIDER = (
    "script: train.py\nelastic: {nnodes: '2:4', maxRestarts: 3, rdzvConfigs: {join_timeout: 60}}"
)
ONCE = "script: train.py\nelastic: {nnodes: 3, maxRestarts: 1, rdzvConfigs: {join_timeout: 60}}"
TWICE = "script: train.py\nelastic: {nnodes: 3, maxRestarts: 2, rdzvConfigs: {join_timeout: 60}}"
RANGE_ONCE = (
    "script: train.py\nelastic: {nnodes: '2:3', maxRestarts: 1, rdzvConfigs: {join_timeout: 60}}"
)
STARVING = (
    "script: train.py\nelastic: {nnodes: '2:3', maxRestarts: 3, rdzvConfigs: {join_timeout: 60}}"
)
STATIC_ONCE = "script: train.py\nnodes: 3\nelastic: {rdzvConfigs: {timeout: 60}}"
WHOLE = RANGE + "\nrunPolicy: {onPodFailure: RestartJob, backoffLimit: 6}"


def lose(kind: str, pods: str, time: str, back: str = "") -> tuple[str, ...]:
    """Return one fault for each of the pods, all at the same time."""
    return tuple(f"{kind} {pod}@{time}{f',back={back}' if back else ''}" for pod in pods)


SEVERAL: tuple[Case, ...] = (
    # every pod
    Case("all-killed", WIDER, "job", lose("kill", "0123", "2s", "5s")),
    Case("all-killed-fixed", ONCE, "trainjob", lose("kill", "012", "2s", "5s")),
    Case("all-killed-static", STATIC_ONCE, "job", lose("kill", "012", "2s", "5s")),
    Case("all-killed-no-restarts", C10D, "volcano", lose("kill", "012", "2s", "5s")),
    Case("all-killed-shared", f"{RANGE}\n{SHARED}", "job", lose("kill", "012", "2s", "5s")),
    Case("all-drained", RANGE, "job", lose("drain", "012", "2s", "5s")),
    Case(
        "all-killed-node-0-long",
        RANGE,
        "jobset",
        ("kill 0@2s,back=30s", *lose("kill", "12", "2s", "5s")),
    ),
    Case("all-killed-two-back", STARVING, "job", (*lose("kill", "01", "2s", "5s"), "kill 2@2s")),
    Case(
        "all-killed-one-back",
        STARVING,
        "job",
        ("kill 0@2s,back=5s", *lose("kill", "12", "2s")),
        limit=150,
    ),
    Case(
        "all-killed-node-0-gone",
        STARVING,
        "job",
        ("kill 0@2s", *lose("kill", "12", "2s", "5s")),
        limit=150,
    ),
    # the failed pods 1 and 2 were deleted; a rehearsal no longer injects faults into pods that have
    # ended
    Case(
        "node-0-killed-rest-deleted",
        RANGE,
        "job",
        ("kill 0@2s,back=5s", *lose("kill", "12", "20s", "5s")),
    ),
    # node 0 and another
    Case("node-0-and-1-killed", RANGE, "job", lose("kill", "01", "2s", "5s")),
    Case("node-0-killed-while-meeting", RANGE, "job", ("kill 1@2s,back=20s", "kill 0@6s,back=5s")),
    Case("node-0-killed-after-shrinking", STARVING, "job", ("kill 2@2s", "kill 0@60s,back=5s")),
    Case("process-fails-node-0-killed", RANGE, "job", ("fail-process 1@2s", "kill 0@25s,back=5s")),
    Case(
        "killed-node-0-drained", RANGE, "pytorchjob", ("kill 1@2s,back=5s", "drain 0@60s,back=5s")
    ),
    # the budget of restarts
    Case("once-same-process-fails", ONCE, "job", ("fail-process 1@2s", "fail-process 1@25s")),
    Case("once-other-process-fails", ONCE, "job", ("fail-process 1@2s", "fail-process 2@25s")),
    Case("once-processes-fail-together", ONCE, "job", ("fail-process 1@2s", "fail-process 2@2s")),
    Case("once-process-fails-again", ONCE, "job", ("fail-process 1@2s", "fail-process 2@4s")),
    Case("twice-processes-fail", TWICE, "job", ("fail-process 1@2s", "fail-process 2@25s")),
    Case(
        "twice-processes-fail-thrice",
        TWICE,
        "job",
        tuple(f"fail-process {i}@{2 + 23 * i}s" for i in range(3)),
    ),
    Case(
        "once-killed-process-fails", RANGE_ONCE, "job", ("kill 1@2s,back=5s", "fail-process 1@60s")
    ),
    Case(
        "once-killed-other-process-fails",
        RANGE_ONCE,
        "job",
        ("kill 1@2s,back=5s", "fail-process 2@60s"),
    ),
    Case("once-process-fails-killed", ONCE, "job", ("fail-process 1@2s", "kill 2@60s,back=5s")),
    Case(
        "once-killed-other-killed", RANGE_ONCE, "job", ("kill 1@2s,back=5s", "kill 2@60s,back=5s")
    ),
    Case("once-killed-again", ONCE, "volcano", ("kill 1@2s,back=5s", "kill 1@60s,back=5s")),
    Case("twice-killed-other-killed", TWICE, "job", ("kill 1@2s,back=5s", "kill 2@60s,back=5s")),
    Case("once-killed-while-meeting", ONCE, "job", ("kill 1@2s,back=20s", "kill 2@6s,back=5s")),
    Case("once-killed-together", ONCE, "jobset", lose("kill", "12", "2s", "5s")),
    Case("once-late-killed", RANGE_ONCE, "job", ("late 2=50s", "kill 1@3s,back=5s")),
    Case("once-late-process-fails", RANGE_ONCE, "job", ("late 2=50s", "fail-process 2@3s")),
    Case("no-restarts-late-all", NO_RESTARTS, "job", ("late 1=40s", "late 2=45s")),
    # a range, its minimum, and times
    Case("range-three-killed", WIDER, "job", lose("kill", "123", "2s"), limit=150),
    Case("range-two-killed", WIDER, "jobset", lose("kill", "12", "2s")),
    Case("range-two-killed-apart", WIDER, "job", ("kill 1@2s", "kill 3@15s")),
    Case("range-two-killed-later", WIDER, "job", ("kill 3@2s", "kill 1@70s")),
    Case("range-two-killed-one-back", WIDER, "job", ("kill 1@2s,back=5s", "kill 2@2s")),
    Case("range-killed-killed-one-back", STARVING, "job", ("kill 2@2s", "kill 1@60s,back=5s")),
    Case("range-below-then-back", STARVING, "job", ("drain 1@2s,back=20s", "kill 2@4s,back=5s")),
    Case("range-drained-killed-for-good", STARVING, "job", ("drain 1@2s", "kill 2@70s"), limit=200),
    Case("range-back-late-killed", RANGE, "job", ("kill 1@2s,back=80s", "kill 2@60s,back=5s")),
    Case("range-killed-while-joining", RANGE, "job", ("kill 1@2s,back=5s", "kill 1@9s,back=5s")),
    Case("range-shrunk-process-fails", STARVING, "job", ("kill 2@2s", "fail-process 1@60s")),
    Case("range-drained-together", RANGE, "job", lose("drain", "12", "2s", "8s")),
    Case("range-late-drained", WIDER, "job", ("late 3=50s", "drain 1@3s,back=8s")),
    Case("range-two-late", WIDER, "job", ("late 2=45s", "late 3=70s")),
    Case("range-minimum-late", RANGE, "job", ("late 1=40s", "late 2=45s")),
    Case("fixed-two-late", C10D, "job", ("late 0=20s", "late 2=40s")),
    # other stores and rendezvous
    Case("shared-two-killed", f"{WIDER}\n{SHARED}", "job", lose("kill", "23", "2s")),
    Case(
        "shared-killed-killed-back",
        f"{RANGE}\n{SHARED}",
        "job",
        ("kill 2@2s", "kill 1@60s,back=5s"),
        limit=200,
    ),
    Case("static-two-killed", STATIC_ONCE, "job", lose("kill", "12", "2s", "5s"), limit=150),
    Case("static-two-late", STATIC, "job", ("late 0=20s", "late 2=40s")),
    Case("bare-dns-lag-killed", RANGE, "pytorchjob", ("dns-lag 10s", "kill 1@2s,back=5s")),
    # an operator that recreates all pods
    Case("whole-killed-twice", WHOLE, "jobset", ("kill 1@2s,back=5s", "kill 0@60s,back=5s")),
    Case(
        "whole-killed-process-fails", WHOLE, "volcano", ("kill 1@2s,back=5s", "fail-process 0@60s")
    ),
    Case("whole-killed-for-good", WHOLE, "jobset", ("kill 1@2s,back=5s", "drain 2@60s")),
)
"""Cases with two or more faults: the state after one decides what the next one does."""

CASES: dict[str, Case] = {case.name: case for case in (*SHAPES, *FAULTS, *SEVERAL)}
