"""The documents for contributors and maintainers, issue forms and workflows match the repository."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from ptcompile._internal.about import __version__
from ptcompile._internal.limits import EXPANDED, TRUSTED, UNTRUSTED
from ptcompile.diagnostics.codes import CODES
from ptcompile.kubernetes.versions import RELEASES
from ptcompile.rehearsal.cast import MAX_PODS
from ptcompile.simulator.as_json import MAX_LISTED_CHARACTERS
from ptcompile.source.nodes import MAX_DEPTH, MAX_DOCUMENT, MAX_VALUES
from tests.conftest import ROOT

GITHUB = ROOT / ".github"
MAINTAINING = [
    path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs" / "maintaining").iterdir())
]
DOCUMENTS = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/stability.md", *MAINTAINING)
PAGES = sorted(
    {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")} - {*DOCUMENTS}
)
WITH_PATHS = (*DOCUMENTS, "benchmarks/README.md")
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").iterdir() if path.name != "config.yml")
WORKFLOWS = sorted((GITHUB / "workflows").iterdir())
AVOIDED = r"\b(mend(s|ed|ing)?|nobody|beside the|stands? (in|at|by)|is no [a-z]|own mind)\b"
"""Words of the old style, which docs/maintaining/english.md advises against."""


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _paths(text: str) -> set[str]:
    """Yield repository paths between backticks or after `](`, except placeholders such as `NAME` and apiVersions."""
    known = "|".join(re.escape(path.name) for path in ROOT.iterdir() if path.is_dir())
    quoted = re.findall(rf"(?<=[`\s(])((?:{known})/[\w./-]+)(?=[`\s)#,;:])", text)
    linked = [target for target in re.findall(r"\]\(([^)#]+)", text) if "://" not in target]
    return {
        path.rstrip(".")
        for path in (*quoted, *linked)
        if not re.search(r"NAME|^ptcompile/v\d", path)
    }


def _anchors(text: str) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def _rows(name: str, marker: str) -> list[list[str]]:
    """Return the rows of the table between two comments, without its heading."""
    text = _text(name).split(f"<!-- {marker} -->")[1].split(f"<!-- /{marker} -->")[0]
    return [
        [cell.strip() for cell in row.strip("|").split("|")]
        for row in text.strip().splitlines()[2:]
    ]


def test_the_paths_are_recognized() -> None:
    paths = _paths(
        "see `ptcompile/cli/`, [it](docs/x.md#y) and `tests/ir/test_NAME.py`; `ptcompile/v1`, `.ci/run` (golden/a)."
    )
    assert paths == {"ptcompile/cli/", "docs/x.md", ".ci/run", "golden/a"}


@pytest.mark.parametrize("name", WITH_PATHS)
def test_every_path_named_exists(name: str) -> None:
    folder = (ROOT / name).parent
    paths = _paths(_text(name))
    assert paths
    assert [
        path for path in sorted(paths) if not ((ROOT / path).exists() or (folder / path).exists())
    ] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_link_to_a_section_resolves(name: str) -> None:
    folder = (ROOT / name).parent
    for target, anchor in re.findall(r"\]\(([^):#]*)#([^)]+)\)", _text(name)):
        document = folder / target if target else ROOT / name
        assert anchor in _anchors(document.read_text(encoding="utf-8")), f"{target}#{anchor}"


def _unknown_names(text: str) -> list[str]:
    """Return the names that a text gives after a module's path and that the module does not define."""
    named = re.findall(r"`(ptcompile/[\w/]+\.py)`: `([\w.]+)`", text)
    assert len(named) > 1
    return [
        f"{path}: {name}"
        for path, name in named
        if not (ROOT / path).is_file() or name not in _defined_names(ast.parse(_text(path)), "")
    ]


def _defined_names(scope: ast.Module | ast.ClassDef, prefix: str) -> set[str]:
    """Return the functions, classes, methods and variables of a module; methods as `Class.method`."""
    names: set[str] = set()
    for node in scope.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(prefix + node.name)
        if isinstance(node, ast.ClassDef):
            names |= _defined_names(node, f"{node.name}.")
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names |= {prefix + target.id for target in targets if isinstance(target, ast.Name)}
    return names


