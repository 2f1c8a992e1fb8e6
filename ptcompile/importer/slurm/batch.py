"""A batch script of Slurm as a spec: directives and program are read, and what has no place in a
spec is reported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import count, takewhile
from os.path import splitext

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Path, Problem
from ptcompile.importer.slurm import leftovers, sweeps
from ptcompile.importer.slurm.allocation import allocate, variables_of
from ptcompile.importer.slurm.amounts import ArrayIndexes
from ptcompile.importer.slurm.choice import choose_step
from ptcompile.importer.slurm.directives import last_values, read_directives
from ptcompile.importer.slurm.fields import ScriptJob, comments_of, fields_of
from ptcompile.importer.slurm.findings import ScriptFindings
from ptcompile.importer.slurm.program import FollowedScript, ScriptStep, follow_batch, place_of
from ptcompile.kubernetes.commands import SHELLS, basename
from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.source.documents import Source

_MAX_NAME = 40
"""Maximum length of a job's name: the operators add to it."""

_shebang = re.compile(r"#![ \t]*(?:\S*/env[ \t]+(?:-\S+[ \t]+)*)?(?P<program>\S+)").match


class ImportedScript(NamedTuple):
    """The spec of a script, and what has to be said about it."""

    document: JsonDict | None
    """None if the script is refused."""
    comments: Mapping[Path, str]
    """The lines that values of the spec come from."""
    problems: tuple[Problem, ...]


def import_script(
    source: Source, filename: str | None, values: Mapping[str, str]
) -> ImportedScript:
    """Return the spec that a batch script means.

    `values` are arguments of sbatch (`1`), variables of the submitting shell, and what partitions,
    accounts and QOS are on the cluster (`partition.gpu`).
    """
    findings = ScriptFindings(source)
    batch = _Batch(source.text, filename, values, findings)
    job = batch.job() if batch.is_for_shell() else None
    if job is None:
        return ImportedScript(None, {}, findings.in_order())

    document = batch.document(job)
    comments = comments_of(job, document)
    return ImportedScript(None if findings.is_refused else document, comments, findings.in_order())


