"""What lint and simulate say about a text, and how two answers of lint differ."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

import yaml

import ptcompile
from ptcompile.diagnostics import Diagnostic, field_path
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.rendezvous import can_rendezvous, job_rendezvous
from ptcompile.source.documents import read
from tests.laws.texts import Text

Json = dict[str, Any]
Key = Callable[[Diagnostic], tuple[str, ...]]
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def objects_of(text: Text) -> list[Json] | None:
    """Return the objects of a stream as plain data that nothing shares, or None for a spec and for wrong YAML."""
    objects = _objects_as_json(text.text)
    return None if objects is None else json.loads(objects)


@cache
def _objects_as_json(text: str) -> str | None:
    """Read a stream once for all laws, each of which changes its own copy of the objects."""
    source = read(text)
    objects = [document.data for document in source.documents]
    if source.problems or not objects or any(_is_no_object(item) for item in objects):
        return None
    return json.dumps(objects)


def _is_no_object(item: Any) -> bool:
    return (
        not isinstance(item, dict)
        or "kind" not in item
        or item.get("apiVersion") in (None, "ptcompile/v1")
    )


def as_text(objects: Iterable[Json]) -> str:
    """Return objects as a stream. Moved texts are compared with this form of the original, not with its layout."""
    return str(
        yaml.dump_all(objects, Dumper=_DUMPER, sort_keys=False, allow_unicode=True, width=1 << 20)
    )


@lru_cache(maxsize=4096)
def linted(text: str) -> tuple[Diagnostic, ...]:
    """Return what lint says about a stream; nearly all laws start from the same one."""
    return ptcompile.lint(text).diagnostics


def code_and_severity(diagnostic: Diagnostic) -> tuple[str, ...]:
    return diagnostic.code, diagnostic.severity


def difference(
    before: Sequence[Diagnostic],
    after: Sequence[Diagnostic],
    key: Key = code_and_severity,
    added: Iterable[str] = (),
) -> list[str]:
    """Return a line for each finding that is lost (-) or won (+), by `key`.

    Findings on the objects in `added`, which the move made, do not count: the earlier text has no such object.
    """
    new_objects = {*added}
    after = [finding for finding in after if finding.resource not in new_objects]
    counts = Counter(map(key, before)), Counter(map(key, after))
    return [
        *_surplus("-", before, counts[0] - counts[1], key),
        *_surplus("+", after, counts[1] - counts[0], key),
    ]


def _surplus(
    sign: str, findings: Sequence[Diagnostic], surplus: Counter[tuple[str, ...]], key: Key
) -> Iterator[str]:
    for finding in findings:
        if surplus[key(finding)] > 0:
            surplus[key(finding)] -= 1
            yield f"{sign} {brief(finding)}"


def brief(diagnostic: Diagnostic) -> str:
    where = f"{diagnostic.resource} {field_path(diagnostic.path)}"
    return f"{diagnostic.severity} {diagnostic.code} {where} | {diagnostic.message[:160]}"


def can_train(job: SimulatedJob) -> bool | None:
    """Return whether simulate expects the job to train; None where it does not say."""
    if job.expansion.refused:
        return False
    rendezvous = job_rendezvous(job)
    return None if rendezvous is None else can_rendezvous(job, rendezvous)


def resource(manifest: Mapping[str, Any]) -> str:
    """Return the object's name as diagnostics have it."""
    return f"{manifest.get('kind')}/{manifest.get('metadata', {}).get('name')}"


def pod_specs(manifest: Json) -> Iterator[Json]:
    """Yield each written pod spec of an object, inside wrapped objects too."""
    yield from _pod_specs(manifest, "")


def _pod_specs(node: Any, key: str) -> Iterator[Json]:
    if isinstance(node, list):
        for item in node:
            yield from _pod_specs(item, key)
    if not isinstance(node, dict):
        return
    spec = node.get("spec")
    is_pod = node.get("kind") == "Pod" or key.endswith("emplate")
    if is_pod and isinstance(spec, dict) and isinstance(spec.get("containers"), list):
        yield spec
    for name, value in node.items():
        yield from _pod_specs(value, name)


def containers_of(manifest: Json) -> Iterator[Json]:
    """Yield each written container of an object, init containers too."""
    for spec in pod_specs(manifest):
        for field in ("initContainers", "containers"):
            written = spec.get(field)
            yield from (
                (item for item in written if isinstance(item, dict))
                if isinstance(written, list)
                else ()
            )


def trainers_of(manifest: Json) -> Iterator[Json]:
    """Yield the part of a TrainJob that stands for the runtime's container."""
    trainer = manifest["spec"].get("trainer") if isinstance(manifest.get("spec"), dict) else None
    if manifest["kind"] == "TrainJob" and isinstance(trainer, dict):
        yield trainer


def namespace(manifest: Mapping[str, Any]) -> str:
    """Return the namespace as written, or an empty text."""
    meta = manifest.get("metadata")
    written = meta.get("namespace") if isinstance(meta, dict) else None
    return written if isinstance(written, str) else ""
