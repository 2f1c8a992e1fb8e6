"""What stays behind of a batch script: directives, setup, variables, other steps. Each is reported with its line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from ptcompile._internal.namedtuple import Any
from ptcompile._internal.schema_files import load_table
from ptcompile.importer.slurm import amounts
from ptcompile.importer.slurm.findings import shortened
from ptcompile.importer.slurm.program import setup_kind
from ptcompile.kubernetes.commands import unwrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.importer.slurm.directives import Directives, SlurmOption
    from ptcompile.importer.slurm.findings import ScriptFindings
    from ptcompile.importer.slurm.program import ScriptStep

_READERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("time", "time-min"), amounts.seconds_of),
    **dict.fromkeys(("mem", "mem-per-cpu", "mem-per-gpu", "tmp"), amounts.mebibytes_of),
    **dict.fromkeys(("gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket"), amounts.gpus_of),
    **dict.fromkeys(("gres", "tres-per-task", "tres-per-node"), amounts.gres_of),
    **dict.fromkeys(
        ("ntasks", "ntasks-per-node", "tasks-per-node", "ntasks-per-gpu", "cpus-per-task", "cpus-per-gpu"),
        amounts.count_of,
    ),
    "nodes": amounts.nodes_of,
    "array": amounts.array_of,
    "signal": amounts.signal_of,
}
"""Functions that read the values of options; they return None for what sbatch rejects."""
_EXCLUSIVE = (("mem", "mem-per-cpu", "mem-per-gpu"), ("cpus-per-task", "cpus-per-gpu"), ("requeue", "no-requeue"))
_SILENT = frozenset({"nodelist", "nodes", "ntasks", "exclusive", "output", "error", "input", "open-mode", "image"})
"""Options of srun that are not reported: they place a step in its allocation."""
_CONVERTED = frozenset({"partition", "qos", "account", "signal", "chdir", "tmp", "switches", "segment"})
"""Options that have a field, but whose value means something else there."""
_REFUSED = frozenset({"multi-prog", "pty", "het-group"})


def report_directives(directives: Directives, findings: ScriptFindings, settled: Iterable[str]) -> None:
    """Report the directives that sbatch rejects, and those that a spec does not have. `settled` have a field."""
    # a here-document may be another script, with directives that count there
    for start, end, why in () if "<<" in findings.source.text else directives.ignored:
        findings.add("rejected-directive", (start, end), f"{findings.source.text[start:end].strip()}: {why}")
    given = {option.name: option for option in directives.options}
    for option in directives.options:
        report_rejected(option, findings)
    for names in _EXCLUSIVE:
        together = [given[name] for name in names if name in given]
        if len(together) > 1:
            text = f"sbatch rejects {' with '.join(f'--{option.name}' for option in together)}"
            findings.add("rejected-directive", (together[1].start, together[1].end), text, "remove one of them")
    report_options(list(given.values()), findings, settled)


def report_rejected(option: SlurmOption, findings: ScriptFindings) -> None:
    """Report an option that sbatch does not accept as it is written."""
    place = option.start, option.end
    read = _READERS.get(option.name)
    if option.reads_wrong:
        findings.add("rejected-directive", place, f"sbatch rejects {option.written}: {option.reads_wrong}")
    elif not option.is_known:
        text = f"{option.written} is not an option of sbatch"
        findings.add("rejected-directive", place, text, "a plugin of the site may have it: find out what it asks for")
    elif read is not None and read(option.value) is None:
        why = "sbatch expands no variables: it rejects this" if "$" in option.value else "sbatch rejects this value"
        findings.add("rejected-directive", place, f"{option.written}: {why}", f"write the value of --{option.name} out")


def report_options(options: Sequence[SlurmOption], findings: ScriptFindings, settled: Iterable[str]) -> None:
    """Report the options that a spec has no field for, those with the same reason together."""
    by_reason: dict[str, list[SlurmOption]] = {}
    for option in options:
        is_told = "becomes" not in option.row or option.name in _CONVERTED
        if option.is_known and not option.reads_wrong and is_told and option.name not in settled:
            by_reason.setdefault(option.row.get("says", ""), []).append(option)
    for reason, together in by_reason.items():
        place = together[0].start, together[0].end
        written = ", ".join(option.written for option in together)
        if any(option.row.get("loud") for option in together):
            findings.decide(place, f"{written} has no counterpart", reason)
        else:
            findings.leave(place, written, reason)


def report_step_options(step: ScriptStep, findings: ScriptFindings, settled: Iterable[str]) -> None:
    """Report the options of srun that a spec has no field for."""
    place = step.command.start, step.command.argv[-1].end
    for option in step.options:
        if option.name in _REFUSED:
            findings.refuse(place, f"srun {option.written}: {option.row['says']}", "write a spec for each program")
        elif not option.is_known:
            text = f"{option.written} is not an option of srun"
            findings.add("rejected-directive", place, text, "a plugin of the site may have it")
    own = [option.written for option in step.options if option.row.get("only") or option.name == "wait"]
    if own:
        findings.leave(place, f"srun {' '.join(own)}", "these are srun's, which a job does not need")
    silent = {*_SILENT, "wait"}
    others = [option for option in step.options if not option.row.get("only") and option.name not in silent]
    report_options(others, findings, settled)


_FILE = re.compile(r"[\w./${}-]+\.(?:tar|tgz|gz|zip|txt|ya?ml|json|sqsh|h5|lmdb)\S*")


def report_setup(commands: Iterable[tuple[Sequence[str], tuple[int, int]]], findings: ScriptFindings) -> None:
    """Report commands that prepare something, each with its place."""
    by_kind: dict[str, list[tuple[Sequence[str], tuple[int, int]]]] = {}
    for words, place in commands:
        kind = setup_kind(words) or ("silent" if words[0].startswith(("$", "`")) else "files")
        if words[0] == "srun" or kind == "silent":
            kind = _kind_of_other(words)
        by_kind.setdefault(kind, []).append((words, place))
    for kind in [kind for kind in _REASONS if kind in by_kind]:
        (_, place), *_others = by_kind[kind]
        limit = 1 if kind == "login" else 12 if kind in ("files", "step") else 4
        written = dict.fromkeys(shortened(words[:limit]) for words, _ in by_kind[kind])
        add = findings.decide if kind in ("step", "folder", "files") else findings.leave
        add(place, ", ".join(written), _REASONS[kind])


_REASONS = {
    "module": "the image must have what these modules bring: choose or build such an image",
    "environment": "the image must have this environment and its packages: choose or build such an image",
    "login": "give the pods the key as a variable, from a Secret",
    "folder": "the code must be in the image or on a volume: set workingDir to its folder there",
    "files": "nothing prepares files before a pod trains: use an init container (podTemplate), a volume, or the image",
    "step": "it runs once on each node before the program: write it as an init container (podTemplate), with a volume",
    "pipe": "kubectl logs has the output of each pod",
    "trap": "a pod gets SIGTERM and no other signal, and nothing requeues it from inside: see runPolicy",
}


def _kind_of_other(words: Sequence[str]) -> str:
    if words[0] == "srun":
        quiet = any(word in ("hostname", "nvidia-smi", "echo", "env", "rocm-smi") for word in words)
        return "" if quiet else "step"
    return {"cd": "folder", "tee": "pipe", "trap": "trap"}.get(words[0], "")


def report_variables(
    step: ScriptStep, exported: Mapping[str, str], findings: ScriptFindings, place_of: Callable[[str], tuple[int, int]]
) -> dict[str, Any]:
    """Return the variables that the pods get, and report the others."""
    table = load_table("importer/slurm/slurm.json")
    networks: Mapping[str, str] = table["networks"]
    kept: dict[str, Any] = {}
    command = " ".join(" ".join(step.argv).split())
    for name, value in exported.items():
        place = place_of(name)
        if name in findings.secrets or name in findings.secret_names:
            secret = name.lower().replace("_", "-")
            kept[name] = {"secretKeyRef": {"name": secret, "key": name}}
            text = f"{name} is a secret: its value is not copied"
            findings.add(
                "script-secret", place, text, f"the spec takes it from the Secret {secret}, key {name}: create it"
            )
        elif name in networks or name.startswith(("FI_", "UCX_", "OMPI_", "I_MPI_", "MPICH_", "PMIX_", "PMI_")):
            text = f"{name} names the network of the old nodes: it is left behind"
            help = networks.get(name, "of the old network")
            findings.decide(place, text, f"{help}; set fabric if the nodes have a fast network")
        elif name in _DEVICES:
            findings.leave(place, name, "the device plugin shows a pod its GPUs")
        elif is_rendezvous(name, value):
            continue
        elif name in table["images"]["names"]:
            findings.leave(place, name, "the image has its own paths")
        elif " " in value.strip() and " ".join(value.split()) in command:
            continue  # a part of the command line
        elif "$(" in value or "`" in value or "${" in value:
            text = f"the value of {name} is not known"
            findings.add("script-unknown-value", place, text, f"set env.{name} if the program reads it")
        else:
            kept[name] = value
    return kept


_DEVICES = frozenset({"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"})
_RENDEZVOUS = re.compile(
    r"(?i)(?:MASTER|RDZV|HEAD|MAIN_PROCESS|PET|DIST|SRUN|SLURM|SBATCH)_\w*|(?:LOCAL_|NODE_|GROUP_)?RANK|"
    r"(?:LOCAL_)?WORLD_SIZE|MASTERADDR|MASTERPORT|HOSTFILE\w*|NODE_?LIST|HOST(?:NAME|S)?|MACHINE_RANK|NODEID|NODES"
)
_COMPUTES_HOSTS = re.compile(
    r"scontrol|hostname|NODELIST|SLURM_LAUNCH_NODE|SLURM_PROCID|SLURM_LOCALID|SLURM_NODEID|getent"
)


def is_rendezvous(name: str, value: str) -> bool:
    """Return whether a variable only says where the nodes meet, and who is who: the operator does that."""
    return _RENDEZVOUS.fullmatch(name) is not None or _COMPUTES_HOSTS.search(value) is not None


def report_other_steps(step: ScriptStep, others: Sequence[ScriptStep], findings: ScriptFindings) -> None:
    """Report the programs that the spec does not start."""
    for place, other in {other.place: other for other in others}.items():
        if place == step.place:
            continue
        words = other.command.words
        text = f"the spec does not run {shortened(words[unwrap(words).start :])}"
        help = "a job has one program: run this as a separate job, before or after, in a workflow"
        findings.decide((other.command.start, other.command.argv[-1].end), text, help)
