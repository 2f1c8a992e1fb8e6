"""A script is written for Slurm: it calls srun, or reads a variable that only Slurm sets.

PTC706 slurm-launch: warning at run (fails), by ptcompile.
Needs: slurm/srun

What: a shell script of a container runs srun, or gives a program $SLURM_NNODES, $SLURM_PROCID or
another variable of Slurm that neither the script nor the container sets. Scripts that test for
Slurm first are left alone.

Why: a pod is no task of Slurm. The shell puts nothing in the place of the variable, and an image
has no srun.

Example: jobset.yaml with

      command:
        - bash
        - -c
    -   - torchrun --nnodes=$SLURM_NNODES --node-rank=$JOB_COMPLETION_INDEX t.py  # <--
    +   - torchrun --nnodes=2 --node-rank=$JOB_COMPLETION_INDEX --master-addr=train-node-0-0.train t

Fix: use the pod's own variable, which the help names; `ptcompile import FILE` turns a whole batch
script into a spec.

Source: Slurm 26.11, sbatch(1) and srun(1), OUTPUT ENVIRONMENT VARIABLES.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.schema_files import load_table
from ptcompile.kubernetes.commands import basename
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.shell.script import SHELL_COMMANDS, Script

_VARIABLE = Pattern(r"\$\{?(?P<name>SLURM_\w+)\b(?!:?[-+])")


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        started = container.argv[: container.start_index + 1]
        srun = next((token for token in started if basename(token.text) == "srun"), None)
        if srun is not None:
            yield found_at(srun.path, "a pod has no srun", _NO_SRUN)
        elif container.script is not None and (need := _slurm_in(container.script)) is not None:
            yield found_at(container.script_path, *need)


_NO_SRUN = "remove srun: each pod starts the program; ptcompile import FILE reads a batch script"


def _slurm_in(script: Script) -> tuple[str, str] | None:
    """Return what a script needs Slurm for, with the help, or None."""
    for command in script.commands:
        if command.doubt is not None or command.changed_by is not None:
            return None

        words = command.words
        if basename(words[0]) == "srun":
            return "the script calls srun, which a pod does not have", _NO_SRUN

        unknown = [
            piece.text
            for argument in command.argv
            for piece in argument.value
            if piece.kind in _UNKNOWN
        ]
        match = _VARIABLE.search(" ".join(unknown)) if words[0] not in SHELL_COMMANDS else None
        if match is not None:
            name = match["name"]
            instead = load_table("linter/slurm.json")["instead"].get(
                name, "a value of the pod's own"
            )
            return f"no pod sets {name}, a variable of Slurm: it is empty", f"use {instead}"

    return None


_UNKNOWN = frozenset({"unknown", "unset"})
