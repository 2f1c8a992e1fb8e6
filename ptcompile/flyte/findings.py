"""The compiler's findings at the path of the Flyte call that caused them, and its line of
Python.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ptcompile._internal.schema_files import load_table
from ptcompile.diagnostics import Diagnostic, Path, Problem, Problems, Span, field_path, message_at
from ptcompile.flyte.problems import call_note, call_warning
from ptcompile.flyte.resources import CLASSES, FIELDS, WHOLE
from ptcompile.kubernetes.unstructured import Json, JsonDict


def file_of(function: Callable[..., Any]) -> str | None:
    """Return the file of a function, or None for a built-in one."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code.co_filename if code is not None else None


def call_span(function: Callable[..., Any], text: str, path: Path) -> Span | None:
    """Return the span of the Flyte call at `path`, or the closest one in the text: the decorator
    or the function.
    """
    code = getattr(inspect.unwrap(function), "__code__", None)
    for node in ast.walk(ast.parse(text)):
        if code is None or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        lines = [node.lineno, *(decorator.lineno for decorator in node.decorator_list)]
        if min(lines) == code.co_firstlineno:
            return _node_span(_closest_node(node, path), text.split("\n"))
    return None


def _closest_node(
    node: ast.FunctionDef | ast.AsyncFunctionDef, path: Path
) -> ast.expr | ast.arg | ast.stmt:
    """Return the deepest expression along the path through the decorators' keywords."""
    if path[:1] == ("inputs",):
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        return next((argument for argument in arguments if argument.arg == path[-1]), node)
    if path[:1] == ("outputs",) and node.returns is not None:
        return node.returns
    if path == ("checkpoint",) and (use := _checkpoint_use(node)):
        return use

    for decorator in node.decorator_list:
        inner = _follow_path(decorator, path)
        if inner is not decorator:
            return inner

    return node.decorator_list[0] if node.decorator_list else node


def _follow_path(node: ast.expr, path: Path) -> ast.expr:
    if not path:
        return node

    step = path[0]
    rest = path[1:]
    inner: ast.expr | None = None
    if isinstance(node, ast.Call):
        inner = next((keyword.value for keyword in node.keywords if keyword.arg == step), None)
    elif isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        inner = next(
            (value for key, value in pairs if isinstance(key, ast.Constant) and key.value == step),
            None,
        )
    elif isinstance(node, ast.List | ast.Tuple) and isinstance(step, int) and step < len(node.elts):
        inner = node.elts[step]

    return node if inner is None else _follow_path(inner, rest)


def _node_span(node: ast.expr | ast.arg | ast.stmt, lines: list[str]) -> Span:
    """Return a node's span; for a function or a multi-line call, only the first line."""
    line = lines[node.lineno - 1]
    end = _column_of(line, node.end_col_offset or 0)
    is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    if is_function or (node.end_lineno or 0) > node.lineno:
        end = len(line.rstrip()) + 1
    return Span(node.lineno, _column_of(line, node.col_offset), node.lineno, end)


def _column_of(line: str, offset: int) -> int:
    """Return the column counted in characters from 1; Python counts UTF-8 bytes from 0."""
    return len(line.encode()[:offset].decode(errors="ignore")) + 1


