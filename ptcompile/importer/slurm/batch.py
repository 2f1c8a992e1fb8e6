"""A batch script of Slurm as specs: directives and program are read, and what has no place in a spec is reported."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.diagnostics import Path, Problem
from ptcompile.importer.slurm import leftovers, sweeps
from ptcompile.importer.slurm.allocation import Allocation, allocate, variables_of
from ptcompile.importer.slurm.amounts import array_of, mebibytes_of, quantity_of
from ptcompile.importer.slurm.containers import StepContainer, container_of_options
from ptcompile.importer.slurm.directives import Directives, SlurmOption, last_values, read_directives
from ptcompile.importer.slurm.findings import ScriptFindings, exports_of_shell, shortened, unresolved
from ptcompile.importer.slurm.launch import StepLaunch, read_launch
from ptcompile.importer.slurm.policy import read_policy
from ptcompile.importer.slurm.program import FollowedScript, ScriptStep, follow_batch, rank_of
from ptcompile.kubernetes.commands import SHELLS, basename
from ptcompile.shell.values import is_known, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.importer.slurm.sweeps import Sweep
    from ptcompile.source.documents import Source

API_VERSION = "ptcompile/v1"
_MAX_NAME = 40
"""Maximum length of a job's name: the operators add to it."""

_shebang = re.compile(r"#![ \t]*(?:\S*/env[ \t]+(?:-\S+[ \t]+)*)?(\S+)").match
_unfit = re.compile(r"[^a-z0-9]+")


class ScriptSpec(NamedTuple):
    """A spec of a script, with the lines that its values come from."""

    document: dict[str, Any]
    comments: Mapping[Path, str]


class ImportedScript(NamedTuple):
    """The specs of a script, and what has to be said about them; none if it is refused."""

    specs: tuple[ScriptSpec, ...]
    problems: tuple[Problem, ...]


def import_script(source: Source, filename: str | None, values: Mapping[str, str]) -> ImportedScript:
    """Return the specs that a batch script means.

    `values` are arguments of sbatch (`1`), variables of the submitting shell, and what partitions, accounts and QOS
    are on the cluster (`partition.gpu`).
    """
    findings = ScriptFindings(source)
    batch = _Batch(source, filename, values, findings)
    specs = batch.specs()
    return ImportedScript(() if findings.is_refused else tuple(specs), tuple(findings.in_order()))


