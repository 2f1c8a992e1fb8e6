"""Which step of a batch script trains, and why some scripts have no spec."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ptcompile.importer.slurm import leftovers
from ptcompile.importer.slurm.allocation import Allocation, allocate
from ptcompile.importer.slurm.directives import Options, rows_of
from ptcompile.importer.slurm.findings import ScriptFindings, shortened
from ptcompile.importer.slurm.program import FollowedScript, ScriptStep, rank_of
from ptcompile.kubernetes.commands import unwrap

_trains = re.compile(
    r"(?i)(?:^|[/_.-])(?:pre)?train|finetune|fine_tune|sft|pretrain|main\.py|train\w{0,64}\.py"
).search


def choose_step(
    followed: FollowedScript, options: Options, findings: ScriptFindings
) -> ScriptStep | None:
    """Return the step that trains, and report the others; None without such a step."""
    own = {"$0", "$BASH_SOURCE"}
    steps = [
        step for step in followed.steps if step.program != "sbatch" or own.isdisjoint(step.argv)
    ]
    for step in steps:
        _refuse_program(step, findings)
    if followed.unread is not None:
        text = (
            f"the script cannot be followed from line {followed.unread.line} on: "
            f"{followed.unread.text}"
        )
        findings.decide((0, 0), text, "import a simpler script, or check what the spec starts")
    if not steps:
        text = "the script starts no program that trains"
        findings.refuse((0, 0), text, "import the script that has torchrun, accelerate or python")
        return None

    def rank(step: ScriptStep) -> tuple[int, bool]:
        allocation = allocation_of(step, options)
        return rank_of(step, allocation.tasks * allocation.nodes), any(map(_trains, step.argv))

    # of equal steps the last one trains
    chosen = max(reversed(steps), key=rank)
    _check_others(chosen, steps, findings)
    if findings.is_refused:
        for step in steps:
            leftovers.report_step_options(step, findings)

    return chosen


def allocation_of(step: ScriptStep, options: Options) -> Allocation:
    """Return what a step gets on each node: its own options win over those of the job."""
    counts = {"nodes", "ntasks", "ntasks-per-node"}
    own = step.options
    if "nodelist" in own and step.command.in_background:
        # a loop starts one task on each node by its name
        own = own.without(counts)
    elif "ntasks" in own and "nodes" not in own:
        options = options.without({"ntasks"})
    elif counts & own.keys():
        options = options.without(counts - {"nodes"})

    return allocate(Options({**options, **own}))


def _refuse_program(step: ScriptStep, findings: ScriptFindings) -> None:
    """Refuse what no job can be: other schedulers, and launchers of all nodes."""
    program = "submitit" if "submitit.core._submit" in step.argv else step.program
    row = rows_of("refused").get(program)
    if row is not None:
        text = row["text"].format(written=shortened(step.command.words), last=step.argv[-1])
        findings.refuse(step.place, text, row["help"])


def _check_others(
    chosen: ScriptStep, steps: Sequence[ScriptStep], findings: ScriptFindings
) -> None:
    """Refuse programs that run at the same time, and report the others."""
    others = {step.written: step for step in steps if step.written != chosen.written}
    serious = [step for step in others.values() if rank_of(step, 1) > 1]
    rounds = sum(step.written == chosen.written for step in steps)
    written = shortened(chosen.command.words)
    in_background = chosen.command.in_background
    if serious and (in_background or any(step.command.in_background for step in serious)):
        names = " and ".join(
            dict.fromkeys(shortened(step.command.words) for step in (*serious, chosen))
        )
        help = (
            "write a spec for each, or a spec with roles for the programs that serve the one that "
            "trains"
        )
        findings.refuse(chosen.place, f"several programs run at once: {names}", help)
    elif rounds > 1 and in_background and "node-rank" not in chosen.invocation.options:
        text = f"{rounds} programs run at once in one allocation: {written}"
        findings.refuse(
            chosen.place, text, "each is a separate job: write a spec for each, or variants"
        )
    elif rounds > 1:
        text = f"a loop starts {rounds} programs one after another, of which the spec has the first"
        findings.decide(chosen.place, text, "write a spec, or a variant, for each")
    elif chosen.command.in_loop:
        text = f"a loop may start {written} several times"
        findings.decide(chosen.place, text, "runPolicy.backoffLimit restarts a job that fails")

    for step in others.values():
        words = step.command.words
        text = f"the spec does not run {shortened(words[unwrap(words).start :])}"
        findings.decide(
            step.place,
            text,
            "a job has one program: run this as a separate job, before or after, in a workflow",
        )
