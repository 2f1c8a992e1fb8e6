"""The compiler's findings at the Flyte call that caused them, and its line of Python."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ptcompile.diagnostics import Diagnostic, Path, Problem, Span, field_path
from ptcompile.flyte.problems import call_note
from ptcompile.flyte.resources import FIELDS


def file_of(function: Callable[..., Any]) -> str | None:
    """The file that a function is written in; None for one that is built in."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code.co_filename if code is not None else None


def span(function: Callable[..., Any], text: str, path: Path) -> Span | None:
    """The place of the Flyte call at `path`, as near as the file's text has it: else the decorator or the function."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    for node in ast.walk(ast.parse(text)):
        if code is None or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        lines = [node.lineno, *(one.lineno for one in node.decorator_list)]
        if min(lines) == code.co_firstlineno:
            return _span(_nearest(node, path), text.split("\n"))
    return None


def _nearest(node: ast.FunctionDef | ast.AsyncFunctionDef, path: Path) -> ast.expr | ast.arg | ast.stmt:
    """The deepest expression on the way of the path through the decorators' keywords."""
    if path[:1] == ("inputs",):
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        return next((one for one in arguments if one.arg == path[-1]), node)
    if path[:1] == ("outputs",) and node.returns is not None:
        return node.returns
    for decorator in node.decorator_list:
        found = _along(decorator, path)
        if found is not decorator:
            return found
    return node.decorator_list[0] if node.decorator_list else node


def _along(node: ast.expr, path: Path) -> ast.expr:
    if not path:
        return node
    step, rest = path[0], path[1:]
    inner: ast.expr | None = None
    if isinstance(node, ast.Call):
        inner = next((one.value for one in node.keywords if one.arg == step), None)
    elif isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        inner = next((value for key, value in pairs if isinstance(key, ast.Constant) and key.value == step), None)
    elif isinstance(node, ast.List | ast.Tuple) and isinstance(step, int) and step < len(node.elts):
        inner = node.elts[step]
    return node if inner is None else _along(inner, rest)


def _span(node: ast.expr | ast.arg | ast.stmt, lines: list[str]) -> Span:
    """A node's place; of a function and of a long call only the first line."""
    end = node.end_lineno or node.lineno
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or end > node.lineno:
        line = lines[node.lineno - 1]
        return Span(node.lineno, _column(line, node.col_offset), node.lineno, len(line.rstrip()) + 1)
    line = lines[end - 1]
    return Span(node.lineno, _column(line, node.col_offset), end, _column(line, node.end_col_offset or 0))


def _column(line: str, offset: int) -> int:
    """Python counts bytes of UTF-8 from 0, we count characters from 1."""
    return len(line.encode()[:offset].decode(errors="ignore")) + 1


_LIMIT: Path = ("task_config", "run_policy", "backoff_limit")


def surprises(document: Mapping[str, Any], manifests: Iterable[Mapping[str, Any]]) -> list[Problem]:
    """Notes on the backoff limit and the restart policy of a PyTorchJob that the task itself does not name."""
    made = next((one["spec"] for one in manifests if one.get("kind") == "PyTorchJob"), None)
    if made is None:
        return []
    job = document["spec"]
    why = _why(job)
    limit = made.get("runPolicy", {}).get("backoffLimit")
    unasked = limit is not None and "backoffLimit" not in (job.get("runPolicy") or {})
    message = f"the job has backoffLimit: {limit}, which Flyte would not write: {why}"
    out = [call_note("unlike-flyte", _LIMIT, message)] if unasked else []
    named = {key for key in ("master", "worker") if "restartPolicy" in (job.get(key) or {})}
    roles = made["pytorchReplicaSpecs"].items()
    policies = {role["restartPolicy"] for name, role in roles if name.lower() not in named} - {"Never"}
    for policy in sorted(policies):
        message = f"the pods have restartPolicy: {policy}, and Flyte's have Never: {why}"
        out.append(call_note("unlike-flyte", ("task_config",), message))
    return out


def _why(job: Mapping[str, Any]) -> str:
    """What in the task brings pods that start again."""
    elastic = job.get("elastic") or {}
    causes = {
        f"nnodes {elastic.get('nnodes')} lets pods come and go": ":" in str(elastic.get("nnodes")),
        "interruptible pods are lost and restarted": bool(job.get("spot")),
        "retries and backoff_limit count only pods that are restarted": bool(
            (job.get("runPolicy") or {}).get("backoffLimit")
        ),
        "a restart policy other than Never restarts pods": any(
            (job.get(role) or {}).get("restartPolicy", "Never") != "Never" for role in ("master", "worker")
        ),
    }
    return ", and ".join(cause for cause, true in causes.items() if true) or "the operator's own default differs"