class _Batch:
    """A batch script, read in the order in which its parts depend on one another."""

    def __init__(
        self, source: Source, filename: str | None, values: Mapping[str, str], findings: ScriptFindings
    ) -> None:
        self.findings = findings
        self.values = values
        self.text = _unix_text(source.text)
        self.directives: Directives = read_directives(self.text)
        self.options: dict[str, SlurmOption] = last_values(self.directives.options)
        self.allocation: Allocation = allocate(self.options)
        self.name = self.options["job-name"].value if "job-name" in self.options else _stem(filename)
        self.arguments = _arguments(values)
        self.comments: dict[Path, str] = {}
        self.spec: dict[str, Any] = {}

    def specs(self) -> list[ScriptSpec]:
        """Return the specs, and report what they lack."""
        if not self._is_for_shell():
            return []
        followed = self._follow({}, {})
        for each in followed.steps:
            self.findings.learn_secrets(each.env)
        step = self._choose(followed)
        leftovers.report_directives(self.directives, self.findings, self._settled())
        commands = [(command.words, (command.start, command.argv[-1].end)) for command in followed.setup]
        leftovers.report_setup(commands, self.findings)
        if step is None or self.findings.is_refused:
            return []
        sweep = self._sweep(followed, step)
        symbols = {**_symbols(step), **(sweep.symbols if sweep is not None else {})}
        index = {sweeps.INDEX: sweep.at} if sweep is not None else {}
        chosen = self._followed_step(index, symbols, step)
        self._fill(chosen or step, step, followed, sweep)
        return self._documents(sweep)

    def _follow(self, more: Mapping[str, str], symbols: Mapping[str, str]) -> FollowedScript:
        env = variables_of(self.allocation, self.options, self.name)
        given = {name: value for name, value in self.values.items() if name.isidentifier()}
        return follow_batch(self.text, {**env, **given, **more}, self.arguments, {**given, **symbols})

    def _followed_step(
        self, more: Mapping[str, str], symbols: Mapping[str, str], like: ScriptStep
    ) -> ScriptStep | None:
        """Return the same step with other variables."""
        steps = self._follow(more, symbols).steps
        return next((step for step in steps if step.place == like.place), None)

    def _is_for_shell(self) -> bool:
        """Return whether a shell runs the script, and report what sbatch does not accept as one."""
        first_line = self.text.partition("\n")[0]
        place = (0, len(first_line))
        match = _shebang(first_line)
        if match is None:
            text = "sbatch rejects a script whose first line does not begin with #!"
            self.findings.add("rejected-directive", place, text, "write #!/bin/bash")
        elif basename(match[1]) not in SHELLS:
            text = f"the script is a program of {basename(match[1])}, not of a shell"
            self.findings.refuse(place, text, "write a spec with its file as script")
        if "\r\n" in self.findings.source.text:
            text = "sbatch rejects a script with DOS line breaks"
            self.findings.add("rejected-directive", place, text, "save it with Unix line breaks")
        if len(self.directives.components) > 1:
            self._refuse_components()
        return match is None or basename(match[1]) in SHELLS

    def _refuse_components(self) -> None:
        second = next((option for option in self.directives.components[1]), None)
        place = (second.start, second.end) if second is not None else (0, 0)
        named = {option.name: option.value for option in self.directives.components[1]}
        text = f"a hetjob has components with other nodes: component 1 is {named.get('job-name', 'another')}"
        help = "write a spec for component 0, with the others as auxiliary roles (roles), or a spec for each"
        self.findings.refuse(place, text, help)

    def _settled(self) -> set[str]:
        """Return the options of which a table of `--set` says what they are on the cluster."""
        return {
            option.name
            for option in self.options.values()
            if f"{option.name}.{option.value}" in self.values or (option.name == "chdir" and option.value == ".")
        }

    # the program

    def _choose(self, followed: FollowedScript) -> ScriptStep | None:
        """Return the step that trains, or None if the script is refused."""
        steps = [step for step in followed.steps if not self._is_own_resubmission(step)]
        for step in steps:
            self._refuse_program(step)
        if followed.script.unread is not None:
            doubt = followed.script.unread
            text = f"the script cannot be followed from line {doubt.line} on: {doubt.text}"
            self.findings.decide((0, 0), text, "import a simpler script, or check what the spec starts")
        if not steps:
            text = "the script starts no program that trains"
            self.findings.refuse((0, 0), text, "import the script that has torchrun, accelerate or python")
            return None
        chosen = max(enumerate(steps), key=lambda numbered: self._rank(numbered[1], numbered[0]))[1]
        self._check_others(chosen, steps)
        if self.findings.is_refused:
            for step in steps:
                leftovers.report_step_options(step, self.findings, self._settled())
        return chosen

    def _rank(self, step: ScriptStep, number: int) -> tuple[int, bool, int]:
        allocation = self._allocation_of(step)
        is_named = any(_TRAINS(word) for word in step.argv)
        return rank_of(step, allocation.tasks * allocation.nodes.most), is_named, number

    def _is_own_resubmission(self, step: ScriptStep) -> bool:
        return step.program == "sbatch" and any(word in ("$0", "$BASH_SOURCE") for word in step.argv)

    def _refuse_program(self, step: ScriptStep) -> None:
        place = step.command.start, step.command.argv[-1].end
        launcher = step.invocation.launcher
        written = shortened(step.command.words)
        if launcher == "mpirun":
            text = f"{step.program} starts the processes of all nodes: no target does that"
            self.findings.refuse(
                place, f"{text} ({written})", "write a spec with script: torchrun starts it on each node"
            )
        elif launcher == "ray" or step.program == "ray":
            self.findings.refuse(place, f"a Ray cluster is not a torchrun job ({written})", "write a RayJob")
        elif "submitit.core._submit" in step.argv:
            text = f"submitit runs a pickled function from {step.argv[-1]}, which reads SLURM_ variables"
            self.findings.refuse(place, text, "import the script that submitit was called for, as script")
        elif step.program in ("sbatch", "salloc", "qsub", "bsub"):
            text = f"the script submits other scripts: {written}"
            self.findings.refuse(place, text, "import the script that it submits")

    def _check_others(self, chosen: ScriptStep, steps: Sequence[ScriptStep]) -> None:
        """Refuse programs that run at the same time, and report the others."""
        others = [step for step in steps if step.place != chosen.place and rank_of(step, 1) > 1]
        same = [step for step in steps if step.place == chosen.place]
        together = [step for step in (*others, chosen) if step.command.in_background]
        place = chosen.command.start, chosen.command.argv[-1].end
        if others and together:
            names = " and ".join(dict.fromkeys(shortened(step.command.words) for step in (*others, chosen)))
            help = "write a spec for each, or a spec with roles for the programs that serve the one that trains"
            self.findings.refuse(place, f"several programs run at once: {names}", help)
        elif len(same) > 1 and chosen.command.in_background and "node-rank" not in chosen.invocation.options:
            text = f"{len(same)} programs run at once in one allocation: {shortened(chosen.command.words)}"
            self.findings.refuse(place, text, "each is a separate job: write a spec for each, or variants")
        elif len(same) > 1:
            text = f"a loop starts {len(same)} programs one after another, of which the spec has the first"
            self.findings.decide(place, text, "write a spec, or a variant, for each")
        elif chosen.command.in_loop:
            text = f"a loop may start {shortened(chosen.command.words)} several times"
            self.findings.decide(place, text, "runPolicy.backoffLimit restarts a job that fails")
        leftovers.report_other_steps(chosen, [step for step in steps if step is not chosen], self.findings)

    def _allocation_of(self, step: ScriptStep) -> Allocation:
        """Return what a step gets on each node: its own options win over those of the job."""
        own = last_values(step.options)
        counts = {"nodes", "ntasks", "ntasks-per-node", "tasks-per-node"}
        inherited = self.options
        is_placed = "nodelist" in own and step.command.in_background
        if is_placed:  # a loop starts one task on each node by its name
            own = {name: option for name, option in own.items() if name not in counts}
        elif "ntasks" in own and "nodes" not in own:
            inherited = {name: option for name, option in inherited.items() if name != "ntasks"}
        elif counts & own.keys():
            inherited = {name: option for name, option in inherited.items() if name not in counts - {"nodes"}}
        return allocate({**inherited, **own})

    # the array

    def _sweep(self, followed: FollowedScript, step: ScriptStep) -> Sweep | None:
        option = self.options.get("array")
        array = array_of(option.value) if option is not None else None
        if option is None or array is None:
            return None
        sweep = None
        if not self._is_chain(followed):
            sweep = sweeps.read_sweep(
                array, followed, step, lambda more, symbols: self._followed_step(more, symbols, step)
            )
        place = option.start, option.end
        sweeps.report_array(array, place, sweep, self.findings, is_chain=self._is_chain(followed))
        return sweep

    def _is_chain(self, followed: FollowedScript) -> bool:
        """Return whether the jobs of the array are one long training, one after another."""
        option = self.options.get("array")
        array = array_of(option.value) if option is not None else None
        dependency = self.options["dependency"].value if "dependency" in self.options else ""
        is_one_by_one = array is not None and (array.at_once == 1 or dependency == "singleton")
        return is_one_by_one and array is not None and array.size > 1 and sweeps.INDEX not in followed.reads

    # the spec

    def _fill(self, step: ScriptStep, first: ScriptStep, followed: FollowedScript, sweep: Sweep | None) -> None:
        """Set the fields of the spec. `first` is the step with the values of its variables, `step` with symbols."""
        allocation = self._allocation_of(step)
        place = step.command.start, step.command.argv[-1].end
        for option, text in allocation.doubts:
            given = self.options.get(option)
            where = (given.start, given.end) if given is not None else place
            self.findings.decide(where, f"--{option}: {text}", "check nodes and elastic.nprocPerNode")
        if step.invocation.launcher == "torchrun" and step.is_parallel and allocation.tasks > 1:
            text = f"srun starts torchrun in each task: ntasks-per-node={allocation.tasks} of srun torchrun"
            self.findings.refuse(place, text, "torchrun starts the processes of a node: set --ntasks-per-node=1")
        leftovers.report_step_options(step, self.findings, self._settled())
        leftovers.report_setup([(words, place) for words in step.prepares], self.findings)

        launch = read_launch(step, allocation, self.findings)
        container = self._container(step)
        env = self._env(first, launch, container)
        self._set_start(launch, container, place)
        self._set_resources(allocation)
        swept = sweep.axes if sweep is not None else {}
        env = {name: value for name, value in env.items() if name not in swept}
        if env or swept:
            self.spec["env"] = env
        self._set_policy(followed)
        self._set_places()
        self._report_unknown(place, env, {*env, *swept})

    def _container(self, step: ScriptStep) -> StepContainer:
        own = step.container
        given = container_of_options(self.options)
        return StepContainer(
            image=own.image or given.image,
            file=own.file or given.file,
            mounts=own.mounts or given.mounts,
            folder=own.folder or given.folder,
            env=own.env,
        )

    def _set_start(self, launch: StepLaunch, container: StepContainer, place: tuple[int, int]) -> None:
        if container.image:
            self.spec["image"] = container.image
        else:
            named = f": {container.file} is a file of the cluster, not an image" if container.file else ""
            text = f"image: the script names no image{named}"
            help = "build an image with the code and what its modules and environments have, and set image"
            self.findings.add("script-without-image", place, text, help)
        fields = {name: self._clean(value) for name, value in launch.fields.items()}
        self.spec |= {name: fields[name] for name in ("script", "module", "command", "args") if name in fields}
        if launch.nodes > 1:
            self.spec["nodes"] = launch.nodes
            self._comment("nodes", ("spec", "nodes"), "ntasks")
        if "elastic" in fields:
            self.spec["elastic"] = fields["elastic"]
        folder = container.folder or (self.options["chdir"].value if "chdir" in self.options else "")
        if folder.startswith("/") and "$" not in folder:
            self.spec["workingDir"] = folder
        self._set_mounts(container, place)

    def _set_mounts(self, container: StepContainer, place: tuple[int, int]) -> None:
        """Mount a volume for each folder: which one it is on the cluster, the reader decides."""
        volumes: dict[str, dict[str, Any]] = {}
        mounts: list[dict[str, Any]] = []
        for mount in container.mounts:
            name = _label(mount.target) or "volume"
            if not mount.target.startswith("/") or any(other["mountPath"] == mount.target for other in mounts):
                continue
            volumes[name] = {"name": name, "persistentVolumeClaim": {"claimName": name}}
            read_only = {"readOnly": True} if mount.is_read_only else {}
            mounts.append({"name": name, "mountPath": mount.target, **read_only})
        if not mounts:
            return
        self.spec["volumes"] = list(volumes.values())
        self.spec["volumeMounts"] = mounts
        listed = ", ".join(f"{mount.source} at {mount.target}" for mount in container.mounts)
        text = f"the mounts (-B, --container-mounts, -v) are folders of the old nodes: {listed}"
        self.findings.decide(
            place, text, "the spec mounts a claim for each: create the claims, or choose other volumes"
        )

    def _set_resources(self, allocation: Allocation) -> None:
        disk = mebibytes_of(self.options["tmp"].value) if "tmp" in self.options else None
        amounts = {
            "cpu": allocation.cpus,
            "memory": quantity_of(allocation.memory) if allocation.memory else None,
            "gpu": allocation.gpus,
            "devices": dict(allocation.devices),
            "ephemeralStorage": quantity_of(disk) if disk else None,
        }
        if resources := {field: amount for field, amount in amounts.items() if amount}:
            self.spec["resources"] = resources
        if allocation.memory == 0:
            self._decide_option("mem", "all memory of the node, mem=0, is not an amount", "choose resources.memory")
        for field, names in _SOURCES.items():
            self._comment_first(names, ("spec", "resources", field))
        if "exclusive" in self.options and allocation.gpus is None and not allocation.devices:
            text = "--exclusive gives all GPUs of the node, whose number the script does not say"
            self._decide_option("exclusive", text, "set resources.gpu")
        for resource in allocation.other:
            text = f"gres {resource.name}:{resource.amount}"
            self.findings.leave(self._place_of("gres"), text, "set resources.ephemeralStorage, devices, or a volume")
        if allocation.gpu_type:
            self._set_accelerator(allocation.gpu_type)

    def _set_accelerator(self, name: str) -> None:
        from ptcompile.hardware.accelerators import ROWS

        vendor = "amd" if name.lower().startswith("mi") else "nvidia"
        product = f"{vendor}-{name.lower()}"
        option = next(
            (given for given in ("gres", "gpus-per-node", "gpus", "gpus-per-task") if given in self.options), ""
        )
        if product in ROWS:
            self.spec["accelerator"] = product
            return
        text = f"gres type {name} is a name of the site"
        matches = [row for row in ROWS if row.startswith(product)]
        help = f"set accelerator: {' or '.join(matches)}" if matches else "set accelerator, or a nodeSelector"
        self.findings.leave(self._place_of(option), text, help)

    def _set_policy(self, followed: FollowedScript) -> None:
        end = read_policy(self.options, self.text, followed.variables, self.findings, is_chain=self._is_chain(followed))
        if end.policy:
            self.spec["runPolicy"] = dict(end.policy)
            self._comment("time", ("spec", "runPolicy", "activeDeadlineSeconds"))
        if end.grace is not None:
            self.spec["terminationGracePeriodSeconds"] = end.grace

    def _set_places(self) -> None:
        """Set queue and priority from the tables that are given."""
        for option, field in (("partition", "queue"), ("account", "queue"), ("qos", "priority")):
            if option in self.options:
                value = self.values.get(f"{option}.{self.options[option].value}")
                self.spec |= {field: value} if value else {}

    def _env(self, first: ScriptStep, launch: StepLaunch, container: StepContainer) -> dict[str, Any]:
        """Return the variables of the pods, with the values that they have in the script."""
        exported = {**self._passed(first), **first.env}
        inside = {
            name.removeprefix(prefix): name
            for name in exported
            for prefix in ("APPTAINERENV_", "SINGULARITYENV_")
            if name.startswith(prefix)
        }
        for name, outer in inside.items():
            exported[name] = exported.pop(outer)
        places = exports_of_shell(self.text)

        def place_of(name: str) -> tuple[int, int]:
            written = re.escape(inside.get(name, name))
            match = re.search(rf"(?m)^.*?(?<![\w$]){written}=.*$", self.text)
            return match.span() if match is not None else places.get(name, (0, 0))

        for name, place in places.items():
            if name in exported or leftovers.is_rendezvous(name, ""):
                continue
            if name in self.findings.secret_names:
                exported[name] = ""
            else:
                text = f"{name} is exported from the submitting shell, whose value is not known"
                self.findings.add("script-unknown-value", place, text, f"set env.{name}")
        kept = leftovers.report_variables(first, exported, self.findings, place_of)
        env = {**kept, **container.env, **launch.env}
        return {name: self._clean(value) for name, value in env.items()}

    def _passed(self, step: ScriptStep) -> dict[str, str]:
        """Return the variables that `--export` sets, and report those that it takes from the submitting shell."""
        options = [self.options.get("export"), last_values(step.options).get("export")]
        passed: dict[str, str] = {}
        for option in options:
            for item in option.value.split(",") if option is not None else ():
                name, equals, value = item.partition("=")
                if equals:
                    passed[name] = value
                elif name not in ("ALL", "NONE", "NIL", "") and option is not None:
                    text = f"{name} is exported from the submitting shell, whose value is not known"
                    place = option.start, option.end
                    self.findings.add("script-unknown-value", place, text, f"set env.{name}")
        return passed

    def _report_unknown(self, place: tuple[int, int], env: Mapping[str, Any], known: Iterable[str]) -> None:
        """Report what the shell would have put into the program's arguments and variables."""
        known = dict.fromkeys((*known, *self.findings.secrets))
        texts = [text for name in ("script", "module", "command", "args") for text in _texts(self.spec.get(name))]
        names = dict.fromkeys(name for text in texts for name in unresolved(text, known))
        for name in names:
            help = f"import with --set {name}=VALUE" if re.fullmatch(r"\w+", name) else "write the value"
            hint = self._hint(name) or (" (arguments of sbatch)" if name.isdigit() else "")
            self.findings.add("script-unknown-value", place, f"{_written(name)} is not known{hint}", help)
        for name, value in env.items():
            for inner in unresolved(value, known) if isinstance(value, str) else ():
                text = f"env.{name} has {_written(inner)}, which no pod sets{self._hint(inner)}"
                self.findings.add("script-unknown-value", place, text, f"write the value of env.{name}")
        if '"$@"' in self.text or "$*" in self.text:
            offset = self.text.find("$@")
            if not self.arguments:
                text = 'the arguments of sbatch, "$@", are not known'
                self.findings.add(
                    "script-unknown-value", (offset, offset + 2), text, "import with --set 1=VALUE, or add to args"
                )

    def _hint(self, name: str) -> str:
        meaning = load_table("linter/slurm.json")["instead"].get(name)
        if meaning:
            return f": use {meaning}"
        value = self._last_value(name)
        return f": it is {value} in the script" if value else ""

    def _last_value(self, name: str) -> str:
        match = re.search(rf"(?m)^[ \t]*(?:export[ \t]+)?{re.escape(name)}=(\S.*)$", self.text)
        return shortened([match[1]]) if match is not None else ""

    def _documents(self, sweep: Sweep | None) -> list[ScriptSpec]:
        name = _label(self.name)[:_MAX_NAME].strip("-") or "job"
        if "job-name" in self.options and name != self.name:
            text = f"the job is called {name}: {self.name} is not a name of Kubernetes"
            self.findings.add("script-left-behind", self._place_of("job-name"), text, None, "note")
        order = [field for field in _ORDER if field in self.spec]
        document = {
            "apiVersion": API_VERSION,
            "kind": "TrainingJob",
            "metadata": {"name": name},
            "spec": {field: self.spec[field] for field in order},
        }
        return [ScriptSpec(each, self.comments) for each in sweeps.as_documents(document, sweep)]

    # helpers

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.findings.with_references(value)
        if isinstance(value, list):
            return [self._clean(item) for item in value]
        return value

    def _place_of(self, name: str) -> tuple[int, int]:
        option = self.options.get(name)
        return (0, 0) if option is None else (option.start, option.end)

    def _decide_option(self, name: str, text: str, help: str) -> None:
        self.findings.decide(self._place_of(name), text, help)

    def _comment_first(self, names: Sequence[str], path: Path) -> None:
        self._comment(next((name for name in names if name in self.options), ""), path)

    def _comment(self, name: str, path: Path, *others: str) -> None:
        """Note the line that a value comes from."""
        option = self.options.get(name) or next(
            (self.options[other] for other in others if other in self.options), None
        )
        value: Any = {"spec": self.spec}
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if option is not None and value is not None:
            self.comments[path] = f"line {self.findings.line(option.start)}: {self.findings.quoted(option.written)}"


