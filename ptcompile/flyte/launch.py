"""The program and inputs that start in the container of a Flyte task.

Flyte's pods run `pyflyte-execute`, which loads the task and calls its function. Here,
`ptcompile.flyte.run` does so once per process: torchrun starts it for an Elastic task, each pod for
other tasks, as in Flyte, and the operator gives it MASTER_ADDR, WORLD_SIZE and RANK. A task may
name its own program instead: `script`, `command`, or, without a function, `module`.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, get_args, get_origin

from ptcompile.diagnostics import Path, Problem
from ptcompile.flyte import run
from ptcompile.flyte.findings import checkpoint_warnings
from ptcompile.flyte.keywords import Knobs
from ptcompile.flyte.problems import CallProblems, RuleName, call_note, call_warning
from ptcompile.kubernetes.unstructured import JsonDict, without_none

INPUT_HELP = "inputs={{{name!r}: ...}}, or --input {name}=..."


def input_arguments(
    function: Any, values: Mapping[str, Any], problems: CallProblems, *, torchrun: bool
) -> list[str]:
    """Return the runner's `--input` arguments in the order of the function's parameters; report
    values it would reject.

    Dollars are doubled: the kubelet replaces `$$` by one dollar and `$(NAME)` by a variable.
    torchrun (2.13) fills `${local_rank}` into the arguments of its script and also replaces `$$`,
    so it needs four.
    """
    texts: dict[str, str] = {}
    for name, value in values.items():
        try:
            texts[str(name)] = input_text(value)
        except TypeError as error:
            problems.error(
                "spec-wrong-type",
                ("inputs", str(name)),
                str(error),
                "use text, numbers, lists or dataclasses",
            )

    left_out = {str(name) for name in values if name not in texts}
    parsed, rejected = run.parse_arguments(function, texts)
    for name, value in parsed.items():
        for uri in _relative_paths(value):
            message = (
                f"{uri} is a path in the container's working directory, while Flyte uploads the "
                "file that is here"
            )
            help = "pass a URL, or the path on a volume that the pod mounts"
            problems.warning(("inputs", name), message, help)
    for name, why in rejected.items():
        if name in left_out:
            continue
        kind: RuleName = "spec-missing-field" if name not in texts else "spec-invalid-value"
        problems.error(kind, ("inputs", name), why, INPUT_HELP.format(name=name))

    dollar = "$$$$" if torchrun else "$$"
    ordered = [name for name in run.parameters(function) if name in texts]

    return [
        argument
        for name in ordered
        for argument in ("--input", f"{name}={texts[name]}".replace("$", dollar))
    ]


def input_text(value: Any) -> str:
    """Return a value as text that `run.value_of` can parse: texts, times, paths and enums as plain
    text, everything else as JSON.

    Raises:
        TypeError: JSON cannot express the value.
    """
    data = run.plain_data(value)
    if isinstance(data, str):
        return data
    return json.dumps(data, ensure_ascii=False, default=_reject_value)


def _reject_value(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} cannot be written on a command line")


def _relative_paths(value: Any) -> Iterator[str]:
    """Yield the paths of files, folders and tables in an argument that are neither absolute nor
    URLs.
    """
    if isinstance(value, run.StoredValue):
        if "://" not in value.uri and not value.uri.startswith("/"):
            yield value.uri
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _relative_paths(item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for data_field in dataclasses.fields(value):
            yield from _relative_paths(getattr(value, data_field.name, None))


def result_problems(function: Any, file: str | None) -> list[Problem]:
    """Return what happens to a function's return value: Flyte stores it, here it is printed as
    JSON.
    """
    hint = run.hints_of(function).get("return")
    path = ("outputs",)
    if hint in (None, type(None), "None"):
        lost = call_warning(("result",), "the function returns nothing to write", "remove it")
        return [lost] if file is not None else []

    advice = "write it to a volume or a bucket in the function"
    for part in _result_parts(hint):
        name = getattr(part, "__name__", str(part))
        if run.is_stored(part):
            message = (
                f"the returned {name} stays in the pod and is lost with it: Flyte stores it, a "
                "job has nowhere to"
            )
            return [call_warning(path, message, advice)]
        try:
            run.check_type(part)
        except run.TaskCallError:
            message = f"the returned {name} is lost: Flyte stores it, and JSON cannot express it"
            return [call_warning(path, message, advice)]

    where = "prints it as JSON" + (f" and writes it to {file}" if file else "")
    message = f"Flyte stores what the function returns; here the process of rank 0 {where}"
    help = None if file else "name a file on a volume to keep it: --result FILE, result=..."

    return [call_note("unlike-flyte", path, message, help)]


def _result_parts(hint: Any) -> Iterator[Any]:
    """Yield the types in a return type: the fields of a NamedTuple, the items of a tuple, a list
    or a dict.
    """
    origin = get_origin(hint)
    if isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
        for field_hint in run.hints_of(hint).values():
            yield from _result_parts(field_hint)
    elif origin in (tuple, list, dict):
        for item_hint in get_args(hint):
            yield from _result_parts(item_hint)
    elif hint is not ...:
        yield hint


RUNNER = "ptcompile.flyte.run"
MOUNT_PATH = "/etc/ptcompile"
"""Mount path of the runner's ConfigMap."""

