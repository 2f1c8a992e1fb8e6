"""`ptcompile flyte`: manifests for the PyTorch tasks of a Flyte project. Only this command
imports a user's module.
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import replace

from ptcompile.cli import files
from ptcompile.cli.commands.compile import write
from ptcompile.cli.files import InputFile, UsageError
from ptcompile.cli.options import check_target
from ptcompile.cli.reporter import Reporter
from ptcompile.kubernetes.unstructured import JsonDict, without_none
from ptcompile.source import documents as source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.api.compile import Result
    from ptcompile.diagnostics import Diagnostic
    from ptcompile.flyte import Task, Workflow

    _Functions = dict[str | None, Callable[..., Any]]
    """The task function by `TrainingJob/NAME`; the workflow's function has the key None."""


_INSTALLS = {
    "torch": "torch --index-url https://download.pytorch.org/whl/cpu",
    "flytekit": "'ptcompile[flyte]'",
    "flytekitplugins": "'ptcompile[flyte]'",
}
"""What to install for a module: Elastic imports torch, which the extra leaves to the user for
its size.
"""


def run(options: argparse.Namespace) -> int:
    """Compile a task or a workflow; write nothing if it has an error."""
    check_target(options.target)
    if options.task.endswith(".py") and ":" not in options.task:
        return files.write_stdout(_list_tasks(options))

    reporter = Reporter(options.output_format)
    profile = reporter.read_profile(options.cluster)
    if profile is None:
        return reporter.finish()

    cluster = profile if options.cluster else None
    # output of the user's module
    with redirect_stdout(sys.stderr):
        jobs, functions = _read_jobs(options)
        result = jobs.compile(cluster=cluster)
    module, _, _ = options.task.rpartition(":")
    _add_findings(reporter, module, result, functions)
    status = reporter.finish()
    if options.as_flyte and not status:
        return files.write_stdout("".join(_diff_with_flyte(task, cluster) for task in jobs.tasks))

    outputs = {"": {module: list(result.manifests)}}
    return status or write(outputs, options.output, options.format)


def _diff_with_flyte(task: Task, cluster: Any) -> str:
    """Return a diff from Flyte's object for a task to its manifests here."""
    from ptcompile.flyte.as_flyte import compare_with_flyte
    from ptcompile.flyte.roles import TARGET

    manifests = task.compile(cluster=cluster, target=TARGET).manifests
    if not manifests:
        raise UsageError(
            f"--as-flyte: the task does not compile for {TARGET}, which is what Flyte creates"
        )

    # the runner's ConfigMap comes first
    return compare_with_flyte(
        task.convert(), manifests[-1], task.compile(cluster=cluster).manifests
    )


def _read_jobs(options: argparse.Namespace) -> tuple[Task | Workflow, _Functions]:
    """Return the task or workflow. Raises `UsageError` if it cannot be imported or is neither."""
    from ptcompile import flyte
    from ptcompile.flyte.workflows import is_workflow

    loaded, inputs = _load(options)
    # as pyflyte does: `--image IMAGE` is the default image, `--image NAME=IMAGE` a named one
    named = dict(option.split("=", 1) for option in options.image if "=" in option)
    unnamed = [option for option in options.image if "=" not in option]
    arguments = without_none(
        {
            "module": options.module,
            "embed": options.embed or None,
            "images": named or None,
            "image": unnamed[-1] if unnamed else None,
            "target": options.target,
            "namespace": options.namespace,
            "result": options.result,
            "inputs": _with_files(inputs, loaded),
        }
    )
    if not is_workflow(loaded):
        try:
            task = flyte.from_task(loaded, **arguments)
        except TypeError as error:
            raise UsageError(f"{options.task}: {error}") from None
        return replace(task, name=options.name or task.name), {None: task.function}
    if options.name is not None:
        raise UsageError("--name applies to one job, but a workflow may have several")

    workflow = flyte.from_workflow(loaded, **arguments)
    functions: _Functions = {
        f"TrainingJob/{node_task.job_name}": node_task.function for node_task in workflow.tasks
    }
    if hasattr(loaded, "function"):
        functions[None] = loaded.function

    return workflow, functions


def _load(options: argparse.Namespace) -> tuple[Any, dict[str, str]]:
    """Return the named object, with a workflow compiled by flytekit, and the inputs. Only this
    function runs user code.
    """
    from ptcompile.flyte import run as runner
    from ptcompile.flyte.workflows import is_workflow

    action = "imported"
    try:
        inputs = runner.parse_inputs(options.input)
        loaded = runner.load_task(options.task)
        action = "compiled by flytekit"
        if is_workflow(loaded):
            _ = loaded.nodes
    except runner.TaskCallError as error:
        raise UsageError(str(error)) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise UsageError(_describe_failure(options.task, action, error)) from error

    return loaded, inputs


