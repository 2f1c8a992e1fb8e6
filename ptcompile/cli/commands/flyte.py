"""`ptcompile flyte`: the PyTorch tasks of a Flyte project as manifests. Only this command imports a user's module."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout

from ptcompile.cli import files
from ptcompile.cli.commands.compile import write
from ptcompile.cli.files import InputFile, UsageError
from ptcompile.cli.options import add_output_format, check_target
from ptcompile.cli.reporter import Findings
from ptcompile.source import documents as source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.api.compile import Result
    from ptcompile.diagnostics import Diagnostic

    _Functions = dict[str | None, Callable[..., Any]]
    """The function that a finding is about, by `TrainingJob/NAME`; None is the workflow's."""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its options."""
    one = commands.add_parser(
        "flyte",
        help="write manifests for a Flyte task, or for a workflow's PyTorch tasks",
        description="Write the manifests of a Flyte task, or of each PyTorch task of a workflow. FILE.py is imported, "
        "as pyflyte does, so its imports must be installed here; no task is run. In the pods ptcompile.flyte.run calls "
        "the task's function with its inputs, once a process.",
        allow_abbrev=False,
    )
    one.add_argument("task", metavar="FILE.py:TASK", help="a task or a workflow; MODULE:TASK is fine too")
    one.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an input (repeatable); lists, dicts and dataclasses as JSON, or a .json or .yaml file",
    )
    one.add_argument("--target", metavar="T", help="operator to write manifests for (see `ptcompile targets`)")
    one.add_argument("--name", metavar="NAME", help="name of the job (default: the task's name)")
    one.add_argument("--namespace", metavar="NS", help="namespace of the job")
    one.add_argument("--module", metavar="M", help="the task's module inside the image (default: that of FILE.py)")
    one.add_argument("--embed", action="store_true", help="ship ptcompile.flyte.run in a ConfigMap")
    one.add_argument(
        "--image",
        action="append",
        default=[],
        metavar="[NAME=]IMAGE",
        help="image for tasks without one, or for {{.image.NAME}}",
    )
    one.add_argument("--cluster", metavar="FILE", help="the cluster profile (kind: ClusterProfile)")
    one.add_argument("-o", "--output", metavar="OUT", help="write to a file, or to a directory if it ends with /")
    one.add_argument(
        "--format", choices=("yaml", "json"), default="yaml", help="format of the manifests (default: yaml)"
    )
    add_output_format(one)
    one.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compile a task or a workflow. One error anywhere, and nothing is written."""
    check_target(options.target)
    findings = Findings(options.output_format)
    profile = findings.read_profile(options.cluster)
    if profile is None:
        return findings.finish()
    with redirect_stdout(sys.stderr):  # whatever the user's module prints
        result, functions = _compiled(options, profile)
    _tell(findings, options.task.rpartition(":")[0], result, functions)
    status = findings.finish()
    outputs = {"": {options.task.rpartition(":")[0]: list(result.manifests)}}
    return status or write(outputs, options.output, options.format)


def _compiled(options: argparse.Namespace, profile: Any) -> tuple[Result, _Functions]:
    """What the task or the workflow compiles to. Raises `UsageError` for what cannot be imported, or is neither."""
    from ptcompile import flyte
    from ptcompile.flyte.workflows import is_workflow

    found, inputs = _loaded(options)
    knobs = {"module": options.module, "embed": options.embed or None, **_images(options.image)}
    knobs |= {"inputs": _with_files(inputs, found), "target": options.target, "namespace": options.namespace}
    knobs = {name: value for name, value in knobs.items() if value is not None}
    if not is_workflow(found):
        try:
            task = flyte.from_task(found, **knobs)
        except TypeError as error:
            raise UsageError(f"{options.task}: {error}") from None
        return task.compile(options.name, cluster=profile), {None: task.function}
    if options.name is not None:
        raise UsageError("--name is for one job, and a workflow may have several")
    workflow = flyte.from_workflow(found, **knobs)
    functions: _Functions = {f"TrainingJob/{one.job_name}": one.function for one in workflow.tasks}
    if hasattr(found, "function"):
        functions[None] = found.function
    return workflow.compile(cluster=profile), functions


def _loaded(options: argparse.Namespace) -> tuple[Any, dict[str, str]]:
    """The object that is named, a workflow compiled by flytekit, and the inputs. All that runs code of the user's."""
    from ptcompile.flyte import run as runner
    from ptcompile.flyte.workflows import is_workflow

    what = "imported"
    try:
        inputs = runner.parse_inputs(options.input)
        found = runner.load_task(options.task)
        what = "compiled by flytekit"
        if is_workflow(found):
            _ = found.nodes
    except runner.TaskCallError as error:
        raise UsageError(str(error)) from None
    except (Exception, SystemExit) as error:
        raise UsageError(_why(options.task, what, error)) from error
    return found, inputs


