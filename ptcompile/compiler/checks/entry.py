"""Checks of the entry point: `script` names a file and `module` a module, but users write whole
command lines there.

torchrun's options become fields of `elastic` if their meaning is exactly the same. Shell syntax,
other programs and options without a field are left to the user.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.compiler.frontend.errors import invalid_field, problem
from ptcompile.compiler.frontend.parts import SpecParts, program_fields
from ptcompile.diagnostics import Edit, Fix, Problem, Problems, shorten
from ptcompile.kubernetes.commands import PROCESS_WORDS, basename, is_program, unwrap
from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.shell.calls import split_line
from ptcompile.simulator import launchers
from ptcompile.simulator.launchers import command
from ptcompile.simulator.launchers.torchrun import OPTIONS, option_variable
from ptcompile.source.emitter import double_quote, scalar
from ptcompile.spec.objects import yaml_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.training_job import JobSpec


class Entry(NamedTuple):
    """A command line as spec fields."""

    field: str
    """`script` or `module`."""
    value: str
    args: tuple[str, ...] = ()
    elastic: Mapping[str, Any] = {}
    obstacle: str | None = None
    """A help sentence about what the fields do not express; None if they express the whole line."""
    safe: bool = True
    """Whether the fields certainly do what the author meant."""


_MAX_SHOWN = 72
"""Number of characters of a command line that messages and help repeat."""
_shorten = partial(shorten, length=_MAX_SHOWN)
_PROGRAM = "start another program with command: {}, and add elastic if it starts torchrun"
_is_python = Pattern(r"(?a)python(?:3(?:\.\d+)?)?").fullmatch
_is_module = Pattern(r"(?a)[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*").fullmatch
_is_assignment = Pattern(r"(?a)[A-Za-z_]\w*=").match
_VARIABLE = Pattern(r"(?a)\$(?:(\()|(\{))?(?P<name>\w+)(?(1)\))(?(2)\})")
_shell_operator = Pattern(r"[;|&<>`]")
_starts_with_script = Pattern(r"[\w./-]+\.py\b").match
_is_number = Pattern(r"(?a)[0-9]{1,6}").fullmatch
_is_interval = Pattern(r"(?a)[0-9]{1,6}(?:\.[0-9]{1,6})?").fullmatch


def entry_point(parts: SpecParts) -> Problems:
    """Yield an error if `script` or `module` is a command line, with the fields that express it."""
    job = parts.job
    set_fields = program_fields(job)
    for field in ("script", "module"):
        text = getattr(job, field)
        if text is None:
            continue

        noun = "file" if field == "script" else "module"
        if not text.strip():
            yield invalid_field(
                ("spec", field),
                f"must name a {noun}",
                f"set {field} to the {noun} that torchrun starts",
            )
            continue
        if text.split() == [text] and not _shell_operator.search(text):
            # Python finds no module of such a name
            is_file = "$" not in text and ("/" in text or text.endswith(".py"))
            if field == "module" and is_file:
                yield _file_as_module(text, set_fields)
            continue

        from ptcompile.source.secrets.texts import secret_parts

        entry = _read_line(text, field, job)
        included = "shell operators" if text.split() == [text] else "spaces"
        # split into arguments, a secret would cause another finding
        is_fixable = len(set_fields) == 1 and not secret_parts(text)
        yield problem(
            "command-as-script",
            ("spec", field),
            f"torchrun would start one {noun} named {_quote(text)}, {included} included",
            _help_text(entry),
            stage="run",
            authority="torchrun",
            fix=_fix(entry, field, job) if isinstance(entry, Entry) and is_fixable else None,
        )


def _file_as_module(text: str, set_fields: list[str]) -> Problem:
    """Return the error that `module` names a file."""
    edits: list[Edit] = []
    if text.endswith(".py"):
        field = "script"
        value = text
        is_valid = True
        edits.append(Edit("rename", ("spec", "module"), field))
    else:
        field = "module"
        value = text.removeprefix("./").replace("/", ".")
        is_valid = _is_module(value) is not None

    help = "name the module, such as package.train, or use script"
    fix = None
    if is_valid and len(set_fields) == 1:
        help = f"write {field}: {_shorten(value)}"
        edits.append(Edit("set", ("spec", field), value))
        fix = Fix(f"write {field}", tuple(edits))

    return problem(
        "command-as-script",
        ("spec", "module"),
        f"torchrun would start one module named {_quote(text)}, but that is the name of a file",
        help,
        stage="run",
        authority="torchrun",
        fix=fix,
    )


def _read_line(text: str, field: str, job: JobSpec) -> Entry | str:
    """Return the fields of a command line, or a help sentence if it is not one of a Python
    program.
    """
    tokens = split_line(text)
    if tokens:
        return _read_tokens(tokens, field, job)
    return _shell_help(text, field, job)


def _shell_help(text: str, field: str, job: JobSpec) -> str:
    """Return the help for a line that needs a shell."""
    import shlex

    line = text.strip()
    try:
        tokens = [_VARIABLE.sub(r"$(\g<name>)", token) for token in shlex.split(line)]
    except ValueError:
        return "close the quotation mark, and write the arguments in args"

    if "$" in line and split_line(_VARIABLE.sub("x", line)):
        fields = _help_text(_read_tokens(tokens, field, job))
        return f"{fields}; Kubernetes fills in $(NAME) from env, but no shell expands $NAME"

    if field == "module" or _starts_with_script(line):
        line = f"torchrun -m {line}" if field == "module" else f"torchrun {line}"
    script = double_quote(line) if len(line) <= _MAX_SHOWN and "\n" not in line else '"..."'

    return f"run a shell with command: [bash, -c, {script}], and add elastic if it starts torchrun"


def _read_tokens(tokens: list[str], field: str, job: JobSpec) -> Entry | str:
    """Return the fields to write for a command line, or the advice to give instead."""
    first, *rest = tokens
    if _is_assignment(first) and rest:
        name, _, value = first.partition("=")
        return (
            f"add env: {{{name}: {double_quote(value)}}}, and "
            f"{_help_text(_read_tokens(rest, field, job))}"
        )

    is_python = _is_python(basename(first)) is not None
    launch = command.read_command_line(tokens, {})
    start = len(tokens) - len(launch.arguments)
    if launch.launcher == "torchrun" and (start == 1 or is_python):
        if tokens[start - 1] == "torch.distributed.launch":
            return (
                "write script or module, and read LOCAL_RANK instead of the --local-rank that "
                "this launcher adds"
            )
        return _torchrun_entry(launch, tokens, job)
    call = launchers.launcher_of(tokens)
    if call is not None:
        return _launcher_entry(call, tokens)
    if is_python:
        return _python_entry(tokens)
    if unwrap(tokens).start or is_program(first):
        return _PROGRAM.format(_format_list(tokens))

    return _program_entry(tokens, field)


def _torchrun_entry(launch: command.Invocation, tokens: list[str], job: JobSpec) -> Entry | str:
    """Return the fields of a torchrun command line."""
    if not launch.entry or "no-python" in launch.options:
        return _PROGRAM.format(_format_list(tokens))

    elastic: JsonDict = {}
    obstacle = None
    for option, text in launch.options.items():
        if option == "module" or _is_written_anyway(option, text, job):
            continue
        name, convert = _ELASTIC.get(option, ("", None))
        value = convert and convert(text)
        if value is not None and _is_free(name, value, job):
            elastic[name] = value
        else:
            obstacle = obstacle or _obstacle(option, text)

    field = "module" if "module" in launch.options else "script"
    entry, *args = launch.entry
    if " " in entry or (field == "script" and _is_python(basename(entry))):
        if " " not in entry:
            nested = _python_entry([entry, *args])
        else:
            nested = _PROGRAM.format(_format_list(tokens))
        if isinstance(nested, Entry):
            return nested._replace(elastic=elastic, obstacle=obstacle)
        return nested

    return Entry(field, entry, tuple(args), elastic, obstacle)


def _positive_int(text: str) -> int | None:
    return int(text) if _is_number(text) and int(text) else None


def _parse_count(text: str) -> int | None:
    return int(text) if _is_number(text) else None


def _parse_interval(text: str) -> int | float | None:
    if not _is_interval(text) or not float(text):
        return None
    return int(text) if text.isdigit() else float(text)


def _parse_processes(text: str) -> int | str | None:
    return text if text in PROCESS_WORDS else _positive_int(text)


def _parse_nodes(text: str) -> int | str | None:
    least, _, most = text.partition(":")
    min_nodes = _positive_int(least)
    max_nodes = _positive_int(most or least)
    if min_nodes is None or max_nodes is None or min_nodes > max_nodes:
        return None
    if min_nodes == max_nodes:
        return min_nodes
    return f"{min_nodes}:{max_nodes}"


def _choice_parser(*choices: str) -> Callable[[str], str | None]:
    return lambda text: text if text in choices else None


_ELASTIC = {
    "nnodes": ("nnodes", _parse_nodes),
    "nproc-per-node": ("nprocPerNode", _parse_processes),
    "max-restarts": ("maxRestarts", _parse_count),
    "monitor-interval": ("monitorInterval", _parse_interval),
    "start-method": ("startMethod", _choice_parser("spawn", "fork", "forkserver")),
    "rdzv-backend": ("rdzvBackend", _choice_parser("c10d", "static")),
    "rdzv-id": ("rdzvId", lambda text: text or None),
}
"""torchrun options with a field of exactly the same meaning: the field's name, and a parser that
returns its value or None.
"""


def _is_free(field: str, value: object, job: JobSpec) -> bool:
    """Return whether the spec leaves a field of `elastic` unset, or already sets it to this
    value.
    """
    set_fields = job.elastic.model_fields_set if job.elastic is not None else ()
    elastic_fields = {yaml_name(name): name for name in set_fields}
    if field == "nnodes":
        return {"nodes", "master", "worker"}.isdisjoint(
            job.non_null_fields()
        ) and "nnodes" not in elastic_fields
    return field not in elastic_fields or getattr(job.elastic, elastic_fields[field]) == value


def _is_written_anyway(option: str, value: str, job: JobSpec) -> bool:
    """Return whether the manifests already express the option: the number of nodes, or a single
    node.
    """
    least, most = job.node_range()
    if option == "standalone":
        return most == 1
    first, _, last = value.partition(":")
    return option == "nnodes" and (_parse_count(first), _parse_count(last or first)) == (
        least,
        most,
    )


_COMPILER_OPTIONS = frozenset({"rdzv-endpoint", "node-rank", "master-addr", "standalone"})
"""Options that the compiler derives from the pods' names."""


