"""The fields of a spec, from the step that trains and from the options of its job."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.diagnostics import Path
from ptcompile.hardware.accelerators import ROWS
from ptcompile.importer.slurm.allocation import Allocation
from ptcompile.importer.slurm.amounts import quantity_of
from ptcompile.importer.slurm.choice import allocation_of
from ptcompile.importer.slurm.directives import Options, rows_of
from ptcompile.importer.slurm.findings import (
    Offsets,
    ScriptFindings,
    exports_of_shell,
    shortened,
    unresolved,
)
from ptcompile.importer.slurm.launch import StepLaunch, read_launch
from ptcompile.importer.slurm.leftovers import is_rendezvous, kept_variables, report_setup
from ptcompile.importer.slurm.program import FollowedScript, ScriptStep
from ptcompile.importer.slurm.sweeps import known_text, label
from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.unstructured import JsonDict, get, without_falsy


class ScriptJob(NamedTuple):
    """What the fields of a spec come from."""

    text: str
    options: Options
    values: Mapping[str, str]
    """What was given to the import."""
    findings: ScriptFindings
    followed: FollowedScript
    first: ScriptStep
    """The step that trains, with the values of its variables."""
    step: ScriptStep
    """The same step with references to variables that the pods have."""
    jobs: Sequence[Mapping[str, str]]
    """The variables that vary, with their values in each job of an array."""
    chain: int
    """Number of jobs of an array that are one long training, or 0."""


def fields_of(job: ScriptJob) -> JsonDict:
    """Return the fields of the spec, and report what they lack."""
    step, findings = job.step, job.findings
    allocation = allocation_of(step, job.options)
    for option, text in allocation.doubts.items():
        place = job.options.place(option) if option in job.options else step.place
        findings.decide(place, f"--{option}: {text}", "check nodes and elastic.nprocPerNode")
    if step.invocation.launcher == "torchrun" and step.is_parallel and allocation.tasks > 1:
        text = (
            f"srun starts torchrun in each task: ntasks-per-node={allocation.tasks} of srun "
            "torchrun"
        )
        findings.refuse(
            step.place, text, "torchrun starts the processes of a node: set --ntasks-per-node=1"
        )

    report_setup([(words, step.place) for words in step.prepares], findings)

    launch = read_launch(step, allocation, findings)
    swept = {name for each in job.jobs for name in each}
    env = {name: value for name, value in _env(job, launch).items() if name not in swept}
    start = {name: findings.with_references(value) for name, value in launch.fields.items()}
    notice = job.options.amount("signal")
    fields = {
        "image": _image(step, findings),
        **{name: start.get(name) for name in ("script", "module", "command", "args")},
        "nodes": launch.nodes if launch.nodes > 1 else None,
        "elastic": start["elastic"],
        "accelerator": _accelerator(job, allocation.gpu_type),
        "resources": _resources(job, allocation),
        "env": env,
        "workingDir": _folder(job),
        **_volumes(step, findings),
        "runPolicy": _run_policy(job),
        # the seconds between SIGTERM and SIGKILL; a pod's default is 30
        "terminationGracePeriodSeconds": None if notice is None else max(notice, 30),
        "queue": _value_of_field(job, "queue"),
        "priority": _value_of_field(job, "priority"),
    }
    fields = without_falsy(fields)
    _report_unknown(job, fields, swept)

    return fields


def _image(step: ScriptStep, findings: ScriptFindings) -> str:
    """Return the image of a step, or "" with a finding if the script names none."""
    container = step.container
    if not container.image:
        named = ""
        if container.file:
            named = f": {container.file} is a file of the cluster, not an image"
        help = (
            "build an image with the code and what its modules and environments have, and set image"
        )
        findings.add(
            "script-without-image", step.place, f"image: the script names no image{named}", help
        )

    return container.image


def _folder(job: ScriptJob) -> str:
    folder = job.step.container.folder or job.options.value("chdir")
    if folder.startswith("/") and "$" not in folder:
        return folder
    return ""


def _volumes(step: ScriptStep, findings: ScriptFindings) -> JsonDict:
    """Return a volume for each mounted folder: which one it is on the cluster, the reader
    decides.
    """
    given = step.container.mounts
    mounts = {
        mount.target: mount.is_read_only
        for mount in reversed(given)
        if mount.target.startswith("/")
    }
    if not mounts:
        return {}

    names = {target: label(target) or "volume" for target in reversed(mounts)}
    listed = ", ".join(f"{mount.source} at {mount.target}" for mount in given)
    text = f"the mounts (-B, --container-mounts, -v) are folders of the old nodes: {listed}"
    help = "the spec mounts a claim for each: create the claims, or choose other volumes"
    findings.decide(step.place, text, help)
    claims = dict.fromkeys(names.values())

    return {
        "volumes": [
            {"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims
        ],
        "volumeMounts": [
            {"name": name, "mountPath": target, **({"readOnly": True} if mounts[target] else {})}
            for target, name in names.items()
        ],
    }


def _resources(job: ScriptJob, allocation: Allocation) -> JsonDict:
    """Return the amounts of a node."""
    if allocation.memory == 0:
        text = "all memory of the node, mem=0, is not an amount"
        job.findings.decide(job.options.place("mem"), text, "choose resources.memory")
    if "exclusive" in job.options and allocation.gpus is None and not allocation.devices:
        text = "--exclusive gives all GPUs of the node, whose number the script does not say"
        job.findings.decide(job.options.place("exclusive"), text, "set resources.gpu")
    for resource in allocation.other:
        text = f"gres {resource.name}:{resource.amount}"
        job.findings.leave(
            job.options.place("gres"), text, "set resources.ephemeralStorage, devices, or a volume"
        )

    disk = job.options.amount("tmp")
    return without_falsy(
        {
            "cpu": allocation.cpus,
            "memory": quantity_of(allocation.memory) if allocation.memory else None,
            "gpu": allocation.gpus,
            "devices": {**allocation.devices},
            "ephemeralStorage": quantity_of(disk) if disk else None,
        }
    )


def _accelerator(job: ScriptJob, gpu_type: str) -> str:
    """Return the product that a type of GPU means, or nothing if it is a name of the site."""
    vendor = "amd" if gpu_type.lower().startswith("mi") else "nvidia"
    product = f"{vendor}-{gpu_type.lower()}"
    if not gpu_type or product in ROWS:
        return product if gpu_type else ""

    products = " or ".join([row for row in ROWS if row.startswith(product)])
    place = job.options.place("gres", "gpus-per-node", "gpus", "gpus-per-task")
    help = f"set accelerator: {products}" if products else "set accelerator, or a nodeSelector"
    job.findings.leave(place, f"gres type {gpu_type} is a name of the site", help)

    return ""


def _value_of_field(job: ScriptJob, field: str) -> str:
    """Return the queue or the priority, as far as a table of the cluster is given."""
    keys = [
        f"{name}.{option.value}"
        for name, option in job.options.items()
        if option.row.get("becomes") == field
    ]
    return next((job.values[key] for key in keys if key in job.values), "")


_requeue = re.compile(
    r"(?m)^(?![ \t]*#).*?\b(scontrol[ \t]+requeue|sbatch[ \t][^\n]*(?:\$0|\$\{?BASH_SOURCE)[^\n]*)"
)
_limit = re.compile(
    r"(?P<before>\$\{?\w+\}?|\d+)[\"' ]*(?:-gt|-ge|>=?)[\"' ]*\$\{?SLURM_RESTART_COUNT|"
    r"SLURM_RESTART_COUNT[^\n]{0,12}?[\"' ]*(?:-lt|-le|<=?)[\"' ]*(?P<after>\$\{?\w+\}?|\d+)"
)
_trap = re.compile(r"(?m)^[ \t]*trap[ \t]")


def _run_policy(job: ScriptJob) -> JsonDict:
    """Return when the job ends and what restarts it: --time, --requeue, scripts that requeue
    themselves.

    Source: docs/facts/slurm.md#requeue.
    """
    options = job.options
    policy: JsonDict = {}
    requeue = _requeue.search(job.text)
    if requeue is not None:
        policy["backoffLimit"] = _retries(job)
        text = (
            "the script requeues itself: its time is not the end of the training, so there is no "
            "deadline"
        )
        help = (
            "the job restarts after a failure; save checkpoints on a volume, below a name that "
            "does not change"
        )
        job.findings.decide(requeue.span(1), text, help)
    elif job.chain:
        policy["backoffLimit"] = job.chain - 1
    elif limit := options.amount("time"):
        policy["activeDeadlineSeconds"] = limit

    if requeue is not None or "requeue" in options:
        policy["onDisruption"] = "Ignore"
    elif "no-requeue" in options:
        policy["onDisruption"] = "FailJob"

    return {**policy, "suspend": True} if "hold" in options else policy


def _retries(job: ScriptJob) -> int | str:
    """Return how often a script requeues itself, as far as it compares the count."""
    match = _limit.search(job.text)
    if match is None or _trap.search(job.text) is not None:
        return "Unlimited"
    written = (match["before"] or match["after"]).strip("${}")
    number = atoi(known_text(job.followed.variables.get(written)) or written)
    return "Unlimited" if number is None else number


_prefix = re.compile(r"^(?:APPTAINERENV|SINGULARITYENV)_")


def _env(job: ScriptJob, launch: StepLaunch) -> JsonDict:
    """Return the variables of the pods, with the values that they have in the script."""
    findings = job.findings
    exported: dict[str, str] = {}
    asked: dict[str, Offsets] = {}
    for option in [
        options["export"] for options in (job.options, job.first.options) if "export" in options
    ]:
        for item in option.value.split(","):
            name, equals, value = item.partition("=")
            if equals:
                exported[name] = value
            elif name not in ("ALL", "NONE", "NIL", ""):
                asked[name] = option.place

    exported |= {_prefix.sub("", name): value for name, value in job.first.env.items()}
    asked |= exports_of_shell(job.text)
    for name, place in asked.items():
        if name in findings.secret_names:
            exported.setdefault(name, "")
        elif name not in exported and not is_rendezvous(name, ""):
            text = f"{name} is exported from the submitting shell, whose value is not known"
            findings.miss(place, text, f"set env.{name}")

    places = {
        name: _place_of_variable(job.text, name) or asked.get(name, (0, 0)) for name in exported
    }
    kept = kept_variables(job.first, exported, findings, places)
    env = {**kept, **job.step.container.env, **launch.env}

    return {name: findings.with_references(value) for name, value in env.items()}


def _place_of_variable(text: str, name: str) -> Offsets | None:
    """Return the line that assigns a variable."""
    pattern = rf"(?m)^.*?(?<![\w$])(?:APPTAINERENV_|SINGULARITYENV_)?{re.escape(name)}=.*$"
    match = re.search(pattern, text)
    return None if match is None else match.span()


def _report_unknown(job: ScriptJob, fields: Mapping[str, Any], swept: Collection[str]) -> None:
    """Report what the shell would have put into the program's arguments and variables."""
    place, findings = job.step.place, job.findings
    env = fields.get("env", {})
    known = {*env, *swept, *findings.secrets}
    words = [
        fields.get("script", ""),
        fields.get("module", ""),
        *fields.get("command", ()),
        *fields.get("args", ()),
    ]
    for name in dict.fromkeys(name for word in words for name in unresolved(word, known)):
        if re.fullmatch(r"\w+", name):
            help = f"import with --set {name}=VALUE"
        else:
            help = "write the value"
        hint = _hint(job, name) or (" (arguments of sbatch)" if name.isdigit() else "")
        findings.miss(place, f"{_variable_text(name)} is not known{hint}", help)

    for name, value in env.items():
        if not isinstance(value, str):
            continue
        for inner in unresolved(value, known):
            text = f"env.{name} has {_variable_text(inner)}, which no pod sets{_hint(job, inner)}"
            findings.miss(place, text, f"write the value of env.{name}")

    offset = job.text.find('"$@"') + 1
    if offset and "1" not in job.values:
        text = 'the arguments of sbatch, "$@", are not known'
        findings.miss((offset, offset + 2), text, "import with --set 1=VALUE, or add to args")


def _variable_text(name: str) -> str:
    """Return a variable with its sign, or another expansion as it is written."""
    return name if name.startswith(("$", "`")) else f"${name}"


def _hint(job: ScriptJob, name: str) -> str:
    """Return what takes the place of a variable of Slurm, or what the script assigns to another."""
    meaning = load_table("linter/slurm.json")["instead"].get(name)
    match = re.search(rf"(?m)^[ \t]*(?:export[ \t]+)?{re.escape(name)}=(?P<value>\S.*)$", job.text)
    if meaning:
        return f": use {meaning}"
    if match is not None:
        return f": it is {shortened([match['value']])} in the script"
    return ""


def comments_of(job: ScriptJob, document: Mapping[str, Any]) -> dict[Path, str]:
    """Return the line that each amount comes from."""
    comments: dict[Path, str] = {}
    for field, names in rows_of("amounts").items():
        path = ("spec", *field.split("."))
        place = job.options.place(*names)
        if get(document, path) and any(place):
            written = next(job.options[name].written for name in names if name in job.options)
            line = job.findings.source.span(*place).line
            comments[path] = f"line {line}: {job.findings.quoted(written)}"
    return comments
