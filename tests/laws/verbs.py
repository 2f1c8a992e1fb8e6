"""Every verb as a function and as a command that return findings, so that their answers can be compared."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

import ptcompile
from ptcompile.rehearsal import RehearsalError
from tests.cli.running import here
from tests.making import smallest

SPEC = smallest("resources: {cpu: 8, memory: 32Gi}")
"""A spec without findings."""
MANIFEST = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: pytorch
        image: img:1
        command: [python, train.py]
        resources:
          requests: {cpu: 8, memory: 32Gi}
          limits: {cpu: 8, memory: 32Gi}
"""
"""A manifest without findings, which `import` and `convert` read too."""
PROFILE = "apiVersion: ptcompile/v1\nkind: ClusterProfile\nmetadata: {name: research}\nspec: {}\n"
"""A profile that changes nothing."""
FILENAME = "given.yaml"
_OTHER_FILENAME = "other.yaml"
_CLUSTER_FILENAME = "cluster.yaml"


class Given(NamedTuple):
    """What a verb is given: a text, and keyword arguments by the names that most functions have for them."""

    text: str
    keywords: Mapping[str, Any] = {}

    @property
    def other_side(self) -> str:
        """A text without findings that can be compared with this one."""
        if "TrainingJob" in self.text:
            return SPEC
        return self.text.replace("wide", "3") if "size: wide" in self.text else MANIFEST


class Said(NamedTuple):
    """A finding, as far as it must be the same for every verb."""

    code: str
    severity: str
    message: str
    path: tuple[str | int, ...]
    span: tuple[int, ...] | None
    filename: str | None


Diagnostics = Iterable[ptcompile.Diagnostic]


def findings_of(diagnostics: Diagnostics) -> list[Said]:
    """Return the findings of a function."""
    return [
        Said(
            diagnostic.code,
            diagnostic.severity,
            diagnostic.message,
            diagnostic.path,
            diagnostic.span and tuple(diagnostic.span),
            diagnostic.filename,
        )
        for diagnostic in diagnostics
    ]


def _plain(verb: Callable[..., Any], **fixed: Any) -> Callable[[Given], Diagnostics]:
    def call(given: Given) -> Diagnostics:
        result: Diagnostics = verb(
            given.text, filename=FILENAME, **fixed, **given.keywords
        ).diagnostics
        return result

    return call


def _fix(given: Given) -> Diagnostics:
    return ptcompile.fix(given.text, filename=FILENAME, **given.keywords).report.diagnostics


def _diff_of_old(given: Given) -> Diagnostics:
    keywords = _renamed(given, "from_cluster")
    names = FILENAME, _OTHER_FILENAME
    return ptcompile.diff(given.text, given.other_side, filenames=names, **keywords).diagnostics


def _diff_of_new(given: Given) -> Diagnostics:
    keywords = _renamed(given, "to_cluster")
    names = _OTHER_FILENAME, FILENAME
    return ptcompile.diff(given.other_side, given.text, filenames=names, **keywords).diagnostics


def _upgrade(given: Given) -> Diagnostics:
    keywords = _renamed(given, "to_cluster")
    return ptcompile.upgrade(given.text, filename=FILENAME, **keywords).diagnostics


def _renamed(given: Given, name: str) -> dict[str, Any]:
    """Return the keyword arguments with the profile under another name."""
    return {name if key == "cluster" else key: value for key, value in given.keywords.items()}


def _platform(given: Given) -> Diagnostics:
    """Return the findings of the jobs that a cluster is set up for: they have the names of their files."""
    Path(FILENAME).write_text(given.text, encoding="utf-8")
    keywords = {**given.keywords}
    profile = keywords.pop("cluster", None)
    return ptcompile.platform(profile, [Path(FILENAME)], **keywords).diagnostics


def _rehearse(given: Given) -> Diagnostics:
    """Return what is found before anything runs; `nothing_runs` replaces the part that runs."""
    try:
        ptcompile.rehearse(given.text, filename=FILENAME, **given.keywords)
    except ptcompile.CompileError as error:
        return error.diagnostics
    except RehearsalError:
        pass
    return ()