def _obstacle(option: str, value: str) -> str:
    """Return the help for an option that is not a field of `elastic`."""
    if option in _COMPILER_OPTIONS:
        return f"remove --{option}, which ptcompile writes for each target"
    if option == "nnodes":
        return f"set the number of nodes in one place instead of --nnodes={_shorten(value)}"
    if option in _ELASTIC:
        field, _ = _ELASTIC[option]
        return f"set elastic.{field} to the value you want instead of --{option}={_shorten(value)}"
    if option == "master-port":
        return f"write masterPort: {_shorten(value)}"
    if option == "rdzv-conf":
        return "move the settings of --rdzv-conf to elastic.rdzvConfigs"
    if option in OPTIONS:
        return f"set {option_variable(option)} in env, since no field replaces --{option}"
    return f"remove --{_shorten(option)}, which torchrun does not have"


def _launcher_entry(call: launchers.LauncherCall, tokens: list[str]) -> Entry | str:
    """Return the fields of an accelerate, deepspeed or composer command line: torchrun starts
    the same script.
    """
    _, entry = launchers.parse_options(call.name, tokens[call.options_start :])
    options = tokens[call.options_start : len(tokens) - len(entry)]
    is_module = options[-1:] in (["-m"], ["--module"])
    if is_module:
        options = options[:-1]
    if not entry or " " in entry[0]:
        return _PROGRAM.format(_format_list(tokens))

    obstacle = None
    if options:
        obstacle = (
            f"torchrun starts the processes instead of {call.name}, whose options do not apply"
        )

    script, *args = entry
    return Entry(
        field="module" if is_module else "script",
        value=script,
        args=tuple(args),
        elastic={},
        obstacle=obstacle,
        # deepspeed passes --local_rank to the script, composer sets its own variables
        safe=call.name == "accelerate",
    )