_RUNNER_FILE = "run.py"
_VOLUME_NAME = "ptcompile-runner"


class EntryPoint(NamedTuple):
    """A task's function, and its module and name for the runner."""

    function: Callable[..., Any]
    module: str
    name: str
    """Name within the module, or "" if the module has no such name."""


class TaskLaunch(NamedTuple):
    """The spec's launch fields, and the objects and volumes they need."""

    job: JsonDict
    """The fields `command`, `script`, `module` and `args`."""
    volumes: tuple[JsonDict, ...] = ()
    mounts: tuple[JsonDict, ...] = ()
    objects: tuple[JsonDict, ...] = ()
    """Manifests in addition to the job's."""


def find_entry_point(function: Callable[..., Any], *holders: Any) -> EntryPoint:
    """Return the module and name under which a function, or an object that holds it, can be
    imported.
    """
    own_module = getattr(function, "__module__", None) or ""
    # flytekit records the module that called a factory
    modules = (getattr(holder, "instantiated_in", None) for holder in holders)
    for module in dict.fromkeys(
        [own_module, *(holder for holder in modules if isinstance(holder, str))]
    ):
        names = vars(sys.modules[module]) if module in sys.modules else {}
        for name, value in names.items():
            if any(value is holder for holder in holders if holder is not None):
                return EntryPoint(function, module, name)

    name = getattr(function, "__qualname__", "")
    return EntryPoint(function, own_module, "" if "<locals>" in name else name)


def task_launch(
    config: Any, knobs: Knobs, entry_point: EntryPoint | None, name: str, problems: CallProblems
) -> TaskLaunch:
    """Return what a task starts: its own program if it names one, else its function through the
    runner.
    """
    programs: dict[str, Any] = {
        key: knobs[key] for key in ("command", "script") if knobs.get(key) is not None
    }
    if entry_point is None and knobs.get("module") is not None:
        programs["module"] = knobs["module"]
    first = next(iter(programs), None)
    for key in [*programs][1:]:
        problems.error(
            "spec-conflict", (key,), f"{first} already sets what runs", f"remove {first} or {key}"
        )

    if first is not None and knobs.get("inputs"):
        message = f"{first} starts another program, which takes args"
        problems.error(
            "spec-conflict", ("inputs",), message, f"remove {first} to call the function"
        )
    if first is None and entry_point is not None:
        return _runner_launch(config, knobs, entry_point, name, problems)

    job: JsonDict = {"args": _string_list(knobs.get("args"), ("args",), problems)}
    if hasattr(config, "nnodes"):
        job.update(_elastic_start(first, programs, problems))
    elif first == "command":
        job["command"] = _string_list(programs["command"], ("command",), problems)
    elif first == "script":
        job["command"] = ["python", programs["script"]]
    elif first is not None:
        job["command"] = ["python", "-m", programs["module"]]

    return TaskLaunch(without_none(job))