def checkpoint_warnings(function: Callable[..., Any]) -> list[Problem]:
    """Return a warning if a function uses Flyte's checkpoint, which only exists in Flyte's own
    pods.
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    except (OSError, TypeError, SyntaxError):  # no source, or a lambda in the middle of a line
        return []

    if _checkpoint_use(tree) is None:
        return []

    message = "current_context().checkpoint raises NotImplementedError outside Flyte"
    return [
        call_warning(
            ("checkpoint",), message, "save checkpoints to a volume or a bucket in the function"
        )
    ]


def _checkpoint_use(tree: ast.AST) -> ast.Attribute | None:
    """Return the first `.checkpoint` of `current_context()`, or of a name that it was assigned
    to, or None.
    """
    contexts = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _is_context(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "checkpoint":
            name = node.value.id if isinstance(node.value, ast.Name) else None
            if name in contexts or _is_context(node.value):
                return node

    return None


def _is_context(node: ast.expr) -> bool:
    function = node.func if isinstance(node, ast.Call) else None
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    return name == "current_context"


_LIMIT_PATH: Path = ("task_config", "run_policy", "backoff_limit")


def unlike_flyte_notes(document: Json, manifests: Iterable[Json]) -> Problems:
    """Yield notes on settings of the manifests that Flyte would write otherwise."""
    job = document["spec"]
    manifests = list(manifests)
    yield from _accelerator_notes(job, manifests)
    job_spec = next(
        (manifest["spec"] for manifest in manifests if manifest.get("kind") == "PyTorchJob"), None
    )
    if job_spec is None:
        return

    if "elastic" in job and "Master" in job_spec["pytorchReplicaSpecs"]:
        name = document["metadata"]["name"]
        message = (
            f"the job has a Master and Workers, with pods {name}-master-0 and {name}-worker-0, "
            "and torchrun's options "
            "on its command line; Flyte writes Workers only, and an elasticPolicy"
        )
        yield call_note("unlike-flyte", ("task_config", "nnodes"), message)

    yield from _restart_notes(job, job_spec)


def _accelerator_notes(job: Json, manifests: list[Json]) -> Problems:
    """Yield a note if the nodes are selected by NVIDIA's labels, as without a platform or a
    profile of the cluster.
    """
    device, _, part = str(job.get("accelerator") or "").partition("/")
    if not device or "nvidia.com/gpu.product" not in json.dumps(manifests):
        return

    nvidia = CLASSES["nvidia"]
    message = (
        "nodes are selected by the label nvidia.com/gpu.product; Flyte uses its platform's, by "
        f"default {nvidia['device']}"
    )
    if part and part != WHOLE:
        resource = f"nvidia.com/mig-{part}"
        label = nvidia["partition"]
        message += f", and nvidia.com/gpu with {label}: {part} instead of {resource}"

    help = "pass the platform's configuration, or a profile"
    yield call_note("unlike-flyte", ("accelerator",), message, help)


def _restart_notes(job: Json, job_spec: Json) -> Problems:
    """Yield notes on a PyTorchJob's backoff limit and restart policies that the task itself
    does not set.
    """
    why = _restart_causes(job)
    limit = job_spec.get("runPolicy", {}).get("backoffLimit")
    if limit is not None and "backoffLimit" not in (job.get("runPolicy") or {}):
        message = f"the job has backoffLimit: {limit}, which Flyte would not write: {why}"
        yield call_note("unlike-flyte", _LIMIT_PATH, message)

    named = {key for key in ("master", "worker") if "restartPolicy" in (job.get(key) or {})}
    roles = job_spec["pytorchReplicaSpecs"].items()
    policies = {role["restartPolicy"] for name, role in roles if name.lower() not in named} - {
        "Never"
    }
    for policy in sorted(policies):
        message = f"the pods have restartPolicy: {policy}, but Flyte's have Never: {why}"
        yield call_note("unlike-flyte", ("task_config",), message)


def _restart_causes(job: Json) -> str:
    """Return the parts of the task that make pods restart."""
    elastic = job.get("elastic") or {}
    causes = {
        f"nnodes {elastic.get('nnodes')} lets pods come and go": ":" in str(elastic.get("nnodes")),
        "interruptible pods are lost and restarted": bool(job.get("spot")),
        "retries and backoff_limit count only pods that are restarted": bool(
            (job.get("runPolicy") or {}).get("backoffLimit")
        ),
        "a restart policy other than Never restarts pods": any(
            (job.get(role) or {}).get("restartPolicy", "Never") != "Never"
            for role in ("master", "worker")
        ),
    }

    return (
        ", and ".join(cause for cause, true in causes.items() if true)
        or "the operator's own default differs"
    )


def _path(text: str) -> Path:
    return tuple(text.split(".")) if text else ()


ORIGINS = tuple(
    (_path(row["spec"]), _path(row["flyte"])) for row in load_table("flyte/origins.json")["origins"]
)
"""Spec paths and the call paths they come from; the first matching prefix applies. Flat resources
of a call are both requests and limits; a spec's `resources` as a whole lead to `requests`.
"""


Origins = Sequence[tuple[Path, Path]]
"""Pairs like those of `ORIGINS`, of one task."""


def shape_problems(
    document: JsonDict, problems: Sequence[Problem], origins: Origins
) -> list[Problem]:
    """Return problems with the document's shape, except at paths that already have an error."""
    from ptcompile.compiler.frontend.reader import decode_spec

    reported_paths = [problem.path for problem in problems if problem.severity == "error"]
    out: list[Problem] = []
    _, shape = decode_spec(document)
    for problem in shape:
        path = call_path(problem.path, origins)
        if any(
            path[: len(reported)] == reported or reported[: len(path)] == path
            for reported in reported_paths
        ):
            continue
        reported_paths.append(path)
        out.append(problem._replace(path=path, fix=None))

    return out


