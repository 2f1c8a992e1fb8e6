"""What starts in the container of a Flyte task, and with which inputs.

Flyte's pods run `pyflyte-execute`, which loads the task and calls its function. Here `ptcompile.flyte.run` does,
once a process: torchrun starts it for an Elastic task, each pod for the others, as in Flyte, and the operator gives it
MASTER_ADDR, WORLD_SIZE and RANK. A task may name a program of its own instead: `script`, `command`, or, where there is
no function, `module`.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ptcompile.diagnostics import Path, Problem
from ptcompile.flyte import run
from ptcompile.flyte.keywords import Knobs
from ptcompile.flyte.problems import RuleName, call_error, call_note, call_warning

HELP = "inputs={{{name!r}: ...}}, or --input {name}=..."


def words(function: Any, given: Mapping[str, Any], found: list[Problem], *, torchrun: bool) -> list[str]:
    """The runner's `--input` words, in the order of the function's parameters; problems for what it would refuse.

    A dollar is written twice: the kubelet takes `$$` for one, and `$(NAME)` for a variable. Torchrun (2.13) fills
    `${local_rank}` into the arguments of its script and takes `$$` for one as well, so that it needs four.
    """
    texts: dict[str, str] = {}
    for name, value in given.items():
        try:
            texts[str(name)] = text_of(value)
        except TypeError as error:
            found.append(
                call_error("spec-wrong-type", ("inputs", str(name)), str(error), "text, numbers, lists, dataclasses")
            )
    left_out = {str(name) for name in given if name not in texts}
    for name, why in run.arguments(function, texts)[1].items():
        if name in left_out:
            continue
        kind: RuleName = "spec-missing-field" if name not in texts else "spec-invalid-value"
        found.append(call_error(kind, ("inputs", name), why, HELP.format(name=name)))
    dollar = "$$$$" if torchrun else "$$"
    ordered = [name for name in run.parameters(function) if name in texts]
    return [word for name in ordered for word in ("--input", f"{name}={texts[name]}".replace("$", dollar))]


def text_of(value: Any) -> str:
    """A value as a text that `run.value_of` reads back: text as it is, the rest as JSON.

    Raises:
        TypeError: JSON has no word for it.
    """
    return value if isinstance(value, str) else json.dumps(_data(value), ensure_ascii=False, default=_refuse)


def _data(value: Any) -> Any:
    """Plain data of dataclasses, enums and pydantic models, at any depth."""
    if isinstance(value, enum.Enum):
        return _data(value.value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: _data(getattr(value, one.name)) for one in dataclasses.fields(value) if one.init}
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {str(key): _data(item) for key, item in value.items()}
    return [_data(item) for item in value] if isinstance(value, list | tuple) else value


def _refuse(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} cannot be written on a command line")


def lost_result(function: Any) -> list[Problem]:
    """What to say of a function that returns something: Flyte would store it, and a job has no place for it."""
    returned = run.hints_of(function).get("return")
    if returned in (None, type(None), "None"):
        return []
    message = "the function's return value is lost: Flyte stores it, a job has nowhere to"
    return [call_warning(("outputs",), message, "write it to a volume or a bucket in the function")]


RUNNER = "ptcompile.flyte.run"
MOUNT = "/etc/ptcompile"
"""Where the runner's ConfigMap is mounted."""

_FILE = "run.py"
_VOLUME = "ptcompile-runner"


class EntryPoint(NamedTuple):
    """A task's function, and where the runner finds it."""

    function: Callable[..., Any]
    module: str
    name: str
    """Within the module; empty where the module has no such name."""


class TaskLaunch(NamedTuple):
    """What starts, in the spec's words, and what has to be there for it."""

    job: dict[str, Any]
    """Of `command`, `script`, `module` and `args`."""
    volumes: tuple[dict[str, Any], ...] = ()
    mounts: tuple[dict[str, Any], ...] = ()
    objects: tuple[dict[str, Any], ...] = ()
    """Manifests beside the job's."""


def entry(function: Callable[..., Any], *held: Any) -> EntryPoint:
    """Where a function, or one of the objects that hold it, can be found in its module."""
    own = getattr(function, "__module__", None) or ""
    # flytekit knows the module that a factory was called from
    made_in = (getattr(one, "instantiated_in", None) for one in held)
    for module in dict.fromkeys([own, *(one for one in made_in if isinstance(one, str))]):
        known = vars(sys.modules[module]) if module in sys.modules else {}
        for name, value in known.items():
            if any(value is one for one in held if one is not None):
                return EntryPoint(function, module, name)
    name = getattr(function, "__qualname__", "")
    return EntryPoint(function, own, "" if "<locals>" in name else name)