def _list_tasks(options: argparse.Namespace) -> str:
    """Return a line for each task and workflow of a file. Raises `UsageError` without any."""
    path = options.task
    options.task = f"{path}:__name__"
    # output of the user's module
    with redirect_stdout(sys.stderr):
        module = sys.modules[_load(options)[0]]
    kinds = {name: _kind_of(value) for name, value in vars(module).items()}
    lines = [f"{path}:{name}  {kind}\n" for name, kind in kinds.items() if kind]
    if not lines:
        raise UsageError(f"{path} has no task and no workflow of Flyte")
    return "".join(lines)


def _kind_of(value: Any) -> str:
    """Return what a value of a module is to Flyte, or an empty string."""
    from ptcompile.flyte.tasks import Task
    from ptcompile.flyte.workflows import is_workflow

    if isinstance(value, type):
        return ""
    if is_workflow(value):
        return "workflow"

    config = getattr(value, "task_config", None)
    is_task = isinstance(value, Task) or hasattr(value, "task_function")
    if is_task:
        return f"task {type(config).__name__ if config is not None else ''}".strip()

    return ""


def _with_files(inputs: Mapping[str, str], loaded: Any) -> JsonDict:
    """Return the inputs with named JSON and YAML files replaced by their content, as `pyflyte
    run` does.
    """
    from ptcompile.flyte import run as runner

    function = getattr(loaded, "task_function", getattr(loaded, "function", None))
    hints = runner.hints_of(function) if callable(function) else {}
    scalar_types = (str, int, float, bool)

    values: JsonDict = {}
    for name, text in inputs.items():
        is_scalar = hints.get(name, str) in scalar_types
        names_file = not is_scalar and text.endswith((".json", ".yaml", ".yml"))
        values[name] = _read_input(text) if names_file else text
    return values


def _read_input(path: str) -> Any:
    content = files.read(path)
    if path.endswith(".json"):
        return content.decode("utf-8-sig", errors="replace")
    stream = source.read(content, path)
    if stream.problems or len(stream.documents) != 1:
        raise UsageError(f"--input {path}: must be a single YAML document with a mapping")
    return stream.documents[0].data


def _describe_failure(task: str, action: str, error: BaseException) -> str:
    """Return in one line why user code fails: the exception, and the last line of the user's
    file in its traceback.
    """
    module, _, _ = task.rpartition(":")
    frames = traceback.extract_tb(error.__traceback__)
    user_frames = [
        frame
        for frame in frames
        if module.endswith(".py") and os.path.realpath(frame.filename) == os.path.realpath(module)
    ]
    line = f" (line {user_frames[-1].lineno})" if user_frames else ""
    reason = " ".join(str(error).split())
    text = (
        f"{module if action == 'imported' else task} cannot be {action}{line}: "
        f"{type(error).__name__}: {reason}"
    )
    missing = ""
    if isinstance(error, ModuleNotFoundError):
        missing = error.name or ""
    if user_frames and missing.startswith("flytekit.sdk"):
        return f"{text}; {_legacy_import(user_frames[-1].filename)}"

    package, _, _ = missing.partition(".")
    if package in _INSTALLS:
        return f"{text}; run `pip install {_INSTALLS[package]}`"

    return text


def _legacy_import(path: str) -> str:
    """Return the import to write for those of flytekit 0.x in a file: ptcompile.flyte has the
    same names.
    """
    from ptcompile import flyte

    tree = ast.parse(files.read(path))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names = sorted(
        {
            alias.name
            for node in imports
            if (node.module or "").startswith("flytekit.sdk")
            for alias in node.names
        }
    )
    exported = [name for name in names if name in flyte.__all__]
    unknown = [name for name in names if name not in flyte.__all__ and name != "*"]
    lost = f"; {', '.join(unknown)} has no counterpart" if unknown else ""

    return f"write `from ptcompile.flyte import {', '.join(exported) or '*'}` instead{lost}"


def _add_findings(reporter: Reporter, where: str, result: Result, functions: _Functions) -> None:
    """Add each finding with its position in the file of its task."""
    by_file: dict[str, list[Diagnostic]] = {where: []}
    texts: dict[str, bytes] = {}
    for diagnostic in result.diagnostics:
        name, placed = _locate(
            diagnostic, where, functions.get(diagnostic.resource) or functions.get(None), texts
        )
        by_file.setdefault(name, []).append(placed)
    for name, diagnostics in by_file.items():
        reporter.add(InputFile(name, texts.get(name, b""), True), diagnostics)


def _locate(
    diagnostic: Diagnostic, where: str, function: Callable[..., Any] | None, texts: dict[str, bytes]
) -> tuple[str, Diagnostic]:
    """Return the file in which a finding is reported, and the finding at its line there."""
    from ptcompile.flyte import findings as places

    file = places.file_of(function) if function is not None else None
    if function is None or file is None or not os.path.isfile(file):
        return where, diagnostic._replace(filename=where)

    is_named_file = os.path.realpath(file) == os.path.realpath(where)
    name = where if is_named_file else os.path.relpath(file)
    content = texts.setdefault(name, files.read(file))
    span = places.call_span(
        function, content.decode("utf-8-sig", errors="replace"), diagnostic.path
    )

    return name, diagnostic._replace(filename=name, span=span)
