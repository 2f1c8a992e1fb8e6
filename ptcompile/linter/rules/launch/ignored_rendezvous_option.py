"""torchrun gets options that this rendezvous ignores.

PTC426 ignored-rendezvous-option: warning at style, by torchrun.
Needs: {TORCHRUN} rdzv/rank/addr/port

What: --node-rank, --master-addr or --master-port is combined with a backend other than static, or
rendezvous options with --standalone.

Why: c10d and etcd meet at --rdzv-endpoint and give the ranks themselves. --standalone meets at
localhost. The other options have no effect. It is a note if no value contradicts the rendezvous:
then the job does what the command says.

Example: jobset.yaml with

      command:
        - torchrun
        - --nnodes=2
        - --rdzv-backend=c10d
        - --rdzv-endpoint=train-node-0-0.train:29400
    -   - --master-port=29500  # <--
        - train.py

Fix: remove the ignored options.

Source: PyTorch 2.13, torch/distributed/run.py: master-addr, master-port and node-rank are for the
static rendezvous only.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole

_STATIC_OPTIONS = ("node-rank", "master-addr", "master-port")
_RENDEZVOUS_OPTIONS = ("rdzv-backend", "rdzv-endpoint", "rdzv-id", *_STATIC_OPTIONS)


def check(subject: Subject) -> Findings:
    for role in (role for group in subject.torchrun_groups for role in group):
        standalone = role.is_standalone
        if standalone and role.expanded.count > 1:
            continue  # reported by standalone-on-many-pods

        ignored = [
            name
            for name in _ignored_options(role, standalone=standalone)
            if name in role.launch.options
        ]
        for option in ignored[:1]:
            path = role.flag_path(option)
            why = "--standalone" if standalone else f"the backend {role.rendezvous.backend}"
            yield found_at(
                path,
                f"{why} does not read {', '.join('--' + name for name in ignored)}",
                "remove the ignored options",
                severity="note" if _is_harmless(role, ignored) else None,
            )


def _ignored_options(role: TrainingRole, *, standalone: bool) -> tuple[str, ...]:
    if standalone:
        return _RENDEZVOUS_OPTIONS
    if role.rendezvous.backend in ("c10d", "etcd", "etcd-v2") and role.options.get("rdzv-endpoint"):
        return _STATIC_OPTIONS
    return ()


def _is_harmless(role: TrainingRole, ignored: list[str]) -> bool:
    """Return whether the options name the rendezvous that takes place: only --node-rank, or the
    endpoint again.
    """
    host, _, port = role.options.get("rdzv-endpoint", "").rpartition(":")
    values = {"master-addr": host, "master-port": port}
    return all(
        name == "node-rank" or role.launch.options.get(name) == values.get(name) for name in ignored
    )