_CONFIG = ("task_config",)
_POLICY = (*_CONFIG, "run_policy")


def _resources(there: Path, here: Path) -> tuple[tuple[Path, Path], ...]:
    """The amounts of a task or a role; flat ones are both halves, and so the request."""
    halves = tuple(((*there, "resources", half), (*here, half)) for half in ("requests", "limits"))
    return (*halves, ((*there, "resources"), (*here, "requests")))


ORIGINS: tuple[tuple[Path, Path], ...] = (
    (("metadata", "name"), ("name",)),
    (("spec", "image"), ("container_image",)),
    (("spec", "runPolicy", "cleanPodPolicy"), (*_POLICY, "clean_pod_policy")),
    (("metadata", "namespace"), ("namespace",)),
    (("metadata", "labels"), ("labels",)),
    (("metadata", "annotations"), ("annotations",)),
    (("spec", "elastic", "nnodes"), (*_CONFIG, "nnodes")),
    (("spec", "elastic", "nprocPerNode"), (*_CONFIG, "nproc_per_node")),
    (("spec", "elastic", "maxRestarts"), (*_CONFIG, "max_restarts")),
    (("spec", "elastic", "monitorInterval"), (*_CONFIG, "monitor_interval")),
    (("spec", "elastic", "startMethod"), (*_CONFIG, "start_method")),
    (("spec", "elastic", "rdzvBackend"), (*_CONFIG, "rdzv_backend")),
    (("spec", "elastic", "rdzvConfigs"), (*_CONFIG, "rdzv_configs")),
    (("spec", "runPolicy", "ttlSecondsAfterFinished"), (*_POLICY, "ttl_seconds_after_finished")),
    (("spec", "runPolicy", "activeDeadlineSeconds"), (*_POLICY, "active_deadline_seconds")),
    (("spec", "runPolicy", "backoffLimit"), (*_POLICY, "backoff_limit")),
    *_resources(("spec", "worker"), (*_CONFIG, "worker")),
    *_resources(("spec", "master"), (*_CONFIG, "master")),
    (("spec", "worker"), (*_CONFIG, "worker")),
    (("spec", "master"), (*_CONFIG, "master")),
    (("spec", "sharedMemory"), ("shared_memory",)),
    (("spec", "podLabels"), ("labels",)),
    (("spec", "podAnnotations"), ("annotations",)),
    (("spec", "podTemplate"), ("pod_template",)),
    *_resources(("spec",), ()),
    (("spec", "env"), ("environment",)),
    (("spec", "spot"), ("interruptible",)),
    (("spec",), ()),
)
"""Where a part of the spec comes from: the first prefix that fits."""


def read(document: dict[str, Any], found: Sequence[Problem]) -> list[Problem]:
    """What is wrong with the document's shape, without what is already known of the same place."""
    from ptcompile.compiler.frontend.reader import decode_spec

    known = [problem.path for problem in found if problem.severity == "error"]
    out: list[Problem] = []
    for problem in decode_spec(document)[1]:
        path = origin(problem.path)
        if any(path[: len(one)] == one or one[: len(path)] == path for one in known):
            continue
        known.append(path)
        out.append(problem._replace(path=path, message=_moved(problem.message, problem.path, path), fix=None))
    return out


def origin(path: Path) -> Path:
    """A path of the spec as a path of the Flyte call."""
    for there, here in ORIGINS:
        if path[: len(there)] == there:
            rest = path[len(there) :]
            return (*here, *(map(_flyte_s, rest) if "resources" in there else rest))
    return path


def _flyte_s(step: str | int) -> str | int:
    """The name of an amount in flytekit's Resources."""
    return next((flyte for flyte, spec in FIELDS.items() if spec == step), step)


def in_flyte_s_words(found: Diagnostic) -> Diagnostic:
    """A finding about the spec of a task, at the place of the Flyte call that it comes from."""
    if not (found.resource or "").startswith("TrainingJob/"):
        return found  # about a manifest, or a profile
    path = origin(found.path)
    if found.name == "spec-missing-field" and path[-1:] in (("image",), ("container_image",)):
        message = "container_image: is missing: Flyte would use the project's default image, which is unknown here"
        return found._replace(path=("container_image",), message=message, help="add container_image, or give --image")
    return found._replace(path=path, message=_moved(found.message, found.path, path))


def _moved(message: str, old: Path, new: Path) -> str:
    return field_path(new) + message.removeprefix(field_path(old)) if message.startswith(field_path(old)) else message
