"""The entry point: `script` names a file and `module` a module, but people write whole command lines there.

torchrun's options become fields of `elastic` where they mean exactly the same. What a shell would expand, another
program and an option without a field are left to the user.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.compiler.frontend.errors import problem
from ptcompile.compiler.frontend.parts import SpecParts
from ptcompile.diagnostics import Edit, Fix, Path, Problem
from ptcompile.kubernetes.commands import basename, is_program, split_line, unwrap
from ptcompile.simulator import launchers
from ptcompile.simulator.launchers import command
from ptcompile.simulator.launchers.torchrun import OPTIONS, option_variable
from ptcompile.source.emitter import quoted, scalar
from ptcompile.spec.objects import yaml_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.spec.training_job import JobSpec


class Entry(NamedTuple):
    """What a command line starts, as fields of a spec."""

    field: str
    """`script` or `module`."""
    value: str
    args: tuple[str, ...] = ()
    elastic: Mapping[str, Any] = {}
    obstacle: str | None = None
    """What the fields do not express, as a help sentence; None if they express the whole line."""
    safe: bool = True
    """Whether the fields are what the author meant, beyond doubt."""


_MAX_SHOWN: Final = 72
"""Characters of a command line that messages and help repeat."""
_PROGRAM: Final = "start another program with command: {}, and add elastic if it starts torchrun"
_is_python = Pattern(r"(?a)python(?:3(?:\.\d+)?)?").fullmatch
_is_module = Pattern(r"(?a)[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*").fullmatch
_is_assignment = Pattern(r"(?a)[A-Za-z_]\w*=").match
_VARIABLE = Pattern(r"(?a)\$(?:\{(\w+)\}|(\w+)|\((\w+)\))")
_is_number = Pattern(r"(?a)[0-9]{1,6}").fullmatch
_is_interval = Pattern(r"(?a)[0-9]{1,6}(?:\.[0-9]{1,6})?").fullmatch


def entry_point(parts: SpecParts) -> Iterator[Problem]:
    """Yield an error if `script` or `module` is a command line, with the fields that express it."""
    job = parts.job
    starts = [name for name in ("script", "module", "command") if getattr(job, name) is not None]
    for field in ("script", "module"):
        text = getattr(job, field)
        if text is None or not text.strip() or text.split() == [text]:
            continue
        from ptcompile.source.secrets.texts import secret_parts

        entry = _read_line(text, field, job)
        is_fixable = len(starts) == 1 and not secret_parts(text)  # as an argument a secret is another finding
        noun = "file" if field == "script" else "module"
        yield problem(
            "command-as-script",
            ("spec", field),
            f"torchrun would start one {noun} named {_shown(text)}, spaces included",
            _help(entry) if isinstance(entry, Entry) else entry,
            stage="run",
            authority="torchrun",
            fix=_fix(entry, field, job) if isinstance(entry, Entry) and is_fixable else None,
        )


def _read_line(text: str, field: str, job: JobSpec) -> Entry | str:
    """Return the fields of a command line, or a help sentence if it is not one of a Python program."""
    words = split_line(text)
    return _read_words(words, field, job) if words else _shell_help(text, field, job)


def _shell_help(text: str, field: str, job: JobSpec) -> str:
    """Return what to write instead of a line that needs a shell."""
    import shlex

    line = text.strip()
    try:
        words = [
            _VARIABLE.sub(lambda match: f"$({match[1] or match[2] or match[3]})", word) for word in shlex.split(line)
        ]
    except ValueError:
        return "close the quotation mark, and write the arguments in args"
    if "$" in line and split_line(_VARIABLE.sub("x", line)):
        fields = _then(_read_words(words, field, job))
        return f"{fields}; Kubernetes fills in $(NAME) from env, but no shell expands $NAME"
    if field == "module" or words[0].endswith(".py"):
        line = f"torchrun -m {line}" if field == "module" else f"torchrun {line}"
    shown = quoted(line) if len(line) <= _MAX_SHOWN and "\n" not in line else '"..."'
    return f"run a shell with command: [bash, -c, {shown}], and add elastic if it starts torchrun"


def _read_words(words: list[str], field: str, job: JobSpec) -> Entry | str:
    if _is_assignment(words[0]) and words[1:]:
        name, _, value = words[0].partition("=")
        return f"add env: {{{name}: {quoted(value)}}}, and {_then(_read_words(words[1:], field, job))}"
    is_python = _is_python(basename(words[0])) is not None
    launch = command.read_command_line(words, {})
    start = len(words) - len(launch.arguments)
    if launch.launcher == "torchrun" and (start == 1 or is_python):
        if words[start - 1] == "torch.distributed.launch":
            return "write script or module, and read LOCAL_RANK instead of the --local-rank that this launcher adds"
        return _of_torchrun(launch, words, job)
    if (other := launchers.launcher_of(words)) is not None:
        return _of_launcher(*other, words)
    if is_python:
        return _of_python(words)
    return _PROGRAM.format(_listed(words)) if unwrap(words).start or is_program(words[0]) else _of_words(words, field)


def _of_torchrun(launch: command.Invocation, words: list[str], job: JobSpec) -> Entry | str:
    """Return the fields of a torchrun command line."""
    if not launch.entry or "no-python" in launch.options:
        return _PROGRAM.format(_listed(words))
    elastic: dict[str, Any] = {}
    obstacle = None
    for option, text in launch.options.items():
        if option == "module" or _is_written_anyway(option, text, job):
            continue
        name, convert = _ELASTIC.get(option, ("", _no_value))
        value = convert(text)
        if value is not None and _is_free(name, value, job):
            elastic[name] = value
        else:
            obstacle = obstacle or _obstacle(option, text)
    field = "module" if "module" in launch.options else "script"
    entry, *args = launch.entry
    if " " in entry or (field == "script" and _is_python(basename(entry))):
        nested = _of_python([entry, *args]) if " " not in entry else _PROGRAM.format(_listed(words))
        return nested._replace(elastic=elastic, obstacle=obstacle) if isinstance(nested, Entry) else nested
    return Entry(field, entry, tuple(args), elastic, obstacle)


def _no_value(_text: str) -> None:
    """Return None: the option has no field."""


def _whole(text: str) -> int | None:
    return int(text) if _is_number(text) and int(text) else None


def _count(text: str) -> int | None:
    return int(text) if _is_number(text) else None


def _interval(text: str) -> int | float | None:
    if not _is_interval(text) or not float(text):
        return None
    return int(text) if text.isdigit() else float(text)


def _processes(text: str) -> int | str | None:
    return text if text in {"auto", "cpu", "gpu"} else _whole(text)


def _nodes(text: str) -> int | str | None:
    least, _, most = text.partition(":")
    few, many = _whole(least), _whole(most or least)
    if few is None or many is None or few > many:
        return None
    return few if few == many else f"{few}:{many}"


def _one_of(*words: str) -> Callable[[str], str | None]:
    return lambda text: text if text in words else None


_ELASTIC: Final[dict[str, tuple[str, Callable[[str], Any]]]] = {
    "nnodes": ("nnodes", _nodes),
    "nproc-per-node": ("nprocPerNode", _processes),
    "max-restarts": ("maxRestarts", _count),
    "monitor-interval": ("monitorInterval", _interval),
    "start-method": ("startMethod", _one_of("spawn", "fork", "forkserver")),
    "rdzv-backend": ("rdzvBackend", _one_of("c10d", "static")),
    "rdzv-id": ("rdzvId", lambda text: text or None),
}
"""torchrun's options with a field of exactly the same meaning: its name, and its value or None."""