def _python_entry(tokens: list[str]) -> Entry | str:
    """Return the fields of a Python command line: torchrun starts Python itself, with -u."""
    python, *_ = tokens
    start = 1
    while tokens[start : start + 1] == ["-u"]:
        start += 1
    safe = python == basename(python)
    if tokens[start : start + 1] == ["-m"] and tokens[start + 1 :]:
        return Entry("module", tokens[start + 1], tuple(tokens[start + 2 :]), safe=safe)
    if not tokens[start:] or tokens[start].startswith("-") or " " in tokens[start]:
        return (
            f"remove {python} and its options, since torchrun starts Python itself, or use "
            "command: [...]"
        )
    return Entry("script", tokens[start], tuple(tokens[start + 1 :]), safe=safe)


def _program_entry(tokens: list[str], field: str) -> Entry | str:
    """Return the fields of a line that begins with the script or the module."""
    first, *rest = tokens
    if first == "-m" and rest:
        module, *arguments = rest
        return Entry("module", module, tuple(arguments))
    if first.endswith(".py") and " " not in first:
        return Entry("script", first, tuple(rest))
    if field == "module" and _is_module(first):
        return Entry("module", first, tuple(rest))
    if " " in first or any(token.endswith(".py") for token in rest if not token.startswith("-")):
        return (
            "rename the file if its name has spaces, or start another program with command: "
            f"{_format_list(tokens)}"
        )
    if "." in basename(first) or not rest:
        if rest:
            return _PROGRAM.format(_format_list(tokens))
        return Entry(field, first)
    if rest[0].startswith("-"):
        return Entry("script", first, tuple(rest), safe=False)

    return _PROGRAM.format(_format_list(tokens))


