"""Every door gives the same findings of a file, whatever the configuration, or `doors.json` says why not.

`doors.json` has the number of findings that a door has more or fewer than `ptcompile.lint`, by configuration, with the
reason. The numbers only shrink: one that is too large fails the test too.
"""

from __future__ import annotations

import json
import shutil
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TypedDict

import pytest

import ptcompile
from tests.conftest import GOLDEN, ROOT
from tests.laws import plugin
from tests.laws.circumstances import CRD, CRD_FILE, WIDGET
from tests.laws.doors import DOORS, DOORS_OF_FOLDERS, DOORS_OF_SPECS, FILENAME, Seen
from tests.laws.verbs import MANIFEST, PROFILE, SPEC
from tests.making import smallest

RATCHET = Path(__file__).parent / "doors.json"
REFERENCE = "Python, lint"
REFERENCE_OF_FOLDERS = "hook"
_POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, imge: x}]}\n"
_ITEMS = "- {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, imge: x}]}}\n- 5\n"

CONFIGURATIONS = {
    "none": "",
    "declared rule": plugin.DECLARING,
    "plugin": 'plugins = ["acme-labels", "acme-rules"]\n',
    "severity": (
        'ignore = ["PTC109"]\n[severity]\nPTC3 = "note"\nPTC2 = "error"\n'
        f'[per-file-ignores]\n"{FILENAME}" = ["PTC303"]\n[per-file-severity]\n"{FILENAME}" = {{PTC1 = "error"}}\n'
    ),
    "profile": 'cluster = "cluster.yaml"\n',
    "schemas": f'schemas = ["{CRD_FILE}"]\n',
    "baseline": 'baseline = "known.toml"\n',
    "exclude": f'exclude = ["{FILENAME}"]\n',
}
OWN_SPECS = {
    "clean": SPEC,
    "suppressed": smallest("nodes: 2\nresources: {gpu: 8}  # ptcompile: ignore[PTC109] later"),
    "unknown field": smallest("nods: 4"),
    "text error": SPEC + "  a: [\n",
    "one name twice": f"{SPEC}---\n{SPEC}",
    "several": f"{SPEC}---\n{smallest('nodes: 99', name='other')}",
}
OWN_MANIFESTS = {
    "clean": MANIFEST,
    "duplicate key": MANIFEST + "kind: Job\n",
    "text error": MANIFEST + "  a: [\n",
    "no mapping": "hello\n",
    "one name twice": f"{MANIFEST}---\n{MANIFEST}",
    "a spec too": f"{MANIFEST}---\n{smallest(name='other')}",
    "a list": f"apiVersion: v1\nkind: List\nitems:\n{_ITEMS}",
    "a template": _POD.replace("name: a", "name: {{ .Values.name }}"),
    "quoted marks": _POD.replace("name: a", 'name: "{{ .Values.name }}"'),
    "a profile": PROFILE,
    "not for Kubernetes": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n",
    "suppressed": MANIFEST.replace("image: img:1", "imge: img:1  # ptcompile: ignore[PTC501]"),
    "unused comment": MANIFEST.replace("image: img:1", "image: img:1  # ptcompile: ignore[PTC302]"),
    "queue elsewhere": MANIFEST.replace(
        "{name: train}", "{name: train, labels: {kueue.x-k8s.io/queue-name: q}}"
    ),
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a repository of its own, with what the configurations name."""
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    monkeypatch.chdir(repository)
    (repository / CRD_FILE).write_text(CRD, encoding="utf-8")
    shutil.copy(ROOT / "examples" / "llm" / "cluster.yaml", repository)
    plugin.installed(tmp_path / "packages", monkeypatch)


def _sampled(name: str, one_in: int) -> bool:
    """Return whether a name is in the sample; another name that is added does not change that."""
    return zlib.crc32(name.encode()) % one_in == 0


@cache
def specs(configuration: str) -> Mapping[str, str]:
    """Return the texts whose documents are specs, by name: own ones, and others for each configuration."""
    every = sorted(GOLDEN.glob("*/spec.yaml"))
    paths = (path for path in every if _sampled(f"{configuration} {path.parent.name}", 10))
    golden = {path.parent.name: path.read_text(encoding="utf-8") for path in paths}
    return {**{f"spec: {name}": text for name, text in OWN_SPECS.items()}, **golden}


@cache
def manifests(configuration: str) -> Mapping[str, str]:
    """Return the other texts, by name: manifests of golden cases, and the bad examples of rules."""
    paths = {f"{path.parent.name}/{path.name}": path for path in sorted(GOLDEN.glob("*/*.yaml"))}
    golden = {
        name: path.read_text(encoding="utf-8")
        for name, path in paths.items()
        if path.name not in ("spec.yaml", "cluster.yaml")
        and _sampled(f"{configuration} {name}", 50)
    }
    rules = {
        rule["code"]: rule["bad"]
        for rule in ptcompile.rules()
        if _sampled(f"{configuration} {rule['code']}", 20) and "TrainingJob" not in rule["bad"]
    }
    return {**OWN_MANIFESTS, **golden, **rules}


def _differences(
    text: str, doors: Mapping[str, Callable[[], list[Seen]]]
) -> Iterator[tuple[str, Counter[Seen], Counter[Seen]]]:
    """Yield what each door finds more and what it finds less than the reference of its kind."""
    Path(FILENAME).write_text(text, encoding="utf-8")
    _write_baseline()
    alone = DOORS[REFERENCE]()
    around = DOORS_OF_FOLDERS[REFERENCE_OF_FOLDERS]()
    for door, find in {**doors, **DOORS_OF_FOLDERS}.items():
        answers = find()
        reference = around if door in DOORS_OF_FOLDERS else alone
        expected = (
            [one._replace(line=0) for one in reference] if door == "KRM function" else reference
        )
        yield door, Counter(answers) - Counter(expected), Counter(expected) - Counter(answers)


def _write_baseline() -> None:
    """Write a baseline that knows every second finding of the file, and whose entries are not stale."""
    found = [
        diagnostic
        for diagnostic in ptcompile.lint(Path(FILENAME)).diagnostics
        if diagnostic.code != "PTC009"
    ][::2]
    entries = []
    for diagnostic in found:
        kind, _, name = (diagnostic.resource or "").partition("/")
        texts = {
            "kind": kind,
            "name": name,
            "namespace": diagnostic.namespace or "",
            "path": diagnostic.stable_path,
        }
        lines = [f"{key} = {json.dumps(text)}" for key, text in texts.items() if text]
        entries += ["[[finding]]", f'code = "{diagnostic.code}"', f'file = "{FILENAME}"', *lines]
    Path("known.toml").write_text("\n".join([*entries, ""]), encoding="utf-8")


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_doors_agree(configuration: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    Path("ptcompile.toml").write_text(CONFIGURATIONS[configuration], encoding="utf-8")
    more = f"---\n{WIDGET}" if configuration == "schemas" else ""
    texts = [(name, text + more, DOORS) for name, text in manifests(configuration).items()]
    # the custom resource is not a spec, and compile reads nothing else; a baseline is one of findings of lint
    doors = DOORS if more or configuration == "baseline" else {**DOORS, **DOORS_OF_SPECS}
    texts += [(name, text + more, doors) for name, text in specs(configuration).items()]

    counts: Counter[str] = Counter()
    shown: list[str] = []
    for name, text, of_text in texts:
        for door, extra, missing in _differences(text, of_text):
            counts[door] += extra.total() + missing.total()
            shown += [f"{door}: {name}: + {tuple(element)}" for element in extra.elements()]
            shown += [f"{door}: {name}: - {tuple(element)}" for element in missing.elements()]
    capsysbinary.readouterr()
    recorded = {
        one["door"]: one["count"] for one in _ratchet() if one["configuration"] == configuration
    }
    assert {door: count for door, count in counts.items() if count} == recorded, "\n".join(shown)


class Recorded(TypedDict):
    """A line of the ratchet."""

    door: str
    configuration: str
    count: int
    reason: str


def _ratchet() -> list[Recorded]:
    entries: list[Recorded] = json.loads(RATCHET.read_text(encoding="utf-8"))
    return entries


def test_every_difference_has_a_reason() -> None:
    doors = {*DOORS, *DOORS_OF_FOLDERS, *DOORS_OF_SPECS}
    for one in _ratchet():
        assert one.keys() == {"door", "configuration", "count", "reason"}
        assert one["door"] in doors
        assert one["configuration"] in CONFIGURATIONS
        assert len(one["reason"].split()) > 5


def test_the_sample_finds_something() -> None:
    """A sample of clean texts would hold nothing."""
    counter: Counter[str] = Counter()
    for text in (*specs("none").values(), *manifests("none").values()):
        Path(FILENAME).write_text(text, encoding="utf-8")
        counter.update({one.code for one in DOORS[REFERENCE]()})
    assert len(specs("none")) + len(manifests("none")) >= 40
    assert len(counter) >= 20