_SOURCES = {
    "cpu": ("cpus-per-task", "cpus-per-gpu"),
    "memory": ("mem", "mem-per-cpu", "mem-per-gpu"),
    "gpu": ("gpus-per-node", "gres", "gpus-per-task", "gpus"),
}
"""The options that amounts come from."""
_ORDER = (
    "image", "script", "module", "command", "args", "nodes", "elastic", "accelerator", "resources", "env", "workingDir",
    "volumes", "volumeMounts", "runPolicy", "terminationGracePeriodSeconds", "queue", "priority",
)  # fmt: skip
_TRAINS = re.compile(
    r"(?i)(?:.*[/_.-])?(?:pre)?train|.*(?:finetune|fine_tune|sft|pretrain|main\.py|train\w*\.py)"
).match


def _symbols(step: ScriptStep) -> dict[str, str]:
    """Return what stands for variables whose values are not known: a reference if the pods have them, else `$NAME`."""
    symbols: dict[str, str] = {}
    for name, variable in step.variables.items():
        if variable.value is None or is_known(variable.value):
            continue
        text = text_of(variable.value)
        is_command = len(variable.value) == 1 and text.startswith(("$(", "`"))
        is_whole = not any(sign.isspace() for sign in text)
        is_passed = variable.is_exported and is_whole and not leftovers.is_rendezvous(name, text)
        if is_passed and not is_command:
            symbols[name] = f"$({name})"
        elif is_command:
            symbols[name] = f"${name}"
    return symbols


def _written(name: str) -> str:
    """Return a variable with its sign, or another expansion as it is written."""
    return f"${name}" if name[:1] not in ("$", "`") else name


def _texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [item for item in value or () if isinstance(item, str)]


def _label(text: str) -> str:
    return _unfit.sub("-", text.lower()).strip("-")


def _stem(filename: str | None) -> str:
    """Return the name of a job without --job-name: that of its file, or `sbatch` for the standard input."""
    name = basename(filename or "")
    return name.rpartition(".")[0] or name if name not in ("", "-", "<stdin>") else "sbatch"


def _arguments(values: Mapping[str, str]) -> tuple[str, ...]:
    """Return the arguments of sbatch that are given, from the first on without a gap."""
    arguments: list[str] = []
    while (number := str(len(arguments) + 1)) in values:
        arguments.append(values[number])
    return tuple(arguments)


def _unix_text(text: str) -> str:
    """Return a text with Unix line breaks at the same offsets."""
    return text.replace("\\\r\n", " \\\n").replace("\r\n", " \n") if "\r" in text else text
