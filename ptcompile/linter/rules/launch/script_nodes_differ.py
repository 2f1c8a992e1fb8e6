"""The script expects another number of nodes or processes than the job starts.

PTC476 script-nodes-differ: warning at run (waits), by ptcompile.
Needs: trainer/nodes/world

What: an argument of the script, such as trainer.num_nodes=4, --num_nodes 4 or --trainer.devices=8,
differs from the pods that train, or from the processes or GPUs of a pod; or a script without a
launcher has --world-size 4 for another number of pods, or the same --rank in several.

Why: Lightning and NeMo wait for num_nodes times devices processes. With fewer pods they wait until
they time out; with more, several pods have the same rank. Under torchrun, Lightning compares both
with what torchrun started.

Example: jobset.yaml with

      command:
        - torchrun
        - --nnodes=2
        - --rdzv-backend=c10d
        - --rdzv-endpoint=train-node-0-0.train:29400
        - train.py
    -   - trainer.num_nodes=4  # <--
    +   - trainer.num_nodes=2

Fix: write the number of pods and the GPUs of each.

Source: Lightning 2.5, fabric/plugins/environments/torchelastic.py (validate_settings) and
lightning.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.spelling import pluralize
from ptcompile.kubernetes.goflags import atoi
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole, count_nodes
from ptcompile.simulator.pod import Pod

_NODES = frozenset({"trainer.num_nodes", "trainer.num-nodes", "num_nodes", "num-nodes"})
_DEVICES = frozenset({"trainer.devices", "trainer.num_devices", "trainer.gpus"})
_WORLD = frozenset({"world-size", "world_size", "worldsize"})
_RANK = frozenset({"rank", "node-rank", "node_rank"})


def check(subject: Subject) -> Findings:
    roles = subject.training_roles
    if subject.job is None or any(role.is_uncertain() for role in roles):
        return

    total = count_nodes(roles)
    for role in roles:
        if not (role.is_torchrun or role.member.is_python_script):
            continue
        arguments = [*_arguments_of(role.pod)]
        has_world_size = any(name in _WORLD for name, _ in arguments)
        for name, value in arguments:
            if name in _NODES and value != total and not role.rendezvous.is_range:
                pods = pluralize(total, "pod")
                yield found_at(
                    _path(role, name),
                    f"the script expects {value} nodes, but the job has {pods} that train",
                    f"write {total}, or use {value} pods",
                )
            elif name in _DEVICES and (started := _processes(role)) and value != started:
                starter = "torchrun starts" if role.is_torchrun else "its GPUs are"
                yield found_at(
                    _path(role, name),
                    f"the script expects {value} processes in each pod, but {starter} {started}",
                    f"write {started}",
                )
            elif role.is_torchrun or not has_world_size:
                continue
            elif name in _WORLD and value not in (total, total * _processes(role)):
                yield found_at(
                    _path(role, name),
                    f"the script expects a world of {value} processes, but {total} pods start it",
                    f"write {total}, or use {value} pods",
                )
            elif (
                name in _RANK
                and role.expanded.count > 1
                and dict(_arguments_of(role.pod.job.last_pod(role.expanded))).get(name) == value
            ):
                yield found_at(
                    _path(role, name),
                    f"each of {role.expanded.count} pods has the rank {value}",
                    "give each pod its own rank",
                )


def _arguments_of(pod: Pod) -> Iterator[tuple[str, int]]:
    """Yield the arguments of the script that set a number of nodes, devices or processes, or a
    rank.
    """
    words = pod.launch.entry
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        bare = name.lstrip("-+")
        if bare not in _NODES | _DEVICES | _WORLD | _RANK:
            continue
        if not equals and not word.startswith("--"):
            continue
        number = atoi(value if equals else "".join(words[index + 1 : index + 2]))
        if number is not None and (number > 0 or bare in _RANK):
            yield bare, number


def _processes(role: TrainingRole) -> int:
    """Return the processes that torchrun starts in a pod, or the GPUs of a pod whose script starts
    its own; 0 if unknown.
    """
    if role.is_torchrun:
        return role.rendezvous.processes or 0
    return sum(role.pod.devices.values())


def _path(role: TrainingRole, name: str) -> tuple[str | int, ...]:
    for path, token in role.container.argv:
        if name in token:
            return path
    return role.command_path
