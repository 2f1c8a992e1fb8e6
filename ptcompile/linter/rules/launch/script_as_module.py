"""A file is started with -m, which takes the name of a module.

PTC472 script-as-module: error at run (fails), by torchrun.
Needs: {NODE_LAUNCHERS}/python/python3 m/module

What: torchrun, accelerate, deepspeed, composer or python gets -m (--module) and then a path or a
file name, such as train.py.

Why: Python imports `train.py` as the module `py` of the package `train` and finds none: "No module
named train.py".

Example: pod.yaml with

      command:
        - torchrun
    -   - -m
        - train.py  # <--

Fix: remove -m, or write the module's name with dots and without .py.

Source: Python 3.14, runpy; PyTorch 2.15, torch/distributed/run.py, config_from_args.
"""

from __future__ import annotations

from ptcompile.kubernetes.commands import basename
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole
from ptcompile.simulator.launchers import LAUNCHERS, module_of
from ptcompile.simulator.launchers.torchrun import is_int, is_literal


def check(subject: Subject) -> Findings:
    for role in subject.training_roles:
        module = _module(role)
        if (
            module is None
            or not is_literal(module)
            or not (module.endswith(".py") or "/" in module)
        ):
            continue

        path = next((path for path, token in role.container.argv if token == module), None)
        yield found_at(
            path or role.command_path,
            f"-m takes the name of a module, but {module!r} is a file",
            "remove -m, or write the module's name with dots and without .py",
        )


def _module(role: TrainingRole) -> str | None:
    """Return the module that the role starts, or None if it starts a script."""
    launch = role.launch
    if role.is_torchrun:
        variable = launch.env.get("PET_MODULE", "0")
        is_module = "module" in launch.options or (is_int(variable) and int(variable) != 0)
        return launch.entry[0] if is_module and launch.entry else None

    words = launch.entry
    if launch.launcher in LAUNCHERS:
        return module_of(words)
    if launch.launcher == "command" and "-m" in words and basename(words[0]).startswith("python"):
        index = words.index("-m")
        is_python_option = all(word.startswith("-") for word in words[1:index])
        if is_python_option and index + 1 < len(words):
            return words[index + 1]

    return None
