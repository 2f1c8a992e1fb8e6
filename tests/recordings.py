"""Whole results in files beside the tests of what makes them: `python -m tests.recordings` writes them again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

import ptcompile
from ptcompile.hardware import tables
from ptcompile.linter import needs
from tests.compiler.effects import PROFILE, SPECS, spec_for
from tests.variations import variations

FOLDER = Path(__file__).parent
EXPLAINED = ("tolerations", "command", "env", "resources", "affinity", "name", "backoffLimit", "labels")


def _manifests(target: str) -> list[Any]:
    return [*ptcompile.compile(spec_for(target), target=target, cluster=PROFILE).unwrap()]


def catalogue() -> str:
    """Return the catalog of machines."""
    return tables.text()


def explanations() -> str:
    """Return the explanations of all values of three jobs, and of some paths in each."""
    texts = []
    for target in ("job", "pytorchjob", "trainjob"):
        spec = yaml.safe_dump(spec_for(target), sort_keys=False)
        explanation = ptcompile.explain(spec, target=target, cluster=PROFILE, filename="job.yaml", lint=False)
        texts += [explanation.text(), *(f"# {path}\n{explanation.text(path)}" for path in EXPLAINED)]
    return "\n".join(texts)


def differences() -> str:
    """Return what changes with each value of two manifests, without what the API server says."""
    texts = []
    for target in ("job",):
        *others, manifest = _manifests(target)
        for name, spec in variations(manifest["spec"], "spec"):
            compared = ptcompile.diff([*others, manifest], [*others, {**manifest, "spec": spec}])
            lines = [line for line in compared.text().splitlines() if not line.startswith("  apply: ")]
            texts.append("\n".join([f"# {target}: {name}", *lines]))
    return "\n".join(texts) + "\n"


def requirements() -> str:
    """Return what the clusters of each job need, and the objects for it."""
    texts = []
    for target in SPECS:
        needed = ptcompile.requires(spec_for(target), target=target, cluster=PROFILE)
        texts.append(f"# {target}\n{needed.text()}")
        texts.append(ptcompile.platform(PROFILE, [{**spec_for(target), "metadata": {"name": target}}]).text())
    return "\n".join(texts)


def words_of_rules() -> str:
    """Return the words for which rules are loaded."""
    words = {name: value for name, value in vars(needs).items() if name.isupper() and isinstance(value, str)}
    return "".join(f"{name}: {words[name]}\n" for name in sorted(words))


RECORDINGS: dict[str, Callable[[], str]] = {
    "hardware/catalogue.txt": catalogue,
    "explainer/explanations.txt": explanations,
    "differ/differences.txt": differences,
    "requirements/requirements.txt": requirements,
    "linter/words.txt": words_of_rules,
}


def recorded(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def main() -> None:
    for name, record in RECORDINGS.items():
        (FOLDER / name).write_text(record(), encoding="utf-8")


if __name__ == "__main__":
    main()
