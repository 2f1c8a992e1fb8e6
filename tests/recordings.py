"""Whole results in files beside the tests of what makes them: `python -m tests.recordings` writes them again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import yaml

import ptcompile
from ptcompile.compiler.location import likely_cause, spec_path_of
from ptcompile.diagnostics import Problem, field_path
from ptcompile.explainer.page.html import AUTHORS
from ptcompile.hardware import tables
from ptcompile.kubernetes.versions import Versions
from ptcompile.linter import needs
from ptcompile.operators.table import OPERATORS
from ptcompile.spec.cluster_profile import ClusterProfile
from tests.compiler.effects import PROFILE, SPECS, spec_for
from tests.explainer.page.colors import author_styles
from tests.making import traced
from tests.places import places
from tests.records import write_records
from tests.variations import variations

AGAIN = "after a change that is meant: python -m tests.recordings"
MAX_LENGTH = 300
FOLDER = Path(__file__).parent
EXPLAINED = (
    "tolerations",
    "command",
    "env",
    "resources",
    "affinity",
    "name",
    "backoffLimit",
    "labels",
)


def _manifests(target: str) -> list[Any]:
    return [*ptcompile.compile(spec_for(target), target=target, cluster=PROFILE).unwrap()]


def catalogue() -> str:
    """Return the catalog of machines."""
    return tables.text()


def explanations(target: str) -> str:
    """Return the explanations of all values of a job, and of some paths."""
    spec = yaml.safe_dump(spec_for(target), sort_keys=False)
    explanation = ptcompile.explain(
        spec, target=target, cluster=PROFILE, filename="job.yaml", lint=False
    )
    return "\n".join(
        [explanation.text(), *(f"# {path}\n{explanation.text(path)}" for path in EXPLAINED)]
    )


def origins() -> str:
    """Return the spec path that each path of two jobs' manifests comes from, and where its findings are reported."""
    lines = []
    for target in ("pytorchjob", "jobset"):
        spec = spec_for(target)
        trace = traced(yaml.safe_dump(spec), target, ClusterProfile.model_validate(PROFILE))[0]
        for index, manifest in enumerate(trace.manifests):
            for path in (
                *places(manifest),
                ("metadata", "x"),
                ("spec", "backoffLimit"),
                ("spec", "x"),
            ):
                source = spec_path_of(trace, index, path, spec)
                cause = likely_cause(Problem("x", path, "m"), trace, index, spec)
                shown = field_path(source) + (f" or {field_path(cause)}" if cause != source else "")
                lines.append(f"{manifest['kind']} {field_path(path)}: {shown}")
    return "\n".join(lines) + "\n"


PARTS_OF_JOB = {
    ".command[": "command",
    ".env[": "env",
    ".containers[": "container",
    ".template.": "pod",
    "": "job",
}
"""Parts of a Job by what stands in the paths of their values, the first that does."""


def differences(part: str) -> dict[str, list[str]]:
    """Return what changes with each value of a part of a Job, without what the API server says."""
    *others, manifest = _manifests("job")
    found = {}
    for name, spec in variations(manifest["spec"], "spec"):
        if (
            next(PARTS_OF_JOB[word] for word in PARTS_OF_JOB if word in name.partition(" ")[0])
            == part
        ):
            compared = ptcompile.diff([*others, manifest], [*others, {**manifest, "spec": spec}])
            lines = [
                line
                for line in compared.text().splitlines()
                if line and not line.startswith("  apply: ")
            ]
            found[name] = lines
    return found


def requirements() -> str:
    """Return what the clusters of each job need, and the objects for it."""
    texts = []
    for target in SPECS:
        needed = ptcompile.requires(spec_for(target), target=target, cluster=PROFILE)
        texts.append(f"# {target}\n{needed.text()}")
        texts.append(
            ptcompile.platform(PROFILE, [{**spec_for(target), "metadata": {"name": target}}]).text()
        )
    return "\n".join(texts)


def words_of_rules() -> str:
    """Return the words for which rules are loaded."""
    words = {
        name: value
        for name, value in vars(needs).items()
        if name.isupper() and isinstance(value, str)
    }
    return "".join(f"{name}: {words[name]}\n" for name in sorted(words))


def records_of_operators() -> str:
    """Return the attributes of all operators and their kinds, with the newest supported releases."""
    releases = {
        name: version
        for name, version in Versions()._asdict().items()
        if isinstance(version, tuple) and version
    }
    lines = [f"{name} {'.'.join(map(str, version))}" for name, version in releases.items()]
    for operator in OPERATORS:
        for record in (operator, *operator.kinds):
            lines += [
                "",
                f"{type(record).__module__}.{type(record).__name__}",
                *_attributes(record),
            ]
        lines += [f"  {name}: {_plain(feature)!r}" for name, feature in operator.features.items()]
    return "\n".join(lines) + "\n"


def _attributes(record: object) -> Iterator[str]:
    for name in dir(record):
        value = _plain(getattr(record, name))
        if (
            not name.startswith("_")
            and value not in (None, "", (), {})
            and len(text := repr(value)) < MAX_LENGTH
        ):
            yield f"  {name}: {text}"


def _plain(value: Any) -> Any:
    """Return settings as plain data; None for objects and functions."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {
            key: plain
            for key, inner in value._asdict().items()
            if (plain := _plain(inner)) not in (None, (), "")
        }
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    if isinstance(value, frozenset):
        return tuple(sorted(map(str, value)))
    return value if isinstance(value, bool | int | str) else None


def editor_answers(kind: str) -> str:
    """Return what the language server answers; its libraries are an extra, which the other recordings do not need."""
    from tests.server import positions

    record: Callable[[], str] = getattr(positions, kind)
    return record()


RECORDINGS: dict[str, Callable[[], str]] = {
    "hardware/catalogue.txt": catalogue,
    "compiler/origins.txt": origins,
    "explainer/job.txt": partial(explanations, "job"),
    "explainer/pytorchjob.txt": partial(explanations, "pytorchjob"),
    "explainer/trainjob.txt": partial(explanations, "trainjob"),
    "../ptcompile/explainer/page/authors.css": partial(author_styles, len(AUTHORS)),
    "server/hovers.txt": partial(editor_answers, "hovers"),
    "server/definitions.txt": partial(editor_answers, "definitions"),
    "server/completions.txt": partial(editor_answers, "completions"),
    "requirements/requirements.txt": requirements,
    "linter/words.txt": words_of_rules,
    "operators/records.txt": records_of_operators,
}


def recorded(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def main() -> None:
    for name, record in RECORDINGS.items():
        (FOLDER / name).write_text(record(), encoding="utf-8")
    write_records(
        FOLDER / "differ/differences", {part: differences(part) for part in PARTS_OF_JOB.values()}
    )


if __name__ == "__main__":
    main()