def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let rehearsals end where they would start processes."""

    def rehearse(*_arguments: Any, **_keywords: Any) -> None:
        raise RehearsalError("nothing runs in this test")

    monkeypatch.setattr("ptcompile.rehearsal.rehearse", rehearse)


FUNCTIONS: dict[str, Callable[[Given], Diagnostics]] = {
    "compile": _plain(ptcompile.compile),
    "lint": _plain(ptcompile.lint),
    "fix": _fix,
    "simulate": _plain(ptcompile.simulate),
    "stored": _plain(ptcompile.stored),
    "explain": _plain(ptcompile.explain),
    "diff of the old side": _diff_of_old,
    "diff of the new side": _diff_of_new,
    "upgrade": _upgrade,
    "import": _plain(ptcompile.import_manifests),
    "convert": _plain(ptcompile.convert, target="job"),
    "admit": _plain(ptcompile.admit),
    "requires": _plain(ptcompile.requires),
    "platform": _platform,
    "rehearse": _rehearse,
}
"""The findings of each verb, by its name."""
READ_NO_MANIFESTS = frozenset({"compile", "explain", "platform"})
"""Verbs to which each document is a spec."""
READ_NO_SPECS = frozenset({"import", "convert"})


def signature(verb: str) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a verb's function, by name."""
    name = {"import": "import_manifests"}.get(verb, verb.partition(" of ")[0])
    return inspect.signature(getattr(ptcompile, name)).parameters


class Run(NamedTuple):
    """The outcome of a command."""

    status: int
    findings: list[Said]
    printed: str
    """What it printed on standard error."""
    words: list[str]
    """The command without the report, which is a file."""


_WORDS = {
    "fix": ("lint", "--fix"),
    "stored": ("simulate", "--stored"),
    "convert": ("convert", "--target", "job"),
}
"""How a command begins, if not with the verb's name."""


def run(verb: str, given: Given, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a verb's command in the current folder, and return its findings as the report has them."""
    report = Path("report.json")
    report.unlink(missing_ok=True)
    Path(FILENAME).write_text(given.text, encoding="utf-8")

    words = _words(verb, given)
    done = here(capsys, *words, "--output-format", f"json={report}")
    diagnostics = (
        json.loads(report.read_text(encoding="utf-8"))["diagnostics"] if report.exists() else []
    )
    findings = [
        Said(
            diagnostic["code"],
            diagnostic["severity"],
            diagnostic["message"],
            tuple(diagnostic["path"]),
            diagnostic["span"] and tuple(diagnostic["span"].values()),
            diagnostic["filename"],
        )
        for diagnostic in diagnostics
    ]
    return Run(done.status, findings, done.err, words)


def _words(verb: str, given: Given) -> list[str]:
    """Return the words of a command, and write the files that its options name."""
    options = _options(verb, given.keywords)
    profile = _written_profile(given.keywords.get("cluster"))
    if verb == "platform":
        return ["platform", profile or _written_profile(PROFILE), FILENAME, *options]
    if verb.startswith("diff"):
        Path(_OTHER_FILENAME).write_text(given.other_side, encoding="utf-8")
        is_old = verb.endswith("old side")
        sides = [FILENAME, _OTHER_FILENAME] if is_old else [_OTHER_FILENAME, FILENAME]
        option = "--from-cluster" if is_old else "--to-cluster"
        return ["diff", *sides, *([option, profile] if profile else []), *options]
    option = "--to" if verb == "upgrade" else "--cluster"
    if verb == "upgrade" and not profile:
        options += ["--to-kubernetes", "1.37"]
    return [*_WORDS.get(verb, (verb,)), FILENAME, *([option, profile] if profile else []), *options]


def _written_profile(text: str | None) -> str:
    """Return the name of a file with this profile, or an empty string without one."""
    if text is None:
        return ""
    Path(_CLUSTER_FILENAME).write_text(text, encoding="utf-8")
    return _CLUSTER_FILENAME


_SCHEMAS_BY_CONFIGURATION = frozenset({"stored", "import", "convert"})
"""Commands without --schemas."""


def _options(verb: str, keywords: Mapping[str, Any]) -> list[str]:
    """Return the options that mean the same as keyword arguments, except the profile."""
    words: list[str] = []
    for path, value in keywords.get("overrides", ()):
        words += ["--set", f"{path}={yaml.safe_dump(value).splitlines()[0]}"]
    if "name" in keywords:
        words += ["--name", keywords["name"]]
    schemas = keywords.get("schemas", ())
    if schemas and verb in _SCHEMAS_BY_CONFIGURATION:
        Path("ptcompile.toml").write_text(f"schemas = {json.dumps(schemas)}\n", encoding="utf-8")
    else:
        words += [f"--schemas={path}" for path in schemas]
    for number, text in enumerate(keywords.get("beside", ())):
        beside = Path(f"beside{number}.yaml")
        beside.write_text(text, encoding="utf-8")
        words += ["--with", str(beside)]
    return words