class _Batch:
    """A batch script, with what is given when it is submitted."""

    def __init__(
        self, text: str, filename: str | None, values: Mapping[str, str], findings: ScriptFindings
    ) -> None:
        # line breaks of DOS become those of Unix at the same offsets
        self.text = text.replace("\\\r\n", " \\\n").replace("\r\n", " \n")
        self.values = values
        self.findings = findings
        self.directives = read_directives(self.text)
        self.options = last_values(self.directives.components[0])
        self.allocation = allocate(self.options)
        stem, _ = splitext(basename(filename or "-"))
        from_file = "sbatch" if stem in ("-", "<stdin>") else stem
        self.name = self.options.value("job-name") or from_file

    def is_for_shell(self) -> bool:
        """Return whether a shell runs the script, and report what sbatch does not accept as a batch
        script.
        """
        first_line = self.text.partition("\n")[0]
        place = (0, len(first_line))
        match = _shebang(first_line)
        program = "bash" if match is None else basename(match["program"])
        if match is None:
            text = "sbatch rejects a script whose first line does not begin with #!"
            self.findings.reject(place, text, "write #!/bin/bash")
        if program not in SHELLS:
            text = f"the script is a program of {program}, not of a shell"
            self.findings.refuse(place, text, "write a spec with its file as script")
        if "\r\n" in self.findings.source.text:
            text = "sbatch rejects a script with DOS line breaks"
            self.findings.reject(place, text, "save it with Unix line breaks")
        if len(self.directives.components) > 1:
            second = last_values(self.directives.components[1])
            place = next((option.place for option in second.values()), (0, 0))
            name = second.value("job-name") or "another"
            text = f"a hetjob has components with other nodes: component 1 is {name}"
            help = (
                "write a spec for component 0, with the others as auxiliary roles (roles), or a "
                "spec for each"
            )
            self.findings.refuse(place, text, help)

        return program in SHELLS

    def job(self) -> ScriptJob | None:
        """Return what the spec is made of, and report what it lacks; None if the script is
        refused.
        """
        findings = self.findings
        followed = self.follow({}, {})
        for each in followed.steps:
            findings.learn_secrets(each.env)
        findings.settled = {
            option.name
            for option in self.options.values()
            if f"{option.name}.{option.value}" in self.values
            or (option.name, option.value) == ("chdir", ".")
        }
        step = choose_step(followed, self.options, findings)
        leftovers.report_directives(self.directives, findings)
        leftovers.report_setup(
            [(command.words, place_of(command)) for command in followed.setup], findings
        )
        if step is None or findings.is_refused:
            return None

        array = self.options.amount("array")
        is_chain = array is not None and self._is_chain(array, followed)

        def again(more: Mapping[str, str], symbols: Mapping[str, str]) -> ScriptStep | None:
            """Return the same step with other variables, or None if it does not run then."""
            steps = self.follow(more, symbols).steps
            return next((each for each in steps if each.written == step.written), None)

        sweep = None
        if array is not None:
            if not is_chain:
                sweep = sweeps.read_sweep(array, followed, step, again)
            self._report_array(array, sweep, is_chain=is_chain)

        return ScriptJob(
            text=self.text,
            options=self.options,
            values=self.values,
            findings=findings,
            followed=followed,
            first=step,
            step=sweep.base if sweep is not None else again({}, sweeps.symbols_of(step)) or step,
            jobs=sweep.jobs if sweep is not None else (),
            chain=array.size if array is not None and is_chain else 0,
        )

    def document(self, job: ScriptJob) -> JsonDict:
        """Return the spec, with variants for the jobs of an array."""
        leftovers.report_step_options(job.step, self.findings)
        document = {
            "apiVersion": "ptcompile/v1",
            "kind": "TrainingJob",
            "metadata": {"name": self._job_name()},
            "spec": fields_of(job),
        }
        if job.jobs:
            return {**document, "variants": sweeps.as_variants(job.jobs)}

        return document

    def follow(self, more: Mapping[str, str], symbols: Mapping[str, str]) -> FollowedScript:
        """Return what the script runs with more variables, and with texts in the place of
        others.
        """
        given = {name: value for name, value in self.values.items() if name.isidentifier()}
        env = {**variables_of(self.allocation, self.options, self.name), **given, **more}
        return follow_batch(
            self.text, env, _arguments(self.values), {**given, **symbols}, self.options
        )

    def _is_chain(self, array: ArrayIndexes, followed: FollowedScript) -> bool:
        """Return whether the jobs of the array are one long training, one after another."""
        is_one_by_one = array.at_once == 1 or self.options.value("dependency") == "singleton"
        return is_one_by_one and array.size > 1 and sweeps.INDEX not in followed.reads

    def _report_array(
        self, array: ArrayIndexes, sweep: sweeps.Sweep | None, *, is_chain: bool
    ) -> None:
        """Say what became of an array."""
        place = self.options.place("array")
        limit = ""
        if array.at_once:
            limit = f"; %{array.at_once}, how many run at once, is a matter of the queue's quota"

        if is_chain:
            text = (
                f"an array of {array.size}, one after another, is one long training: one job with "
                "as many retries"
            )
            help = "each start must resume from the last checkpoint, on a volume"
            self.findings.decide(place, f"{text}{limit}", help)
        elif sweep is not None:
            text = (
                f"an array of {array.size} jobs, which differ in {', '.join(sweep.jobs[0])}: a "
                "variant for each"
            )
            self.findings.add(
                "script-array", place, f"{text}{limit}", "delete those that you do not need", "note"
            )
        else:
            text = f"an array of {array.size} jobs, of which the spec is one"
            help = "what differs is not in the script: write a variant for each set of values"
            self.findings.add("script-array", place, f"{text}{limit}", help)

    def _job_name(self) -> str:
        name = sweeps.label(self.name)[:_MAX_NAME].strip("-") or "job"
        if "job-name" in self.options and name != self.name:
            text = f"the job is called {name}: {self.name} is not a name of Kubernetes"
            self.findings.note(self.options.place("job-name"), text, None)
        return name


def _arguments(values: Mapping[str, str]) -> list[str]:
    """Return the arguments of sbatch that are given, from the first on without a gap."""
    return [values[number] for number in takewhile(values.__contains__, map(str, count(1)))]
