"""torchrun runs Python, a shell or a launcher as if it were a Python script.

PTC425 python-as-script: error at run (fails), by torchrun.
Needs: {TORCHRUN}

What: `python`, a shell, a launcher or a shell script takes the place of the script, as in
`torchrun --nproc-per-node=8 python train.py`.

Why: torchrun starts `python -u python train.py`, which fails: "can't open file 'python'". torchrun
starts the interpreter itself. A shell or a shell script fails the same way, as Python cannot read
it.

Example: pod.yaml with

      command:
        - torchrun
        - --nproc-per-node=1
    -   - python  # <--
        - train.py

Fix: remove `python`; write -m before the name of a module; use --no-python for a program that is
not a Python script.

Source: PyTorch 2.13, torch/distributed/run.py, config_from_args.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile.kubernetes.commands import LAUNCHERS, basename, is_program, is_python
from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at
from ptcompile.linter.training_roles import TrainingRole

_SHELL_SCRIPTS = (".sh", ".bash")


def check(subject: Subject) -> Findings:
    for role in subject.torchrun_roles:
        launch = role.launch
        no_flag = not any(launch.options.get(name) for name in ("no-python", "module"))
        no_variable = not any(launch.env.get(name) for name in ("PET_NO_PYTHON", "PET_MODULE"))
        if no_flag and no_variable and launch.entry:
            yield from _check_script(role, launch.entry)


def _check_script(role: TrainingRole, entry: Sequence[str]) -> Findings:
    """Yield an error if the first word of what torchrun starts is certainly not a Python script."""
    name, *arguments = entry
    if not (is_program(name) or name.endswith(_SHELL_SCRIPTS)):
        return

    # the word is an argument with its own path, or a part of a shell script
    paths = [path for path, word in role.container.argv if word == name]
    path = paths[-1] if paths else role.command_path
    if is_python(basename(name)):
        is_removable = len(paths) == 1 and "".join(arguments[:1]).endswith(".py")
        yield found_at(
            path,
            f"torchrun runs {name!r} as a Python script, but no such file exists: it starts the "
            "interpreter itself",
            "remove `python`",
            fix_removing(f"remove {name}", path, safe=True) if is_removable else None,
        )
    elif basename(name) in LAUNCHERS:
        message = (
            f"torchrun runs {name!r} as a Python script, but torchrun itself starts the processes"
        )
        yield found_at(path, message, f"remove {name}, and start the script with torchrun alone")
    else:
        message = f"torchrun runs {name!r} as a Python script, but Python cannot read it"
        yield found_at(path, message, "add --no-python before it, or start a Python script")
