"""What stays behind of a batch script: directives, setup, variables. Each is reported with its
line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ptcompile.importer.slurm.directives import Directives, SlurmOption, rows_of
from ptcompile.importer.slurm.findings import Offsets, ScriptFindings, shortened
from ptcompile.importer.slurm.program import ScriptStep, setup_kind
from ptcompile.kubernetes.unstructured import JsonDict


def report_directives(directives: Directives, findings: ScriptFindings) -> None:
    """Report the directives that sbatch rejects, and those that a spec does not have."""
    text = findings.source.text
    # a here-document may be another script, with directives that count there
    if "<<" not in text:
        for (start, end), why in directives.ignored:
            findings.reject((start, end), f"{text[start:end].strip()}: {why}")

    options = directives.components[0]
    given = {option.name: option for option in options}
    for option in options:
        _report_rejected(option, findings)
    for names in rows_of("exclusive"):
        together = [given[name] for name in names if name in given]
        if len(together) > 1:
            _, second, *_ = together
            text = f"sbatch rejects {' with '.join(f'--{option.name}' for option in together)}"
            findings.reject(second.place, text, "remove one of them")

    _report_options(given.values(), findings)


def _report_rejected(option: SlurmOption, findings: ScriptFindings) -> None:
    """Report an option that sbatch does not accept as it is written."""
    help: str | None = None
    if option.wrong:
        text = f"sbatch rejects {option.written}: {option.wrong}"
    elif not option.row:
        text = f"{option.written} is not an option of sbatch"
        help = "a plugin of the site may have it: find out what it asks for"
    elif option.amount is None:
        if "$" in option.value:
            why = "sbatch expands no variables: it rejects this"
        else:
            why = "sbatch rejects this value"
        text = f"{option.written}: {why}"
        help = f"write the value of --{option.name} out"
    else:
        return

    findings.reject(option.place, text, help)


def _report_options(options: Iterable[SlurmOption], findings: ScriptFindings) -> None:
    """Report the options that a spec has no field for, those with the same reason together."""
    by_reason: dict[str, list[SlurmOption]] = {}
    for option in options:
        if "says" in option.row and not option.wrong and option.name not in findings.settled:
            by_reason.setdefault(option.row["says"], []).append(option)

    for reason, together in by_reason.items():
        place = together[0].place
        written = ", ".join(option.written for option in together)
        if any(option.row.get("loud") for option in together):
            findings.decide(place, f"{written} has no counterpart", reason)
        else:
            findings.leave(place, written, reason)


def report_step_options(step: ScriptStep, findings: ScriptFindings) -> None:
    """Report the options of srun that a spec has no field for."""
    options = step.options.values()
    for option in options:
        if option.row.get("step") == "refused":
            text = f"srun {option.written}: {option.row['says']}"
            findings.refuse(step.place, text, "write a spec for each program")
        elif not option.row:
            text = f"{option.written} is not an option of srun"
            findings.reject(step.place, text, "a plugin of the site may have it")

    own = [option.written for option in options if option.row.get("step") in ("own", "refused")]
    if own:
        findings.leave(
            step.place, f"srun {' '.join(own)}", "these are srun's, which a job does not need"
        )

    _report_options([option for option in options if "step" not in option.row], findings)


def report_setup(
    commands: Iterable[tuple[Sequence[str], Offsets]], findings: ScriptFindings
) -> None:
    """Report commands that prepare something, each with its place."""
    by_kind: dict[str, list[tuple[Sequence[str], Offsets]]] = {}
    for words, place in commands:
        by_kind.setdefault(_kind_of_setup(words), []).append((words, place))

    reasons = rows_of("reasons")
    for kind, row in [(kind, row) for kind, row in reasons.items() if kind in by_kind]:
        (_, first), *_others = by_kind[kind]
        written = dict.fromkeys(shortened(words[: row["words"]]) for words, _ in by_kind[kind])
        report = findings.decide if row.get("loud") else findings.leave
        report(first, ", ".join(written), row["says"])


def _kind_of_setup(words: Sequence[str]) -> str:
    """Return the kind of a command that is left behind, which names the reason; `silent` for a
    command that only prints.
    """
    first = words[0]
    if first == "srun":
        return "step" if set(words).isdisjoint(rows_of("tells")) else "silent"
    return setup_kind(words) or ("silent" if first.startswith(("$", "`")) else "files")


_networks = re.compile(r"(?:FI|UCX|OMPI|I_MPI|MPICH|PMIX|PMI)_").match


def kept_variables(
    step: ScriptStep,
    exported: Mapping[str, str],
    findings: ScriptFindings,
    places: Mapping[str, Offsets],
) -> JsonDict:
    """Return the variables that the pods get, and report the others."""
    networks, left = rows_of("networks"), rows_of("left")
    command = " ".join(" ".join(step.argv).split())
    kept: JsonDict = {}
    for name, value in exported.items():
        place = places[name]
        if name in findings.secrets or name in findings.secret_names:
            secret = name.lower().replace("_", "-")
            kept[name] = {"secretKeyRef": {"name": secret, "key": name}}
            help = f"the spec takes it from the Secret {secret}, key {name}: create it"
            findings.add(
                "script-secret", place, f"{name} is a secret: its value is not copied", help
            )
        elif name in networks or _networks(name):
            text = f"{name} names the network of the old nodes: it is left behind"
            help = networks.get(name, "of the old network")
            findings.decide(place, text, f"{help}; set fabric if the nodes have a fast network")
        elif name in left:
            findings.leave(place, name, left[name])
        elif is_rendezvous(name, value):
            continue
        elif " " in value.strip() and " ".join(value.split()) in command:
            continue  # a part of the command line
        elif any(sign in value for sign in ("$(", "`", "${")):
            findings.miss(
                place,
                f"the value of {name} is not known",
                f"set env.{name} if the program reads it",
            )
        else:
            kept[name] = value

    return kept


_rendezvous = re.compile(
    r"(?i)(?:MASTER|RDZV|HEAD|MAIN_PROCESS|PET|DIST|SRUN|SLURM|SBATCH)_\w*|(?:LOCAL_|NODE_|GROUP_)?RANK|"
    r"(?:LOCAL_)?WORLD_SIZE|MASTERADDR|MASTERPORT|HOSTFILE\w*|NODE_?LIST|HOST(?:NAME|S)?|MACHINE_RANK|NODEID|NODES"
).fullmatch
_computes_hosts = re.compile(
    r"scontrol|hostname|NODELIST|SLURM_LAUNCH_NODE|SLURM_PROCID|SLURM_LOCALID|SLURM_NODEID|getent"
).search


def is_rendezvous(name: str, value: str) -> bool:
    """Return whether a variable only says where the nodes meet, and who is who: the operator
    does that.
    """
    return _rendezvous(name) is not None or _computes_hosts(value) is not None