def _is_free(field: str, value: object, job: JobSpec) -> bool:
    """Return whether the spec leaves a field of `elastic` open, or already gives it this value."""
    elastic_fields = {} if job.elastic is None else {yaml_name(name): name for name in job.elastic.model_fields_set}
    if field == "nnodes":
        return {"nodes", "master", "worker"}.isdisjoint(job.given()) and "nnodes" not in elastic_fields
    return field not in elastic_fields or getattr(job.elastic, elastic_fields[field]) == value


def _is_written_anyway(option: str, value: str, job: JobSpec) -> bool:
    """Return whether the manifests already have the option's meaning: the number of nodes, or a single node."""
    least, most = job.node_range()
    if option == "standalone":
        return most == 1
    first, _, last = value.partition(":")
    return option == "nnodes" and (_count(first), _count(last or first)) == (least, most)


_DECIDED: Final = frozenset({"rdzv-endpoint", "node-rank", "master-addr", "standalone"})
"""Options that the compiler writes from the names of the pods."""


def _obstacle(option: str, value: str) -> str:
    """Return what to do about an option that is not a field of `elastic`."""
    if option in _DECIDED:
        return f"remove --{option}, which ptcompile writes for each target"
    if option == "nnodes":
        return f"set the number of nodes in one place instead of --nnodes={_cut(value)}"
    if option in _ELASTIC:
        return f"set elastic.{_ELASTIC[option][0]} to the value you want instead of --{option}={_cut(value)}"
    if option == "master-port":
        return f"write masterPort: {_cut(value)}"
    if option == "rdzv-conf":
        return "move the settings of --rdzv-conf to elastic.rdzvConfigs"
    if option in OPTIONS:
        return f"set {option_variable(option)} in env, since no field replaces --{option}"
    return f"remove --{_cut(option)}, which torchrun does not have"


