"""A launcher gets the name of a variable instead of its value.

PTC474 quoted-variable: error at run (fails), by kubelet.
Needs: {NODE_LAUNCHERS} {SHELLS} $

What: a shell script passes an option of the launcher with a variable in single quotes, or after a
backslash, such as --node_rank='$RANK'.

Why: the shell replaces no variable in single quotes. The launcher gets the text `$RANK`, which is
neither a number nor a host: "invalid int value: '$RANK'".

Example: pod.yaml with

      command: [bash, -c]
      args:
    -   - torchrun --nproc_per_node='$GPUS' train.py  # <--
    +   - torchrun --nproc_per_node="$GPUS" train.py
      env: [{name: GPUS, value: "1"}]

Fix: use double quotes.

Source: POSIX 2024, 2.2.2 Single-Quotes.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at

_OPTIONS = (
    "nnodes",
    "nproc-per-node",
    "num-processes",
    "world-size",
    "node-rank",
    "master-addr",
    "master-port",
    "rdzv-endpoint",
    "max-restarts",
)
"""Options that must be a number or a host. Others, such as --log-line-prefix-template, may
contain a `$`.
"""


def check(subject: Subject) -> Findings:
    for role in subject.training_roles:
        if not role.launch.literals:
            continue

        for option in _OPTIONS:
            name = role.member.option_name(option)
            if name in role.launch.literals and option in role.launch.options:
                yield found_at(
                    role.flag_path(option),
                    f"{role.launcher_name} gets the text {role.launch.options[option]!r} as "
                    f"{name}: "
                    f"the shell does not replace a variable in single quotes or after a backslash",
                    "use double quotes",
                )
