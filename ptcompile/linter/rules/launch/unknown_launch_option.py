"""An unknown torchrun option.

What: an option before the script is neither an option of torchrun nor an abbreviation of one.

Why: argparse ends the process: "unrecognized arguments". An option of the script belongs after the script.

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
    +         - train.py
              - --epochs=3  # <--
    -         - train.py
            resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: correct the spelling, or put the script's own options after the script.

Source: PyTorch 2.13, torch/distributed/run.py, get_args_parser. A newer torchrun may have more options.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.spelling import closest_match
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.simulator.launchers.torchrun import OPTIONS, option_names


def _check(subject: Subject) -> Iterator[Finding]:
    for role in subject.training_roles:
        options = option_names(role.launch.arguments) if role.is_torchrun else ()
        for option in [option for option in dict.fromkeys(options) if option not in OPTIONS]:
            # argparse accepts the beginning of an option as that option
            if not option or any(name.startswith(option) for name in OPTIONS):
                continue
            path = role.flag_path(option)
            near = closest_match(option, OPTIONS)
            yield found_at(
                path,
                f"torchrun has no option --{option} and does not start",
                f"did you mean --{near}?" if near else "put the options of the script after the script",
            )


RULE = Rule("unknown-launch-option", _check, severity="warning", stage="run", authority="torchrun")
