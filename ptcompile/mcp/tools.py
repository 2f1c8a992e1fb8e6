"""The tools of `tools.json`: what each does, its arguments, the schema of its result, and the
function that answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile._internal.spelling import closest_match, spelling_help
from ptcompile.api.reference import SCHEMAS, schema, targets
from ptcompile.kubernetes.unstructured import Json, JsonDict
from ptcompile.mcp.inputs import (
    Call,
    CallError,
    NamedText,
    document,
    inputs,
    judged_inputs,
    settings,
)
from ptcompile.operators.targets import TARGETS
from ptcompile.report import Unchecked
from ptcompile.report.layout import format_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.api.lint import Report
    from ptcompile.diagnostics import Diagnostic

    Schema = JsonDict


class Tool(NamedTuple):
    """A function that an assistant may call."""

    description: str
    arguments: Mapping[str, Schema]
    """By name. All are optional except those in `required`."""
    run: Callable[[Call], JsonDict]
    """Answer a call. Raises `CallError`."""
    required: tuple[str, ...] = ()

    def input_schema(self) -> Schema:
        """Return the JSON Schema of the arguments."""
        return {
            "type": "object",
            "properties": dict(self.arguments),
            "required": list(self.required),
            "additionalProperties": False,
        }


def check_arguments(tool: Tool, arguments: Json) -> None:
    """Raise `CallError` for an argument that the tool does not have, one of the wrong type, or a
    missing one.
    """
    for name, value in arguments.items():
        declared = tool.arguments.get(name)
        if declared is None:
            listing = f"its arguments are {', '.join(tool.arguments) or 'none'}"
            help = spelling_help(name[:50], tool.arguments, listing)
            raise CallError(f"no argument {name[:50]!r}; {help}")

        python_type, described = _TYPES[declared["type"]]
        if not isinstance(value, python_type):
            raise CallError(f"{name} must be {described}, not {type(value).__name__}")

        choices = declared.get("enum", [value])
        if value not in choices:
            raise CallError(
                f"no {name} {str(value)[:50]!r}; it must be one of {', '.join(choices)}"
            )

    missing = [name for name in tool.required if name not in arguments]
    if missing:
        raise CallError(f"{missing[0]} is required")


def shorten_lists(result: Json) -> JsonDict:
    """Return a result with as many items of its lists as an assistant has use for, the errors among
    findings first, and the number of those that are left out by the list's name, such as
    `jobs.pods`.
    """
    for most in _LENGTHS:
        omitted: dict[str, int] = {}
        shorter = _with_short_lists(result, most, "", omitted)
        whole = {**shorter, "omitted": omitted, "help": _OMITTED_HELP} if omitted else shorter
        if len(json.dumps(whole, ensure_ascii=False)) <= MOST_CHARACTERS:
            break
    return whole


def _with_short_lists(value: Any, most: int, name: str, omitted: dict[str, int]) -> Any:
    """Return a value with at most `most` items in each list, and count the others in `omitted`, by
    the list's path.
    """
    if isinstance(value, Mapping):
        prefix = f"{name}." if name else ""
        return {
            key: _with_short_lists(item, most, f"{prefix}{key}", omitted)
            for key, item in value.items()
        }
    if not isinstance(value, list):
        return value

    if len(value) > most:
        omitted[name] = omitted.get(name, 0) + len(value) - most
    if name.endswith("diagnostics"):
        # warnings are cut before errors
        value = sorted(value, key=lambda finding: finding["severity"] != "error")
    return [_with_short_lists(item, most, name, omitted) for item in value[:most]]


MOST_CHARACTERS = 25_000
"""Characters of a result, unless the call asks for all of it."""
_LENGTHS = (1_000_000, 100, 30, 10, 5, 2, 1)
_OMITTED_HELP = "call again with whole: true for all of it"
_TYPES: dict[str, tuple[type, str]] = {
    "string": (str, "a string"),
    "boolean": (bool, "true or false"),
}


def _to_report(
    diagnostics: tuple[Diagnostic, ...], unchecked: Sequence[Unchecked] = ()
) -> JsonDict:
    from ptcompile.report import json as json_report

    report: JsonDict = json.loads(json_report(diagnostics, {}, unchecked))
    return report


def _to_whole_report(report: Report, filename: str | None) -> JsonDict:
    return _to_report(report.diagnostics, [Unchecked(filename, each) for each in report.unchecked])


def _mask_data(data: object) -> JsonDict:
    """Return data without secrets of a known format, as the commands print it."""
    masked: JsonDict = json.loads(format_json(data))
    return masked


def _lint(call: Call) -> JsonDict:
    item = document(call)
    return _to_whole_report(_linter(call, item)(item.content), item.filename)


def _linter(call: Call, item: NamedText) -> Callable[[bytes], Report]:
    """Return a function from a version of a file to its report, as `ptcompile lint FILE
    --context ROOT` has it.
    """
    from ptcompile.api.lint import Report, lint_source

    options, profile = settings(call, item)
    around = call.around(item)

    def lint(content: bytes) -> Report:
        if around.is_excluded:
            return Report((), 0, ("a file that the configuration excludes",))

        report = lint_source(
            content,
            item.filename,
            options,
            beside=around.beside,
            profile=profile,
            earlier=around.earlier,
        )

        return report._replace(diagnostics=tuple(around.without_known(report.diagnostics)))

    return lint


def _fix(call: Call) -> JsonDict:
    from ptcompile.api.fix import fix_findings_of

    item = document(call)
    unsafe = call.arguments.get("unsafe", False)
    fixed = fix_findings_of(item.content, _linter(call, item), unsafe=unsafe)

    return {
        "text": fixed.text,
        "applied": _to_report(fixed.applied),
        "remaining": _to_whole_report(fixed.report, item.filename),
    }


def _compile(call: Call) -> JsonDict:
    from ptcompile.api.compile import compile_inputs

    item = document(call)
    judge = settings(call, item)
    source = judged_inputs(item, judge, only_specs=True)
    result = compile_inputs(source, call.arguments.get("target"), judge.options.selection)
    return _yaml_and_report(result.yaml() if result.manifests else "", result.diagnostics)


def _yaml_and_report(yaml: str, diagnostics: tuple[Diagnostic, ...]) -> JsonDict:
    return {"yaml": yaml, "report": _to_report(diagnostics)}


def _simulate(call: Call) -> JsonDict:
    from ptcompile.api.simulate import DEFAULT, simulate_inputs

    world = simulate_inputs(inputs(call, document(call)), call.arguments.get("target", DEFAULT))
    return _mask_data(world.to_dict())


def _admit(call: Call) -> JsonDict:
    from ptcompile.api.admit import admit_inputs
    from ptcompile.api.inputs import File
    from ptcompile.source import streams

    dumps = None
    if {"state_text", "state_path"} & set(call.arguments):
        state = document(call, "state_")
        dumps = [File(streams.read_dump(state.content, state.filename, "state"), state.filename)]
    return _mask_data(admit_inputs(inputs(call, document(call)), dumps).to_dict())


def _explain(call: Call) -> JsonDict:
    subjects = {"rule", "field", "text", "path"} & set(call.arguments)
    if len(subjects) != 1:
        raise CallError("give exactly one of rule, field, text and path")
    if "rule" in subjects:
        return {"rule": explain_rule(call.arguments["rule"])}
    if "field" in subjects:
        return {"field": explain_field(call.arguments["field"])}

    from ptcompile.api.explain import explain_inputs

    item = document(call)
    judge = settings(call, item)
    source = judged_inputs(item, judge, only_specs=True)
    explanation = explain_inputs(source, call.arguments.get("target"), judge.options.selection)
    at = call.arguments.get("at")
    if at is not None and explanation.causes:
        causes = explanation.at(at)
        near = explanation.near(at)
        if not causes:
            raise CallError(
                f"no manifest has {at[:200]!r}" + (f"; did you mean {near}?" if near else "")
            )
        explanation = explanation._replace(causes=causes)

    return {"explanation": _mask_data(explanation.to_dict())}


def _diagnose(call: Call) -> JsonDict:
    from ptcompile.api.diagnose import diagnose_inputs

    logs = {"logs": call.arguments["logs"]}
    if not {"text", "path"} & set(call.arguments):
        return _mask_data(diagnose_inputs(logs, None).to_dict())
    item = document(call)
    judge = settings(call, item)
    return _mask_data(diagnose_inputs(logs, judged_inputs(item, judge), judge.options).to_dict())


def explain_rule(word: str) -> str:
    """Return the page of a code or the name of a rule. Raises `CallError` for an unknown one."""
    from ptcompile.diagnostics.codes import CODES
    from ptcompile.linter.pages import explain_name, name_of

    name = name_of(word)
    if name is None:
        near = closest_match(word[:50], [*CODES, *CODES.values()])
        raise CallError(f"no rule {word[:50]!r}" + (f"; did you mean {near}?" if near else ""))
    return explain_name(name)


def explain_field(address: str) -> str:
    """Return the reference of a field. Raises `CallError` for an unknown one."""
    from ptcompile.explainer.field_reference import UnknownFieldError, find_field

    try:
        return find_field(address[:1000]).text()
    except UnknownFieldError as error:
        raise CallError(str(error)) from None


def _diff(call: Call) -> JsonDict:
    from ptcompile.api.diff import diff_inputs
    from ptcompile.differ.applying import ApplyMode

    old = document(call, "old_")
    new = document(call, "new_")
    judge = settings(call, new)
    sides = judged_inputs(old, judge), judged_inputs(new, judge)
    return _mask_data(
        diff_inputs(*sides, call.arguments.get("target"), ApplyMode(), None).to_dict()
    )


def _upgrade(call: Call) -> JsonDict:
    from ptcompile.api.upgrade import upgrade_inputs

    item = document(call)
    old = call.settings(item.filename or "-", document(call, "old_").content)
    return _mask_data(upgrade_inputs(judged_inputs(item, old), inputs(call, item)).to_dict())


def _convert(call: Call) -> JsonDict:
    from ptcompile.api.convert import convert_inputs

    lossy = call.arguments.get("lossy", False)
    result = convert_inputs(inputs(call, document(call)), call.arguments["target"], lossy=lossy)
    return _yaml_and_report(result.yaml() if result.manifests else "", result.diagnostics)


def _import(call: Call) -> JsonDict:
    from ptcompile.api.import_manifests import import_inputs
    from ptcompile.source.emitter import emit_all

    imported = import_inputs(
        inputs(call, document(call)), lossy=call.arguments.get("lossy", False), script_values={}
    )

    return {
        **_yaml_and_report(imported.yaml(), imported.diagnostics),
        "profile": imported.profile_yaml() or "",
        "kept": emit_all(imported.kept) if imported.kept else "",
    }


def _targets(_call: Call) -> JsonDict:
    return targets().to_dict()


def _schema(call: Call) -> JsonDict:
    return schema(call.arguments["name"])


_ANSWERS = {
    "lint": _lint,
    "fix": _fix,
    "compile": _compile,
    "simulate": _simulate,
    "admit": _admit,
    "explain": _explain,
    "diagnose": _diagnose,
    "diff": _diff,
    "upgrade": _upgrade,
    "convert": _convert,
    "import": _import,
    "targets": _targets,
    "schema": _schema,
}


def _load_tools() -> dict[str, Tool]:
    """Return the tools of `tools.json`. A null argument there has the common definition, which
    several tools share.
    """
    table = load_table("mcp/tools.json")
    choices = {"targets": list(TARGETS), "schemas": list(SCHEMAS)}
    tools: dict[str, Tool] = {}
    for name, row in table["tools"].items():
        arguments: dict[str, Schema] = {}
        for argument, declared in row["arguments"].items():
            described = dict(declared or table["arguments"][argument])
            if "enum" in described:
                described["enum"] = choices[described["enum"]]
            arguments[argument] = described
        tools[name] = Tool(
            row["description"], arguments, _ANSWERS[name], tuple(row.get("required", ()))
        )

    return tools


TOOLS = _load_tools()
"""The tools, in the order in which they are listed."""
