"""torchrun refuses an option and does not start.

PTC471 refused-launch-option: error at run (fails), by torchrun.
Needs: {TORCHRUN}

What: an option has a value that torchrun rejects, such as --tee=stdout; a switch has a value, such
as --standalone=true; an abbreviation fits several options, such as --nproc; or the option is one of
torch.distributed.launch alone.

Why: argparse or torchrun itself raises an error before any process starts: "invalid choice",
"ignored explicit argument", "ambiguous option". argparse compares an abbreviation with both
spellings of an option, so even --nproc is ambiguous.

Example: pod.yaml with

      command:
        - torchrun
    -   - --tee=stdout  # <--
    +   - --tee=3
        - train.py

Fix: write a value that torchrun accepts, or the whole name of the option.

Source: PyTorch 2.15, torch/distributed/run.py, get_args_parser and config_from_args, and
torch/distributed/elastic/multiprocessing/api.py, Std.from_str; checked with torchrun 2.2, 2.5, 2.13
and 2.15.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole
from ptcompile.simulator.launchers.arguments import GivenOption
from ptcompile.simulator.launchers.torchrun import (
    TORCHRUN,
    given_options,
    is_int,
    is_literal,
    option_variable,
)

_is_std = Pattern(r"(?a)[0-3]|\d:[0-3](?:,\d:[0-3])*").fullmatch
_CHOICES = {
    "start-method": ("spawn", "fork", "forkserver"),
    "numa-binding": ("node", "socket", "exclusive", "core-complex"),
}
"""Options whose values argparse compares. It does not compare what comes from a variable."""
_VARIABLES = {
    option: option_variable(option)
    for option in ("tee", "redirects", "local-ranks-filter", "shutdown-timeout")
}
"""Options whose values torchrun also checks if they come from a variable, with the variable."""
_CHECKED = frozenset({*_CHOICES, *_VARIABLES, *TORCHRUN.flags, "logs-specs"})
"""Options that torchrun may reject although it knows them."""
_STD = "it must be 0 to 3, or LOCAL_RANK:VALUE,..."


def check(subject: Subject) -> Findings:
    for role in subject.torchrun_roles:
        given = given_options(role.launch.arguments)
        for option in [option for option in given if option.matches or option.name in _CHECKED]:
            why = _why_refused(role, option)
            if why is not None:
                yield found_at(
                    role.flag_path(option.name),
                    f"torchrun does not start with {option.written}: {why}",
                    _help(option),
                )
            elif (
                option.name == "logs-specs"
                and option.value not in (None, "default")
                and is_literal(option.value)
            ):
                yield found_at(
                    role.flag_path(option.name),
                    "torchrun only starts if the image has a plugin for the log specification "
                    f"{option.value!r}",
                    "install a package with that entry point in the image, or remove the option",
                    severity="warning",
                )

        yield from _check_variables(role)


def _check_variables(role: TrainingRole) -> Findings:
    for option, name in _VARIABLES.items():
        value = role.launch.env.get(name)
        if value is None or option in role.launch.options or not is_literal(value):
            continue
        if (why := _why_refused_value(option, value)) is not None:
            yield found_at(
                role.path_of(option), f"torchrun does not start with {name} {value!r}: {why}", _HELP
            )


def _why_refused(role: TrainingRole, option: GivenOption) -> str | None:
    """Return why the launcher does not start with an option, or None."""
    if option.matches:
        return f"it is ambiguous: {', '.join(option.matches[:3])}"
    if option.name == "use-env" and role.launch.program != "torch.distributed.launch":
        return "only torch.distributed.launch has the option"
    if option.name in TORCHRUN.flags and option.value is not None:
        return "it takes no value"
    if option.value is None or not is_literal(option.value):
        return None

    choices = _CHOICES.get(option.name)
    if choices is not None and option.value not in choices:
        return f"it must be {', '.join(choices[:-1])} or {choices[-1]}, not {option.value!r}"

    return _why_refused_value(option.name, option.value)


def _why_refused_value(option: str, value: str) -> str | None:
    """Return why torchrun rejects a value that it may also read from a variable, or None."""
    if option in ("tee", "redirects") and not _is_std(value):
        return f"{_STD}, not {value!r}"
    if (
        option == "local-ranks-filter"
        and value
        and not all(is_int(part) for part in value.split(","))
    ):
        return f"it must be a list of ranks such as 0,1, not {value!r}"
    if option == "shutdown-timeout" and not is_int(value):
        return f"it must be a whole number of seconds, not {value!r}"
    return None


_HELP = "write a value that torchrun accepts"


def _help(option: GivenOption) -> str:
    if option.matches:
        return "write the whole name of the option"
    if option.name in TORCHRUN.flags and option.value is not None:
        return "remove the value"
    return _HELP