def _of_launcher(name: str, start: int, words: list[str]) -> Entry | str:
    """Return the fields of a command line of accelerate, deepspeed or composer: torchrun starts the same script."""
    script = launchers.parse_options(name, words[start:])[1]
    options = words[start : len(words) - len(script)]
    is_module = options[-1:] in (["-m"], ["--module"])
    options = options[:-1] if is_module else options
    if not script or " " in script[0]:
        return _PROGRAM.format(_listed(words))
    obstacle = f"torchrun starts the processes instead of {name}, whose options do not apply" if options else None
    safe = name == "accelerate"  # deepspeed passes --local_rank to the script, composer sets variables of its own
    return Entry("module" if is_module else "script", script[0], script[1:], {}, obstacle, safe)


def _of_python(words: list[str]) -> Entry | str:
    """Return the fields of a Python command line: torchrun starts Python itself, with -u."""
    at = 1
    while words[at : at + 1] == ["-u"]:
        at += 1
    safe = words[0] == basename(words[0])
    if words[at : at + 1] == ["-m"] and words[at + 1 :]:
        return Entry("module", words[at + 1], tuple(words[at + 2 :]), safe=safe)
    if not words[at:] or words[at].startswith("-") or " " in words[at]:
        return f"remove {words[0]} and its options, since torchrun starts Python itself, or use command: [...]"
    return Entry("script", words[at], tuple(words[at + 1 :]), safe=safe)


def _of_words(words: list[str], field: str) -> Entry | str:
    """Return the fields of a line that begins with the script or the module."""
    first, rest = words[0], tuple(words[1:])
    if first == "-m" and rest:
        return Entry("module", rest[0], rest[1:])
    if first.endswith(".py") and " " not in first:
        return Entry("script", first, rest)
    if field == "module" and _is_module(first):
        return Entry("module", first, rest)
    if " " in first or any(word.endswith(".py") for word in rest if not word.startswith("-")):
        return f"rename the file if its name has spaces, or start another program with command: {_listed(words)}"
    if "." in basename(first) or not rest:
        return _PROGRAM.format(_listed(words)) if rest else Entry(field, first)
    return Entry("script", first, rest, safe=False) if rest[0].startswith("-") else _PROGRAM.format(_listed(words))


def _help(entry: Entry) -> str:
    """Return the fields as a spec has them, and what they leave out."""
    fields = {entry.field: scalar(entry.value)}
    if entry.args:
        fields["args"] = _listed(entry.args)
    if entry.elastic:
        fields["elastic"] = "{" + ", ".join(f"{name}: {scalar(value)}" for name, value in entry.elastic.items()) + "}"
    shown = [f"{name}: {value}" for name, value in fields.items()]
    text = " and ".join([", ".join(shown[:-1]), shown[-1]] if shown[1:] else shown)
    return f"write {text}" + (f"; {entry.obstacle}" if entry.obstacle else "")


def _then(rest: Entry | str) -> str:
    return _help(rest) if isinstance(rest, Entry) else rest


def _fix(entry: Entry, field: str, job: JobSpec) -> Fix | None:
    """Return the edits that write the fields; arguments of the job and of its roles follow those of the line."""
    if entry.obstacle:
        return None
    edits = [Edit("rename", ("spec", field), entry.field)] if entry.field != field else []
    edits.append(Edit("set", ("spec", entry.field), entry.value))
    holders: list[tuple[Path, list[str] | None]] = [(("spec",), job.args or [])]
    holders += [(("spec", n), role.args) for n, role in (("master", job.master), ("worker", job.worker)) if role]
    if entry.args:
        edits += [Edit("set", (*at, "args"), [*entry.args, *args]) for at, args in holders if args is not None]
    edits += [Edit("set", ("spec", "elastic", name), value) for name, value in entry.elastic.items()]
    names = [entry.field, *(["args"] if entry.args else []), *(["elastic"] if entry.elastic else [])]
    return Fix(f"write {', '.join(names)}", tuple(edits), entry.safe)


def _listed(words: list[str] | tuple[str, ...]) -> str:
    """Return a list of strings on one line of YAML."""
    shown = "[" + ", ".join(quoted(word) if not word or set(word) & _FLOW else scalar(word) for word in words) + "]"
    return shown if len(shown) <= _MAX_SHOWN else "[...]"


_FLOW: Final = frozenset(",[]{}\n")


def _shown(text: str) -> str:
    return json.dumps(_cut(text), ensure_ascii=False)


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 3]}..."