def test_contributing_says_where_things_are() -> None:
    assert _unknown_names(_text("CONTRIBUTING.md")) == []


def test_a_wrong_answer_is_detected() -> None:
    text = "`ptcompile/cli/config.py`: `load`, `ptcompile/cli/config.py`: `Config.load`, `ptcompile/none.py`: `load`"
    assert _unknown_names(text) == [
        "ptcompile/cli/config.py: Config.load",
        "ptcompile/none.py: load",
    ]


def test_the_recommended_tests_exist() -> None:
    """A stale path would be an error for everyone who copies the command."""
    (command,) = [
        line
        for line in _text("CONTRIBUTING.md").splitlines()
        if line.startswith("python -m pytest")
    ]
    paths = [word for word in command.split() if word.startswith("tests/")]
    assert len(paths) > 1
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_script_of_ci_is_explained() -> None:
    named = set(
        re.findall(r"^\| `(\.ci/\w+)` \|", _text("docs/maintaining/checks.md"), re.MULTILINE)
    )
    assert named == {f".ci/{path.name}" for path in (ROOT / ".ci").iterdir() if path.is_file()}


def test_the_newest_entry_of_the_changelog_is_this_version_or_unreleased() -> None:
    entries = re.findall(r"^## \[([\d.]+)\] - (.+)$", _text("CHANGELOG.md"), re.MULTILINE)
    version, date = entries[0]
    assert date == "unreleased" or (
        version == __version__ and re.fullmatch(r"\d{4}-\d\d-\d\d", date)
    )
    assert __version__ in dict(entries)
    numbers = [tuple(map(int, entry.split("."))) for entry, _ in entries]
    assert numbers == sorted(numbers, reverse=True)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_codes_have_the_names_given_to_them(name: str) -> None:
    text = _text(name)
    for rule, code in re.findall(r"`([\w-]+)` \((PTC\d+)\)", text):
        assert CODES[rule] == code
    assert set(re.findall(r"PTC\d{3}", text)) <= set(CODES.values())


def test_the_guide_installs_this_version() -> None:
    versions = set(re.findall(r"(?:ptcompile==|rev: v)([\d.]+)", _text("docs/guide/ci.md")))
    assert versions == {__version__}


UNRELEASED = "no version has been released yet"
INSTALLS = re.compile(
    r"pip install (?:-\S+ )*['\"]?ptcompile\b|(?:uvx|pipx|uv tool)\b.*\bptcompile\b|rev: v\d"
)
"""Commands that need a released version."""


def test_pages_are_true_before_and_after_a_release() -> None:
    """Before a release, a page with a command that needs one says so; after it, no page says so any more."""
    is_released = "unreleased" not in next(
        line for line in _text("CHANGELOG.md").splitlines() if line.startswith("## [")
    )
    names = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/**/*.md")]
    texts = {name: _text(name) for name in (*names, "README.md", "editors/vscode/README.md")}
    noted = {name for name, text in texts.items() if UNRELEASED in " ".join(text.lower().split())}
    installing = {name for name, text in texts.items() if INSTALLS.search(text)}
    assert {
        "README.md",
        "docs/index.md",
        "docs/guide/first-job.md",
        "docs/guide/ci.md",
    } <= noted or is_released
    assert installing <= noted or is_released
    assert not (noted and is_released)


def test_package_metadata_has_authors_and_urls() -> None:
    project = tomllib.loads(_text("pyproject.toml"))["project"]
    assert project["authors"]
    assert set(project["urls"]) == {"Documentation", "Changelog", "Source"}


SHEETS = r"(?<![\w/-])[a-z_]+\.md\b"
"""Document names without a folder, which are useless to readers of the package."""


def test_the_package_names_only_documents_that_readers_have() -> None:
    paths = [path for path in (ROOT / "ptcompile").rglob("*.py") if path.name != "about.py"]
    named = {
        (path.name, word)
        for path in paths
        for word in re.findall(SHEETS, path.read_text(encoding="utf-8"))
    }
    assert named == set()
    assert re.findall(SHEETS, "(Volcano 1.16, notes.md 3.1)") == ["notes.md"]


