"""A launcher in a spec's own `command` whose pods would each train for themselves.

torchrun is told of the other nodes only where it is started by `script` or `module`, or where the operator hands
PET_* variables over (training-operator 1.9, Trainer 2.3). What a command line says is read by the rules that read it
in manifests, so both say the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.findings.diagnostics import Problem
from ptcompile.job.model import Job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.vocabulary.cluster.model import ClusterProfile

    Json = dict[str, Any]

_LAUNCHERS = ("torchrun", "torch.distributed", "accelerate", "deepspeed")
_RULES = frozenset({"worlds-apart", "standalone-on-many-pods", "launcher-alone"})
_HELP = "use script or module instead, so that torchrun knows the other pods"


def alone(job: Job, manifests: Sequence[Json], cluster: ClusterProfile) -> Iterator[tuple[int, Problem]]:
    """What the rules find against a launcher of the spec's own, each with the index of its manifest.

    Nothing for other commands.
    """
    if not any(_speaks(word) for word in _words(job)):
        return
    from ptcompile import linting

    for index, one in enumerate(manifests):
        for problem in linting.run(one, versions=cluster.versions(), others=manifests, only=_RULES):
            yield index, problem._replace(help=_HELP)


def _words(job: Job) -> Iterator[str]:
    for role in job.trainers:
        yield from (*(role.template.main.command or ()), *(role.template.main.args or ()))


def _speaks(word: str) -> bool:
    return any(name in word for name in _LAUNCHERS)