def launch(config: Any, knobs: Knobs, called: EntryPoint | None, name: str, found: list[Problem]) -> TaskLaunch:
    """What a task starts: its own program where it names one, else its function by the runner."""
    given: dict[str, Any] = {key: knobs[key] for key in ("command", "script") if knobs.get(key) is not None}
    if called is None and knobs.get("module") is not None:
        given["module"] = knobs["module"]
    first = next(iter(given), None)
    for key in [*given][1:]:
        found.append(call_error("spec-conflict", (key,), f"{first} already sets what runs", f"remove {first} or {key}"))
    if first is not None and knobs.get("inputs"):
        message = f"{first} starts another program, which gets args"
        found.append(call_error("spec-conflict", ("inputs",), message, f"remove {first}, and the function is called"))
    if first is None and called is not None:
        return _runner(config, knobs, called, name, found)
    job: dict[str, Any] = {"args": _words(knobs.get("args"), ("args",), found)}
    if hasattr(config, "nnodes"):
        job.update(_torchrun(first, given, found))
    elif first == "command":
        job["command"] = _words(given["command"], ("command",), found)
    elif first is not None:
        job["command"] = ["python", given["script"]] if first == "script" else ["python", "-m", given["module"]]
    return TaskLaunch({key: value for key, value in job.items() if value is not None})


def _runner(config: Any, knobs: Knobs, called: EntryPoint, name: str, found: list[Problem]) -> TaskLaunch:
    """The function, called by the runner: a module of the image, or the file of a ConfigMap."""
    if knobs.get("args"):
        message = "the function takes inputs; args are for a script"
        found.append(call_error("spec-conflict", ("args",), message, "set inputs, or name the script"))
    module = knobs.get("module") or called.module
    if module == "__main__":
        found.append(_missing("module", "the function is defined in __main__, which pods cannot import"))
    elif not called.name:
        why = "the function is defined inside another one, where the runner cannot find it"
        found.append(_missing("script", why, "define the task at the top level of its module"))
    torchrun = hasattr(config, "nnodes")
    inputs = words(called.function, knobs.get("inputs") or {}, found, torchrun=torchrun)
    args = [f"{module}:{called.name}", *inputs]
    found += [*lost_result(called.function), _contents(module, torchrun=torchrun, embed=bool(knobs.get("embed")))]
    file = f"{MOUNT}/{_FILE}" if knobs.get("embed") else None
    if torchrun:
        job: dict[str, Any] = {"script": file} if file else {"module": RUNNER}
    else:
        job = {"command": ["python", file] if file else ["python", "-m", RUNNER]}
    job["args"] = args
    return _embedded(job, knobs, f"{name}-runner") if file else TaskLaunch(job)


def _contents(module: str, *, torchrun: bool, embed: bool) -> Problem:
    """What the image has to have for that."""
    needs = [*(["torch"] if torchrun else []), *([] if embed else ["ptcompile"])]
    message = f"the image needs {', '.join(needs)}{' and ' * bool(needs)}the module {module} with all that it imports"
    help = None if embed else "install ptcompile in it, or ship its runner in a ConfigMap: --embed, embed=True"
    return call_note("image-contents", ("container_image",), message, help)


def _embedded(job: dict[str, Any], knobs: Knobs, name: str) -> TaskLaunch:
    """The same with the runner's own text in a ConfigMap beside the job."""
    import inspect

    metadata = {"name": name, "namespace": knobs.get("namespace")}
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {key: value for key, value in metadata.items() if value is not None},
        "data": {_FILE: inspect.getsource(run)},
    }
    volume = {"name": _VOLUME, "configMap": {"name": name}}
    mount = {"name": _VOLUME, "mountPath": MOUNT, "readOnly": True}
    return TaskLaunch(job, (volume,), (mount,), (config_map,))


def _torchrun(first: str | None, given: dict[str, Any], found: list[Problem]) -> dict[str, Any]:
    if first == "command":
        message = "an Elastic task is started by torchrun, which needs a Python file or module"
        found.append(call_error("spec-conflict", ("command",), message, "give script or module"))
        return {}
    if first is None:
        found.append(_missing("script", "torchrun has nothing to start", "give script or module"))
        return {}
    return {first: given[first]}


def _missing(word: str, why: str, help: str | None = None) -> Problem:
    return call_error("spec-missing-field", (word,), f"is missing: {why}", help or f"give {word}, or a script")


def _words(value: Any, path: Path, found: list[Problem]) -> list[str] | None:
    if value is None:
        return None
    if isinstance(value, str) or not all(isinstance(word, str) for word in value):
        found.append(
            call_error("spec-wrong-type", path, f"{value!r} is not a list of strings", 'such as ["--epochs", "3"]')
        )
        return None
    return list(value)
