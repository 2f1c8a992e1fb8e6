"""Whole results in files beside the tests of what makes them: `python -m tests.recordings` writes them again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

import ptcompile
from ptcompile.hardware import tables
from ptcompile.kubernetes.versions import Versions
from ptcompile.linter import needs
from ptcompile.registry.table import OPERATORS
from tests.compiler.effects import PROFILE, SPECS, spec_for
from tests.variations import variations

AGAIN = "after a change that is meant: python -m tests.recordings"
MAX_LENGTH = 300
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


def records_of_operators() -> str:
    """Return the attributes of all operators and their kinds, with the newest supported releases."""
    releases = {
        name: version for name, version in Versions()._asdict().items() if isinstance(version, tuple) and version
    }
    lines = [f"{name} {'.'.join(map(str, version))}" for name, version in releases.items()]
    for operator in OPERATORS:
        for record in (operator, *operator.kinds):
            lines += ["", f"{type(record).__module__}.{type(record).__name__}", *_attributes(record)]
    return "\n".join(lines) + "\n"


def _attributes(record: object) -> Iterator[str]:
    for name in dir(record):
        value = _plain(getattr(record, name))
        if not name.startswith("_") and value not in (None, "", (), {}) and len(text := repr(value)) < MAX_LENGTH:
            yield f"  {name}: {text}"


def _plain(value: Any) -> Any:
    """Return settings as plain data; None for objects and functions."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {key: plain for key, inner in value._asdict().items() if (plain := _plain(inner)) not in (None, (), "")}
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    if isinstance(value, frozenset):
        return tuple(sorted(map(str, value)))
    return value if isinstance(value, bool | int | str) else None


RECORDINGS: dict[str, Callable[[], str]] = {
    "hardware/catalogue.txt": catalogue,
    "explainer/explanations.txt": explanations,
    "differ/differences.txt": differences,
    "requirements/requirements.txt": requirements,
    "linter/words.txt": words_of_rules,
    "registry/operators.txt": records_of_operators,
}


def recorded(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def main() -> None:
    for name, record in RECORDINGS.items():
        (FOLDER / name).write_text(record(), encoding="utf-8")


if __name__ == "__main__":
    main()
