"""Every verb finds the same in the same circumstances, in the same order, or a table says why not.

The reference is what most verbs find; `Circumstance.different` has the reasons of the others, and each must be needed.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
import yaml

import ptcompile
from tests.cli.running import here
from tests.laws import plugin
from tests.laws.circumstances import CRD, CRD_FILE, EMPTY, MANIFESTS, SPECS, Circumstance
from tests.laws.parameters import KEYWORDS, NO_OPTION, WITHOUT, takes
from tests.laws.verbs import (
    FILENAME,
    FUNCTIONS,
    MANIFEST,
    READ_NO_MANIFESTS,
    READ_NO_SPECS,
    SPEC,
    Given,
    Said,
    findings_of,
    nothing_runs,
    run,
    signature,
)

Capture = pytest.CaptureFixture[str]
CIRCUMSTANCES = {**EMPTY, **SPECS, **MANIFESTS}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a repository of its own, where nothing is started and the plugins are installed."""
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    monkeypatch.chdir(repository)
    (repository / CRD_FILE).write_text(CRD, encoding="utf-8")
    nothing_runs(monkeypatch)
    plugin.installed(tmp_path / "packages", monkeypatch)


def given_to(circumstance: Circumstance) -> Given:
    """Return what functions are given: the extensions of the configuration too, which commands read themselves."""
    if not circumstance.configuration:
        return circumstance.given
    extensions = plugin.configured(circumstance.configuration)
    return circumstance.given._replace(
        keywords={**circumstance.given.keywords, "extensions": extensions}
    )


def verbs_of(name: str) -> list[str]:
    """Return the verbs that can be given what a circumstance is."""
    apart = (
        READ_NO_SPECS if name in SPECS else READ_NO_MANIFESTS if name in MANIFESTS else frozenset()
    )
    keywords = CIRCUMSTANCES[name].given.keywords
    return [
        verb
        for verb in FUNCTIONS
        if verb not in apart and all(takes(verb, keyword) for keyword in keywords)
    ]


PAIRS = [(name, verb) for name in CIRCUMSTANCES for verb in verbs_of(name)]
COMMAND_PAIRS = [
    (name, verb)
    for name, verb in PAIRS
    if NO_OPTION.get(verb, {}).keys().isdisjoint(CIRCUMSTANCES[name].given.keywords)
]


def reference(name: str) -> list[Said]:
    """Return what most verbs find: what the first one without a reason does."""
    circumstance = CIRCUMSTANCES[name]
    verb = next(verb for verb in verbs_of(name) if verb not in circumstance.different)
    return findings_of(FUNCTIONS[verb](given_to(circumstance)))


@pytest.mark.parametrize(("name", "verb"), PAIRS)
def test_verbs_agree(name: str, verb: str) -> None:
    circumstance = CIRCUMSTANCES[name]
    expected = reference(name)
    of_function = findings_of(FUNCTIONS[verb](given_to(circumstance)))
    assert tuple(one.code for one in expected) == circumstance.codes
    if verb in circumstance.different:
        assert of_function != expected, "the reason is not needed any more"
    else:
        assert of_function == expected


def test_reasons_are_those_of_verbs() -> None:
    unknown = {
        name: {*circumstance.different} - {*verbs_of(name)}
        for name, circumstance in CIRCUMSTANCES.items()
    }
    assert {name: verbs for name, verbs in unknown.items() if verbs} == {}


@pytest.mark.parametrize(("name", "verb"), COMMAND_PAIRS)
def test_a_command_finds_what_its_function_does(name: str, verb: str, capsys: Capture) -> None:
    circumstance = CIRCUMSTANCES[name]
    function = FUNCTIONS[
        "simulate" if verb == "rehearse" else verb
    ]  # which reads the same, and returns warnings too
    expected = findings_of(function(given_to(circumstance)))
    done = run(verb, circumstance.given, capsys)
    if circumstance.is_usage:
        assert (done.status, done.findings) == (2, [])
        assert "a key is missing" in done.printed
        return
    assert sorted(map(_comparable, done.findings)) == sorted(map(_comparable, expected))
    assert done.status == _status(verb, circumstance.given, expected), done.printed