def _help(entry: Entry) -> str:
    """Return the help that lists the fields to write, and what these cannot express."""
    assignments = [f"{entry.field}: {scalar(entry.value)}"]
    if entry.args:
        assignments.append(f"args: {_format_list(entry.args)}")
    if entry.elastic:
        fields = ", ".join(f"{name}: {scalar(value)}" for name, value in entry.elastic.items())
        assignments.append(f"elastic: {{{fields}}}")

    *earlier, last = assignments
    text = f"{', '.join(earlier)} and {last}" if earlier else last
    return f"write {text}; {entry.obstacle}" if entry.obstacle else f"write {text}"


def _help_text(entry: Entry | str) -> str:
    return _help(entry) if isinstance(entry, Entry) else entry


def _fix(entry: Entry, field: str, job: JobSpec) -> Fix | None:
    """Return the fix that writes the fields. Existing arguments of the job and its roles follow
    those of the line.
    """
    if entry.obstacle:
        return None

    edits = [Edit("rename", ("spec", field), entry.field)] if entry.field != field else []
    edits.append(Edit("set", ("spec", entry.field), entry.value))
    names = [entry.field]
    if entry.args:
        names.append("args")
        edits.append(Edit("set", ("spec", "args"), [*entry.args, *(job.args or [])]))
        for name, role in (("master", job.master), ("worker", job.worker)):
            if role and role.args is not None:
                edits.append(Edit("set", ("spec", name, "args"), [*entry.args, *role.args]))

    if entry.elastic:
        names.append("elastic")
    for name, value in entry.elastic.items():
        edits.append(Edit("set", ("spec", "elastic", name), value))

    return Fix(f"write {', '.join(names)}", tuple(edits), entry.safe)


def _format_list(items: Iterable[str]) -> str:
    """Return a list of strings on one line of YAML."""
    words = [
        double_quote(item) if not item or set(item) & _FLOW else scalar(item) for item in items
    ]
    text = f"[{', '.join(words)}]"
    return text if len(text) <= _MAX_SHOWN else "[...]"


_FLOW = frozenset(",[]{}\n")


def _quote(text: str) -> str:
    return json.dumps(_shorten(text), ensure_ascii=False)