def test_every_named_page_of_facts_exists() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "ptcompile").rglob("*.py"))
    named = set(re.findall(r"facts/([a-z-]+)", text))
    assert {"torchrun", "volcano"} & named
    assert [
        name for name in sorted(named) if not (ROOT / "docs" / "facts" / f"{name}.md").exists()
    ] == []


def test_security_states_the_limits_of_the_code() -> None:
    stated = {row[0]: (row[1], row[2]) for row in _rows("SECURITY.md", "limits")}
    usual, strangers = TRUSTED, UNTRUSTED
    lowered = {
        "a file": tuple(f"{one.characters >> 20} MiB" for one in (usual, strangers)),
        "lines of a file": tuple(f"{one.lines:,}" for one in (usual, strangers)),
        "documents in a file, empty ones included": tuple(
            f"{one.documents:,}" for one in (usual, strangers)
        ),
        "findings reported of a file": tuple(f"{one.findings:,}" for one in (usual, strangers)),
        "names in ignore comments of a file": tuple(
            f"{one.comments:,}" for one in (usual, strangers)
        ),
        "roles of a spec, tasks of a Volcano Job with svc": tuple(
            str(one.roles) for one in (usual, strangers)
        ),
        "jobs of a spec with variants": tuple(str(one.variants) for one in (usual, strangers)),
        "values and lines of texts for `explain --html` and `watch`": tuple(
            f"{one.page:,}" for one in (usual, strangers)
        ),
    }
    same = {
        "a document": f"{MAX_DOCUMENT >> 20} MiB",
        "values in a document, aliases expanded": f"{MAX_VALUES:,}",
        "what aliases stand for in a file": f"{MAX_VALUES:,} values, {MAX_DOCUMENT >> 20} MiB",
        "nesting": f"{MAX_DEPTH} levels",
        "what references put into variables, command line and script": f"{EXPANDED >> 10} KiB each",
        "pods that `simulate --all` lists": f"{MAX_LISTED_CHARACTERS >> 20} MiB",
        "pods of a rehearsal": str(MAX_PODS),
    }
    assert stated == lowered | {what: (most, "the same") for what, most in same.items()}


@pytest.mark.parametrize("release", RELEASES.values(), ids=lambda release: str(release["title"]))
def test_the_page_has_the_releases_of_the_table(release: Mapping[str, str]) -> None:
    (row,) = [
        line
        for line in _text("docs/stability.md").splitlines()
        if line.startswith(f"| {release['title']} |")
    ]
    _, _, supported, compared, _ = [cell.strip() for cell in row.split("|")]
    assert supported.split()[-1] == release["modeled"]
    assert supported.split()[0] in (release.get("oldest"), release["modeled"], "up")
    assert ("recorded" in release) == bool(compared)
    assert release.get("recorded", "") in compared


def test_the_oldest_python_is_that_of_the_project() -> None:
    oldest = tomllib.loads(_text("pyproject.toml"))["project"]["requires-python"].removeprefix(">=")
    assert f"CPython {oldest} or newer" in _text("docs/stability.md")
    assert f'python-version: "{oldest}"' in _text(".github/workflows/ci.yml")


@pytest.mark.parametrize("name", [*DOCUMENTS, "README.md", *PAGES])
def test_the_documents_follow_the_style_guide(name: str) -> None:
    text = re.sub(
        r"<!-- now and better -->.*?<!-- /now and better -->", "", _text(name), flags=re.DOTALL
    )
    text = re.sub(
        r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE
    )  # other tests cover the output
    assert [match.group() for match in re.finditer(AVOIDED, text)] == []
    assert re.search(AVOIDED, "why, and how to mend it")


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.stem)
def test_github_accepts_the_forms(form: Path) -> None:
    data: dict[str, Any] = yaml.safe_load(form.read_text(encoding="utf-8"))
    assert set(data) == {"name", "description", "title", "labels", "body"}
    fields = [field for field in data["body"] if field["type"] != "markdown"]
    assert {field["type"] for field in fields} <= {"textarea", "input", "dropdown"}
    assert len({field["id"] for field in fields}) == len(fields)
    assert len({field["attributes"]["label"] for field in fields}) == len(fields)
    assert "version" in {field["id"] for field in fields}
    for field in fields:
        assert ("options" in field["attributes"]) == (field["type"] == "dropdown")