def _runner_launch(
    config: Any, knobs: Knobs, entry_point: EntryPoint, name: str, problems: CallProblems
) -> TaskLaunch:
    """Return the launch of the function by the runner: a module of the image, or a file from a
    ConfigMap.
    """
    if knobs.get("args"):
        message = "the function takes inputs; args are for a script"
        problems.error("spec-conflict", ("args",), message, "set inputs, or name the script")

    module = knobs.get("module") or entry_point.module
    if module == "__main__":
        why = "the function is defined in __main__, which pods cannot import"
        _report_missing(problems, "module", why)
    elif not entry_point.name:
        why = "the function is defined inside another one, where the runner cannot find it"
        help = "define the task at the top level of its module"
        _report_missing(problems, "script", why, help)

    torchrun = hasattr(config, "nnodes")
    inputs = input_arguments(
        entry_point.function, knobs.get("inputs") or {}, problems, torchrun=torchrun
    )
    result = [f"--result={knobs['result']}"] if knobs.get("result") else []
    args = [f"{module}:{entry_point.name}", *inputs, *result]
    problems += [
        *checkpoint_warnings(entry_point.function),
        *result_problems(entry_point.function, knobs.get("result")),
        _image_contents(module, torchrun=torchrun, embed=bool(knobs.get("embed"))),
    ]
    file = f"{MOUNT_PATH}/{_RUNNER_FILE}" if knobs.get("embed") else None
    if torchrun:
        job: JsonDict = {"script": file} if file else {"module": RUNNER}
    else:
        job = {"command": ["python", file] if file else ["python", "-m", RUNNER]}

    job["args"] = args
    if file:
        return _embed_runner(job, knobs, f"{name}-runner")

    return TaskLaunch(job)


def _image_contents(module: str, *, torchrun: bool, embed: bool) -> Problem:
    """Return a note on what the image must contain."""
    needs = ["torch"] if torchrun else []
    help = None
    if not embed:
        needs.append("ptcompile")
        help = "install ptcompile in it, or ship its runner in a ConfigMap: --embed, embed=True"
    packages = f"{', '.join(needs)} and " if needs else ""
    message = f"the image needs {packages}the module {module} with all that it imports"
    return call_note("image-contents", ("container_image",), message, help)


def _embed_runner(job: JsonDict, knobs: Knobs, name: str) -> TaskLaunch:
    """Return the launch with the runner's source in an additional ConfigMap."""
    import inspect

    metadata = {"name": name, "namespace": knobs.get("namespace")}
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": without_none(metadata),
        "data": {_RUNNER_FILE: inspect.getsource(run)},
    }
    volume = {"name": _VOLUME_NAME, "configMap": {"name": name}}
    mount = {"name": _VOLUME_NAME, "mountPath": MOUNT_PATH, "readOnly": True}

    return TaskLaunch(job, (volume,), (mount,), (config_map,))


def _elastic_start(first: str | None, programs: dict[str, Any], problems: CallProblems) -> JsonDict:
    if first == "command":
        message = "an Elastic task is started by torchrun, which needs a Python file or module"
        problems.error("spec-conflict", ("command",), message, "give script or module")
        return {}
    if first is None:
        why = "torchrun has nothing to start"
        _report_missing(problems, "script", why, "give script or module")
        return {}
    return {first: programs[first]}


def _report_missing(problems: CallProblems, field: str, why: str, help: str = "") -> None:
    help = help or f"give {field}, or a script"
    problems.error("spec-missing-field", (field,), f"is missing: {why}", help)


def _string_list(value: Any, path: Path, problems: CallProblems) -> list[str] | None:
    if value is None:
        return None
    if isinstance(value, str) or not all(isinstance(item, str) for item in value):
        problems.error(
            "spec-wrong-type",
            path,
            f"{value!r} is not a list of strings",
            'write a list, such as ["--epochs", "3"]',
        )
        return None
    return list(value)