def call_path(path: Path, origins: Origins) -> Path:
    """Return the path in the Flyte call for a path in the spec; a task's own `origins` come
    first.
    """
    for spec_path, flyte_path in (*origins, *ORIGINS):
        if path[: len(spec_path)] == spec_path:
            rest = path[len(spec_path) :]
            if "resources" in spec_path:
                rest = tuple(_FLYTE_NAMES.get(step, step) for step in rest)
            return (*flyte_path, *rest)
    return path


_FLYTE_NAMES: dict[str | int, str] = {spec: flyte for flyte, spec in FIELDS.items()}
"""flytekit's names of resources, by the spec's."""


_SPEC_FIELDS = re.compile(
    r"(?<![\w.])(?:spec\.)?"
    r"(?P<field>(?:elastic|runPolicy|resources|master|worker)(?:\.[A-Za-z]+)+|sharedMemory)\b"
)
"""Fields of a spec in a message or a help."""
_ELASTIC_FIELDS = re.compile(
    r"(?<![\w.])"
    r"(?P<field>maxRestarts|nprocPerNode|rdzvBackend|rdzvConfigs|startMethod|monitorInterval)"
    r"\b(?P<colon>: )?"
)
"""Fields of `elastic` without their path, perhaps with a value after them."""


def in_flyte_terms(text: str, origins: Origins = ()) -> str:
    """Return a message or a help with Flyte's names for the fields of a spec."""

    def name(*path: str) -> str:
        return field_path(call_path(("spec", *path), origins))

    text = _SPEC_FIELDS.sub(lambda match: name(*match["field"].split(".")), text)
    text = _ELASTIC_FIELDS.sub(
        lambda match: (
            name("elastic", match["field"]).removeprefix("task_config.")
            + "=" * bool(match["colon"])
        ),
        text,
    )
    return text.replace("`spot: true`", f"{name('spot')}=True")


def to_call_diagnostic(diagnostic: Diagnostic, origins: Origins) -> Diagnostic:
    """Return a diagnostic about a task's spec with its path and its terms in the Flyte call."""
    if not (diagnostic.resource or "").startswith("TrainingJob/"):
        return diagnostic  # about a manifest or a profile

    path = call_path(diagnostic.path, origins)
    if diagnostic.name == "spec-missing-field" and path[-1:] in (("image",), ("container_image",)):
        message = (
            "container_image: is missing: Flyte would use the project's default image, which is "
            "unknown here"
        )
        return diagnostic._replace(
            path=("container_image",), message=message, help="add container_image, or give --image"
        )

    message = message_at(path, diagnostic.text) if diagnostic.field else diagnostic.message
    help = diagnostic.help and in_flyte_terms(diagnostic.help, origins)
    if path == ("interruptible",) and diagnostic.name == "spec-invalid-value":
        help = (
            "pass the platform's configuration, which has interruptible-tolerations, or a profile "
            "with spec.spot"
        )

    return diagnostic._replace(path=path, message=in_flyte_terms(message, origins), help=help)
