"""A launcher in a spec's own `command` whose pods would each train for themselves.

torchrun is told of the other nodes only where it is started by `script` or `module`, or where the operator hands
PET_* variables over (training-operator 1.9, Trainer 2.3). What a command line says is read by the rules that read it
in manifests, so both say the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.compiling.build import Built
from ptcompile.compiling.location import Finding
from ptcompile.job.model import Job

_LAUNCHERS = ("torchrun", "torch.distributed", "accelerate", "deepspeed")
_RULES = frozenset({"worlds-apart", "standalone-on-many-pods", "launcher-alone"})
_HELP = "use script or module instead, so that torchrun knows the other pods"


def isolated_launchers(built: Built) -> Iterator[Finding]:
    """Yield what the rules find against a launcher in the spec's own command; nothing for other commands."""
    job = built.job
    if job.launch is not None or job.nodes < 2 or not any(_speaks(word) for word in _words(job)):
        return
    from ptcompile import linting

    versions = built.context.cluster.versions()
    for index, manifest in enumerate(built.named):
        for problem in linting.run(manifest, versions=versions, others=built.named, only=_RULES):
            yield Finding(problem._replace(help=_HELP), index, "launcher")


def _words(job: Job) -> Iterator[str]:
    for role in job.trainers:
        yield from (*(role.template.main.command or ()), *(role.template.main.args or ()))


def _speaks(word: str) -> bool:
    return any(name in word for name in _LAUNCHERS)
