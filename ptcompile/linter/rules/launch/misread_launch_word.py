"""A launcher takes a word for something else than was meant.

PTC494 misread-launch-word: error at run (fails), by ptcompile.
Needs: {NODE_LAUNCHERS}

What: an option of torchrun, accelerate, deepspeed, composer or tune begins with a dash that is no
hyphen, such as the en dash of a chat; a switch is followed by a value, as in `--standalone false`;
two options are one word, as in `--rdzv-id=a--rdzv-backend=c10d`; a no-break space or a typographic
quotation mark is part of a word; or options of the launcher are after the script.

Why: the first word that is neither an option nor a value is the script, and everything after it is
the script's. The launcher then starts something else, or starts it with its defaults, and each pod
trains alone.

Example: pod.yaml with

      command:
        - torchrun
    -   - --standalone
    -   - "true"  # <--
    +   - --standalone
        - train.py

Fix: write hyphens, U+002D, and spaces, U+0020; give switches no value; put the launcher's options
before the script.

Source: Python 3.14, argparse (REMAINDER, store_true); PyTorch 2.15, torch/distributed/run.py;
Accelerate 1.10, DeepSpeed 0.17, torchtune 0.6.1; huggingface/accelerate issue 2240,
meta-pytorch/torchx issue 557.
"""

from __future__ import annotations

from ptcompile.diagnostics import Severity
from ptcompile.linter.rule import Finding, Findings, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole
from ptcompile.simulator.launchers.misread import launch_words, lost_options

_MOST_SHOWN = 3


def check(subject: Subject) -> Findings:
    for role in subject.every_training_role:
        misread = role.misread_word
        if misread is not None:
            severity: Severity | None = None if role.launch.doubt is None else "warning"
            help_text = misread.help
            if " -" in misread.word and any("\\ -" in token for _, token in role.container.argv):
                help_text = (
                    "remove the backslash: it escapes the space after it, except at the end of a "
                    "line"
                )
            yield found_at(
                role.path_of_word(misread.word), misread.message, help_text, severity=severity
            )
        elif role.misplaced_options:
            yield _misplaced_finding(role)

        if misread is not None:
            continue

        for word in lost_options(role.launch):
            yield found_at(
                role.path_of_word(word),
                f"{word!r} does not begin with a hyphen, U+002D, so the script sees no option",
                "write hyphens and spaces",
                severity="warning",
            )


def _misplaced_finding(role: TrainingRole) -> Finding:
    script = launch_words(role.launch)[1][0]
    names = role.misplaced_options
    listed = ", ".join(names[:_MOST_SHOWN]) + (", ..." if len(names) > _MOST_SHOWN else "")
    program = role.launch.program or role.launcher_name

    return found_at(
        role.path_of_word(names[0]),
        f"options after the script are arguments of {script}, and {program} does not read them: "
        f"{listed}",
        f"write them before {script}",
        severity="error" if role.launch.program == "tune run" else "warning",
    )
