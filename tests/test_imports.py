"""Modules that each command loads: cold starts are mostly imports, and only these tests notice a new one."""

from __future__ import annotations

import ast
import inspect
import pickle
import pydoc
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ptcompile
from ptcompile.linter import FAMILIES

ROOT = Path(__file__).parents[1]

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: train}
spec: {restartPolicy: Never, containers: [{name: main, image: "img:1", command: [python, train.py]}]}
"""
ROLE = """\
      replicas: 1
      restartPolicy: Never
      template:
        spec:
          containers:
          - name: pytorch
            image: img:1
            command: [torchrun, train.py]
            env: [{name: NCCL_DEBUG, value: INFO}]
            resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
"""
PYTORCHJOB = f"""\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: train}}
spec:
  runPolicy: {{cleanPodPolicy: Running}}
  pytorchReplicaSpecs:
    Master:
{ROLE}    Worker:
{ROLE}"""
NEVER = {
    "pydantic",
    "yaml",
    "deepdiff",
    "dataclasses",
    "inspect",
    "asyncio",
    "tomllib",
    "datetime",
    "decimal",
    "ast",
}
"""Modules that are not needed to lint a clean manifest."""
COMPILING = ("api.compile", "compiler", "spec", "ir", "operators.targets")
REPORTING = ("source.emitter", "source.suppression", "source.secrets.masking", "report.text")
SIMULATED = ("simulator.world", "simulator.job", "operators.trainer.runtimes")
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  backoffLimit: 0
  completionMode: Indexed
  completions: 2
  parallelism: 2
  template:
    metadata: {labels: {app: train}}
    spec:
      restartPolicy: Never
      subdomain: train
      containers:
      - name: main
        image: img:1
        command: [torchrun, --nnodes=2, "--node-rank=$(JOB_COMPLETION_INDEX)", --master-addr=train-0.train, train.py]
        ports: [{containerPort: 29500}]
        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
---
apiVersion: v1
kind: Service
metadata: {name: train}
spec: {clusterIP: None, selector: {app: train}}
"""
SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: train}
spec: {image: "img:1", script: train.py, nodes: 2, resources: {cpu: 4, memory: 8Gi, gpu: 1}}
"""


def _ran(code: str, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout


def _loaded(code: str, *words: str) -> set[str]:
    return set(_ran(f"import sys\n{code}\nprint(*sys.modules)", *words).split())


def _commanded(*words: str) -> set[str]:
    """Return the modules that the command has loaded when it exits."""
    code = "import atexit, os\nos._exit = lambda status: None\nfrom ptcompile.cli import run\nrun()"
    return _loaded(code, *words)


def _linted(text: str) -> set[str]:
    return _loaded("import ptcompile\nassert ptcompile.lint(sys.argv[1]).ok", text)


def _compiled(text: str, *, ok: bool = True) -> set[str]:
    return _loaded(
        f"import ptcompile\nassert ptcompile.compile(sys.argv[1], lint=False).ok is {ok}", text
    )


def _rules(loaded: set[str]) -> list[str]:
    families = {f"ptcompile.{family}" for families in FAMILIES.values() for family in families}
    return sorted(name for name in loaded if name.rpartition(".")[0] in families)


def test_the_package_alone_loads_nothing() -> None:
    bare = _loaded("pass")
    loaded = _loaded("import ptcompile") - bare
    assert {name for name in loaded if name.startswith("ptcompile")} == {
        "ptcompile",
        "ptcompile._internal",
        "ptcompile._internal.about",
    }
    assert not loaded & {"re", "typing", "enum", "json"}


def test_plugins_cost_nothing_if_none_is_named(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    spec = "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: a}\nspec: {image: i:1, script: t.py}\n"
    path.write_text(spec, encoding="utf-8")
    code = "import atexit, os\nos._exit = lambda status: None\nfrom ptcompile.cli import run\nrun()"
    for command in ("compile", "lint"):
        loaded = _loaded(code, command, str(path))
        assert "ptcompile.compiler.pipeline" in loaded
        assert not {name for name in loaded if name.startswith("ptcompile.extending")}
        assert "importlib.metadata" not in loaded


@pytest.mark.parametrize(
    "code",
    [
        "import ptcompile.operators.table as table; print(len(table.KINDS) > 10)",
        "import ptcompile.extending; print(ptcompile.extending.target_named('job').name == 'job')",
        "from ptcompile.linter.pages import explain_name; print('PTC302' in explain_name('missing-shm'))",
        "from ptcompile.apiserver import validate; print(callable(validate))",
        "import pickle, sys; print(len(pickle.load(sys.stdin.buffer).pods) == 2)",
    ],
    ids=["table", "extending", "explain CODE", "apiserver", "unpickled"],
)
def test_a_process_may_begin_anywhere(code: str) -> None:
    """No module needs another one to be imported first: plugins and spawned processes start where they like."""
    world = pickle.dumps(ptcompile.simulate(JOB))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, input=world, capture_output=True, check=True
    )
    assert done.stdout.decode() == "True\n"


def test_every_public_name_is_found() -> None:
    assert (
        _ran(
            "import ptcompile as p; print(all(getattr(p, name) is not None for name in p.__all__))"
        )
        == "True\n"
    )
    assert (
        _ran("import ptcompile as p; print(sorted({*p.__all__} - {*p._FROM}))")
        == "['__version__']\n"
    )


_IMPORT = re.compile(
    r"^\s*from (ptcompile[\w.]*) import ([\w, ]+)$|= \"(ptcompile[\w.]*):(\w+)\"$", re.MULTILINE
)
"""An import of users, and an entry point."""
_OF_USERS = (
    "README.md",
    "pyproject.toml",
    "docs/**/*.md",
    "examples/**/*.py",
    "integrations/**/*.py",
    "integrations/**/*.toml",
)


def documented_names() -> Iterator[tuple[str, str]]:
    """Yield each module that documents, examples and integrations import from, with each name."""
    for path in sorted(path for pattern in _OF_USERS for path in ROOT.glob(pattern)):
        for module, names, entry_module, entry_name in _IMPORT.findall(
            path.read_text(encoding="utf-8")
        ):
            yield from (
                (module or entry_module, name.split()[0])
                for name in (names or entry_name).split(",")
            )


def defined_names(module: str) -> set[str]:
    """Return the names of a module and its submodules, without importing libraries that may be missing."""
    path = ROOT / module.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    tree = ast.parse(file.read_text(encoding="utf-8"))
    names = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    names |= {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    names |= {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return names | {child.stem for child in (path.iterdir() if path.is_dir() else ())}


def test_every_documented_path_stays() -> None:
    documented = set(documented_names())
    modules = {module for module, _ in documented}
    assert {
        "ptcompile",
        "ptcompile.extending",
        "ptcompile.flyte",
        "ptcompile.adapters",
        "ptcompile.cli",
    } <= modules
    assert (
        sorted((module, name) for module, name in documented if name not in defined_names(module))
        == []
    )


def test_a_plain_pod_needs_neither_compiler_nor_simulation() -> None:
    loaded = _linted(POD)
    assert not {name.partition(".")[0] for name in loaded} & NEVER
    assert not loaded & {f"ptcompile.{name}" for name in (*COMPILING, *REPORTING, *SIMULATED)}
    assert 2 < len(_rules(loaded)) < 8, _rules(loaded)


def test_a_pytorchjob_loads_only_rules_whose_words_it_has() -> None:
    loaded = _linted(PYTORCHJOB)
    assert not {name.partition(".")[0] for name in loaded} & NEVER
    assert not loaded & {f"ptcompile.{name}" for name in (*COMPILING, *REPORTING)}
    rules = _rules(loaded)
    assert 20 < len(rules) < 55, rules
    assert "ptcompile.linter.rules.launch.missing_script" in rules
    tables = {"ptcompile.operators.volcano.rules", "ptcompile.operators.volcano.rules.annotations"}
    others = tuple(
        f"ptcompile.operators.{name}." for name in ("volcano", "jobset", "batch", "kueue.rules")
    )
    assert not [name for name in loaded - tables if name.startswith(others)]


def test_a_spec_loads_neither_pydantic_nor_unneeded_checks() -> None:
    loaded = _compiled(SPEC)
    assert not {name.partition(".")[0] for name in loaded} & NEVER
    assert not loaded & {
        "ptcompile.apiserver.validation.apps",
        "ptcompile.operators.trainer.controller",
    }
    assert not loaded & {"ptcompile.compiler.checks.machines", "ptcompile.linter"}


@pytest.mark.parametrize(
    "mistake", ["nodess: 2", "nodes: two", "sharedMemory: many", "topology: {}", "nodes: 0"]
)
def test_a_mistake_in_a_spec_loads_no_pydantic(mistake: str) -> None:
    loaded = _compiled(SPEC.replace("nodes: 2", mistake), ok=False)
    assert "pydantic" not in loaded


NO_USE = {"typing", "contextlib", "importlib.util", "math", "array", "bisect"}
"""Standard library modules that each take 1 to 10 % of a cold start and that a clean run does not need."""


@pytest.mark.parametrize("text", [POD, PYTORCHJOB, JOB], ids=["Pod", "PyTorchJob", "Job"])
def test_linting_a_clean_manifest_needs_little_of_python(text: str, tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    path.write_text(text, encoding="utf-8")
    loaded = _commanded("lint", "--ignore", "PTC606", str(path)) - _loaded(
        "pass"
    )  # the note is no clean run
    assert not loaded & NO_USE
    assert "ryaml._ryaml" in loaded


@pytest.mark.parametrize("words", [(), ("compile",), ("compile", "--no-lint")])
def test_compiling_a_spec_needs_little_of_python(words: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(SPEC, encoding="utf-8")
    loaded = _commanded(*words, str(path)) - _loaded("pass")
    assert not loaded & (NO_USE - {"math"} if "--no-lint" in words else {"typing"})


def test_options_do_not_load_shutil(tmp_path: Path) -> None:
    path = tmp_path / "pod.yaml"
    path.write_text(POD, encoding="utf-8")
    loaded = _commanded("lint", "--isolated", str(path))
    assert "argparse" in loaded
    assert not loaded & {"shutil", "fnmatch", "zlib", "importlib.metadata"}


def test_help_lists_every_public_function() -> None:
    functions = {name for name in ptcompile.__all__ if inspect.isfunction(getattr(ptcompile, name))}
    lines = (ptcompile.__doc__ or "").splitlines()
    listed = {
        name
        for line in lines
        if line.startswith("    ")
        for name in line[:23].replace(",", " ").split()
    }
    assert listed == functions
    assert _ran("import ptcompile; print(dir(ptcompile) == sorted(ptcompile.__all__))") == "True\n"
    assert "simulate(" in pydoc.plain(pydoc.render_doc(ptcompile))