def _with_files(inputs: Mapping[str, str], found: Any) -> dict[str, Any]:
    """The inputs, with the content of the JSON or YAML files that are named instead of values, as in `pyflyte run`."""
    from ptcompile.flyte import run as runner

    function = getattr(found, "task_function", getattr(found, "function", None))
    hints = runner.hints_of(function) if callable(function) else {}
    plain = (str, int, float, bool)
    return {
        name: text if hints.get(name, str) in plain or not text.endswith((".json", ".yaml", ".yml")) else _content(text)
        for name, text in inputs.items()
    }


def _content(path: str) -> Any:
    content = files.read(path)
    if path.endswith(".json"):
        return content.decode("utf-8-sig", errors="replace")
    read = source.read(content, path)
    if read.problems or len(read.documents) != 1:
        raise UsageError(f"--input {path}: it has to be one YAML document, a mapping")
    return read.documents[0].data


def _images(given: Sequence[str]) -> dict[str, Any]:
    """`--image IMAGE` is the default one, `--image NAME=IMAGE` a named one, as in pyflyte."""
    named = dict(one.split("=", 1) for one in given if "=" in one)
    plain = [one for one in given if "=" not in one]
    return {"images": named or None, "image": plain[-1] if plain else None}


def _why(task: str, what: str, error: BaseException) -> str:
    """Why user's code fails, in one line: the exception, and its last line in the file that was named."""
    where = task.rpartition(":")[0]
    frames = traceback.extract_tb(error.__traceback__)
    own = [one for one in frames if where.endswith(".py") and os.path.realpath(one.filename) == os.path.realpath(where)]
    line = f" (line {own[-1].lineno})" if own else ""
    reason = " ".join(str(error).split())
    return f"{where if what == 'imported' else task} cannot be {what}{line}: {type(error).__name__}: {reason}"


def _tell(findings: Findings, where: str, result: Result, functions: _Functions) -> None:
    """Hand each finding over with its place in the file of its task."""
    by_file: dict[str, list[Diagnostic]] = {where: []}
    texts: dict[str, bytes] = {}
    for one in result.diagnostics:
        name, placed = _placed(one, where, functions.get(one.resource) or functions.get(None), texts)
        by_file.setdefault(name, []).append(placed)
    for name, found in by_file.items():
        findings.add(InputFile(name, texts.get(name, b""), True), found)


def _placed(
    found: Diagnostic, where: str, function: Callable[..., Any] | None, texts: dict[str, bytes]
) -> tuple[str, Diagnostic]:
    from ptcompile.flyte import findings as places

    file = places.file_of(function) if function is not None else None
    if function is None or file is None or not os.path.isfile(file):
        return where, found._replace(filename=where)
    same = os.path.realpath(file) == os.path.realpath(where)
    name = where if same else os.path.relpath(file)
    content = texts.setdefault(name, files.read(file))
    at = places.call_span(function, content.decode("utf-8-sig", errors="replace"), found.path)
    return name, found._replace(filename=name, span=at)
