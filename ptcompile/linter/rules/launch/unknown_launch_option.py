"""An unknown torchrun option.

PTC423 unknown-launch-option: warning at run (fails), by torchrun.
Needs: {TORCHRUN}

What: an option before the script is neither an option of torchrun nor an abbreviation of one, or
the image's PyTorch is too old for it. An official tag of pytorch/pytorch says which it is, else the
profile's versions.torch, else the newest known.

Why: argparse ends the process: "unrecognized arguments". An option of the script belongs after the
script. Before PyTorch 2.0, torchrun spells its options with underscores only.

Example: pod.yaml with

      command:
        - torchrun
    +   - train.py
        - --epochs=3  # <--
    -   - train.py

Fix: correct the spelling, put the script's own options after the script, or use a newer PyTorch.

Source: PyTorch 2.15, torch/distributed/run.py, get_args_parser, and `torchrun --help` of 2.2.2,
2.5.1, 2.13.0 and 2.15.0; pull request 94505 (hyphens, 2.0). A newer torchrun may have more options.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptcompile._internal.spelling import closest_match
from ptcompile.kubernetes.versions import Version, version_text
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole, torch_version
from ptcompile.simulator.launchers.torchrun import (
    FIRST_HYPHENS,
    LACKED_BY,
    OPTIONS,
    first_with_option,
    option_names,
)


def check(subject: Subject) -> Findings:
    for role in subject.torchrun_roles:
        options = dict.fromkeys(option_names(role.launch.arguments))
        for option in [option for option in options if option not in OPTIONS]:
            # argparse accepts the beginning of an option as that option
            if not option or any(name.startswith(option) for name in OPTIONS):
                continue

            near = closest_match(option, OPTIONS)
            yield found_at(
                role.flag_path(option),
                f"torchrun has no option --{option} and does not start",
                f"did you mean --{near}?"
                if near
                else "put the options of the script after the script",
            )

        if not role.installs_packages:
            yield from _check_release(role, options, torch_version(role, subject.versions))


def _check_release(role: TrainingRole, options: Iterable[str], torch: Version) -> Findings:
    """Yield a finding for each option of torchrun that the image's PyTorch lacks, and for the first
    one whose hyphens it does not know.
    """
    release = f"torchrun of PyTorch {version_text(torch)}"
    for option in [option for option in options if torch <= LACKED_BY.get(option, (0, 0))]:
        needed = version_text(first_with_option(option))
        yield found_at(
            role.flag_path(option),
            f"{release} has no option --{option} and does not start",
            f"remove it, or use PyTorch {needed} or newer",
        )

    if torch >= FIRST_HYPHENS:
        return

    names = [argument.partition("=")[0] for argument in role.launch.arguments]
    for option in [option for option in options if "-" in option and f"--{option}" in names][:1]:
        yield found_at(
            role.flag_path(option),
            f"{release} knows no hyphens in its options and does not start",
            f"write --{option.replace('-', '_')}, or use PyTorch 2.0 or newer",
        )