def test_the_forms_have_the_documented_names() -> None:
    names = {yaml.safe_load(form.read_text(encoding="utf-8"))["name"] for form in FORMS}
    assert names == {"A real server disagrees", "False alarm", "Bug"}
    text = " ".join((_text("CONTRIBUTING.md") + _text("SECURITY.md")).split())
    assert '"A real server disagrees"' in text
    assert '"False alarm"' in text


WRITES: dict[tuple[str, str], tuple[dict[str, str], str]] = {
    ("docs", "publish"): ({"pages": "write", "id-token": "write"}, "refs/heads/main"),
    ("package", "publish"): ({"id-token": "write"}, "refs/tags/v"),
    ("package", "announce"): ({"contents": "write"}, "refs/tags/v"),
}
"""Permissions of the jobs that publish, and the ref that they run for."""


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda workflow: workflow.stem)
def test_workflows_are_read_only_and_without_secrets(workflow: Path) -> None:
    text = workflow.read_text(encoding="utf-8")
    data: dict[str, Any] = yaml.safe_load(text)
    assert data["permissions"] == {"contents": "read"}
    assert "secrets." not in text
    for name, job in data["jobs"].items():
        permissions, ref = WRITES.get((workflow.stem, name), (None, ""))
        assert job.get("permissions") == permissions
        assert ref in job.get("if", "")
        assert job["timeout-minutes"] <= 60
        checkouts = [
            step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")
        ]
        assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_a_release_needs_one_version_everywhere_and_a_dated_entry(tmp_path: Path) -> None:
    for name in (
        ".ci/release", "ptcompile/_internal/about.py", "integrations/torchx/pyproject.toml",
        "integrations/helm/plugin.yaml", "integrations/mcp/server.json", "CHANGELOG.md",
    ):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    changelog = tmp_path / "CHANGELOG.md"
    entry = f"## [{__version__}] - 2027-01-02\n\n### Added\n\n- A note.\n\n## [0.0.1] - 2026-01-01\n\n- Old.\n"
    changelog.write_text(entry, encoding="utf-8")

    def release(tag: str) -> tuple[int, str, str]:
        words: list[str | Path] = [tmp_path / ".ci" / "release", tag]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr

    assert release(f"v{__version__}") == (0, "### Added\n\n- A note.\n", "")
    status, out, err = release("v9.9.9")
    assert (status, out, err.count("not 9.9.9")) == (1, "", 4)
    changelog.write_text(entry.replace("2027-01-02", "unreleased"), encoding="utf-8")
    status, _, err = release(f"v{__version__}")
    assert status == 1
    assert "with its date" in err


def test_the_entry_of_the_mcp_registry_has_the_name_in_the_readme_and_its_length() -> None:
    """The registry compares the name with the README on PyPI, and rejects a longer description."""
    entry = json.loads(_text("integrations/mcp/server.json"))
    assert re.findall(r"mcp-name: (\S+) ", _text("README.md")) == [entry["name"]]
    assert len(entry["description"]) <= 100
    (package,) = entry["packages"]
    words = [
        *package["runtimeArguments"],
        {"value": package["identifier"]},
        *package["packageArguments"],
    ]
    assert [word["value"] for word in words] == [
        f"ptcompile[mcp]=={__version__}",
        "ptcompile",
        "mcp",
        "{root}",
    ]


def test_workflows_call_executable_scripts() -> None:
    called = {
        name
        for workflow in WORKFLOWS
        for name in re.findall(r"run: .*?(\.ci/\w+)", workflow.read_text("utf-8"))
    }
    assert called == {
        ".ci/run",
        ".ci/flyte",
        ".ci/torch",
        ".ci/adapters",
        ".ci/docs",
        ".ci/editors",
        ".ci/image",
        ".ci/instructions",
        ".ci/krm",
        ".ci/mutants",
        ".ci/release",
        ".ci/wheel",
    }
    assert all((ROOT / name).stat().st_mode & 0o100 for name in called)