@pytest.mark.parametrize(
    ("verb", "keyword"), [(verb, keyword) for verb in NO_OPTION for keyword in NO_OPTION[verb]]
)
def test_commands_reject_the_options_that_they_lack(
    verb: str, keyword: str, capsys: Capture
) -> None:
    done = run(verb, Given(MANIFEST, {keyword: [CRD_FILE]}), capsys)
    assert "unrecognized arguments" in done.printed, NO_OPTION[verb][keyword]


def _comparable(finding: Said) -> tuple[Any, ...]:
    """Return a finding without the place of an option, and with the name that a function is not given."""
    is_file = finding.filename in (FILENAME, "other.yaml")
    span = finding.span if is_file else None
    return finding.code, finding.severity, finding.message, str(finding.path), str(span), is_file


def _status(verb: str, given: Given, findings: list[Said]) -> int:
    """Return the status of a command with these findings."""
    codes = {finding.code for finding in findings}
    if codes & {"PTC009", "PTC903"}:  # there is no answer
        return 2
    if any(finding.severity == "error" for finding in findings):
        return 1
    if verb.startswith("diff"):
        old, new = ([*yaml.safe_load_all(text)] for text in (given.text, given.other_side))
        return int(old != new)
    return 2 if verb == "rehearse" else 0  # in this test, nothing runs


@pytest.mark.parametrize("verb", FUNCTIONS)
@pytest.mark.parametrize("name", EMPTY)
def test_a_command_says_that_nothing_is_there(name: str, verb: str, capsys: Capture) -> None:
    done = run(verb, EMPTY[name].given, capsys)
    printed = here(capsys, *done.words)
    assert "the file has no document" in printed.out + printed.err
    assert (done.status, printed.status) == (2, 2)


def test_diff_reads_the_schemas_of_the_configuration(capsys: Capture) -> None:
    given = MANIFESTS["a CRD in schemas"].given
    Path("ptcompile.toml").write_text(f'schemas = ["{CRD_FILE}"]\n', encoding="utf-8")
    done = run("diff of the new side", given._replace(keywords={}), capsys)
    assert [finding.code for finding in done.findings] == ["PTC502"]


@pytest.mark.parametrize(
    "option",
    [
        "--fix",
        "--diff",
        "--add-ignore",
        "--statistics",
        "--write-baseline=known.toml",
        "--exit-zero",
    ],
)
def test_lint_says_so_whatever_it_is_to_do(option: str, capsys: Capture) -> None:
    Path(FILENAME).write_text("# a comment\n", encoding="utf-8")
    done = here(capsys, "lint", FILENAME, option)
    assert done.status == 2, done
    assert "PTC009" in done.out, done
    assert not Path("known.toml").exists()
    assert here(capsys, "lint", FILENAME, option, "--allow-empty").status == 0


@pytest.mark.parametrize("verb", FUNCTIONS)
def test_passes_of_plugins_run(verb: str) -> None:
    text = MANIFEST if verb in READ_NO_SPECS else SPEC
    [*FUNCTIONS[verb](Given(text, {"extensions": plugin.configured(plugin.LABELLING)}))]
    assert plugin.runs()


@pytest.mark.parametrize("keyword", KEYWORDS)
@pytest.mark.parametrize("verb", FUNCTIONS)
def test_verbs_have_the_same_parameters(verb: str, keyword: str) -> None:
    reason = WITHOUT.get(verb, {}).get(keyword)
    is_of_new_side = verb == "diff of the old side" and keyword in ("overrides", "name")
    has_parameter = keyword in signature(verb) and not is_of_new_side
    assert has_parameter == (reason is None), reason


def test_every_function_that_reads_sources_is_a_verb_here() -> None:
    sources = {"source", "spec", "specs", "a"}
    functions = [getattr(ptcompile, name) for name in ptcompile.__all__]
    reading = {
        function.__name__
        for function in functions
        if inspect.isfunction(function) and sources & {*inspect.signature(function).parameters}
    }
    reading.remove("diagnose")  # of the manifest, it tells only the causes of what the logs say
    assert reading == {
        getattr(ptcompile, {"import": "import_manifests"}.get(name, name)).__name__
        for name in {verb.partition(" of ")[0] for verb in FUNCTIONS}
    }
