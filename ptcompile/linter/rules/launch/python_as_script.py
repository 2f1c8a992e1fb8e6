"""torchrun runs the Python interpreter as if it were a Python script.

What: `python` takes the place of the script, as in `torchrun --nproc-per-node=8 python train.py`.

Why: torchrun starts `python -u python train.py`, which fails: "can't open file 'python'". torchrun starts the
interpreter itself.

Example:

      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command:
              - torchrun
              - --nproc-per-node=1
    -         - python  # <--
              - train.py
            resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: remove `python`; write -m before the name of a module; use --no-python for a program that is not a Python script.

Source: PyTorch 2.13, torch/distributed/run.py, config_from_args.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.lazy import Pattern
from ptcompile.diagnostics import Edit, Fix, Path
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.linter.trainers import TrainingRole

_is_python = Pattern(r"(?a)(?:.*/)?python(?:3(?:\.\d+)?)?").fullmatch


def _check(subject: Subject) -> Iterator[Finding]:
    for role in subject.training_roles:
        launch = role.launch
        no_flag = not any(launch.options.get(name) for name in ("no-python", "module"))
        no_variable = not any(launch.env.get(name) for name in ("PET_NO_PYTHON", "PET_MODULE"))
        if role.is_torchrun and no_flag and no_variable and launch.entry and _is_python(launch.entry[0]):
            path, is_exact = _interpreter_path(role, launch.entry[0])
            script = launch.entry[1] if launch.entry[1:] else ""
            is_removable = is_exact and script.endswith(".py")
            yield found_at(
                path,
                f"torchrun runs {launch.entry[0]!r} as a Python script, but no such file exists: it starts the "
                "interpreter itself",
                "remove `python`",
                Fix(f"remove {launch.entry[0]}", (Edit("remove", path),), safe=True) if is_removable else None,
            )


def _interpreter_path(role: TrainingRole, name: str) -> tuple[Path, bool]:
    """Return the path of the interpreter, and whether it is one argument rather than part of a shell's script."""
    paths = [(*role.path, key, i) for key, i, word in role.indexed_tokens() if word == name]
    return (paths[-1], len(paths) == 1) if paths else (role.command_path, False)


RULE = Rule("python-as-script", _check, severity="error", stage="run", authority="torchrun")
