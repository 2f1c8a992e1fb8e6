"""What is wrong with what was built, asked in this order: our own manifests are held to what any others are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ptcompile.compiling.build import Built
from ptcompile.compiling.effect import without_effect
from ptcompile.compiling.launcher import isolated_launchers
from ptcompile.compiling.location import SERVER, SPEC, TARGET, Finding
from ptcompile.compiling.needed import nulls_the_target_needs
from ptcompile.compiling.pod_security import violations
from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.frontends import checks_fabric
from ptcompile.validate import validate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def incomplete_fabric(built: Built) -> Iterator[Finding]:
    """Yield a warning for what a role has of a fabric without the rest of it."""
    instead = SPEC if built.spec.spec.fabric is None else (*SPEC, "fabric")
    for role, problem in checks_fabric.incomplete(built.job):
        yield Finding(problem, role, instead=instead)


def pools(built: Built) -> Iterator[Finding]:
    """Yield what no node pool of the profile takes, or has room for."""
    if built.context.cluster.spec.node_pools:
        from ptcompile.frontends import checks_pools

        for problem in checks_pools.check(built.job, built.spec.spec, built.context.cluster):
            yield Finding(problem, by=TARGET)


def refusals(built: Built) -> Iterator[Finding]:
    """Yield what the offline API server says of our own manifests."""
    versions = built.context.cluster.versions()
    for index, manifest in enumerate(built.named):
        for problem in validate(manifest, versions=versions, others=built.named):
            yield Finding(problem, index, SERVER)


_NAME: Path = ("metadata", "name")
_GENERATE: Path = ("metadata", "generateName")

VERIFICATIONS: tuple[Callable[[Built], Iterator[Finding]], ...] = (
    incomplete_fabric,
    pools,
    nulls_the_target_needs,
    without_effect,
    refusals,
    violations,
    isolated_launchers,
)


def verify(built: Built) -> list[Finding]:
    """Ask every question about what was built, and last whether the name may be left to the server."""
    findings = [finding for ask in VERIFICATIONS for finding in ask(built)]
    refused = any(finding.problem.severity == "error" for finding in findings)
    return findings if refused else [*findings, *name_carriers(built)]


def name_carriers(built: Built) -> Iterator[Finding]:
    """Yield an error if an object carries the job's name, which only the server knows."""
    spec = built.spec
    carrier = None if spec.metadata.generate_name is None else next(_carriers(built.named, spec.metadata.name), None)
    if carrier is not None:
        text = f"{field_path(_GENERATE)}: {carrier} carries the job's name, which is not known before it is created"
        help = "give metadata.name, or --name for this run"
        yield Finding(Problem("unsupported-by-target", _GENERATE, text, help, authority="ptcompile"))


def _carriers(manifests: Sequence[dict[str, Any]], name: str) -> Iterator[str]:
    """Where the name stands, in words, other than as the name of the last object, which is the job."""
    for index, manifest in enumerate(manifests):
        for path, text in _texts(manifest, ()):
            if name in text and not (path == _NAME and index == len(manifests) - 1):
                yield f"{manifest['kind']} {field_path(path)}"


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, (*path, index))
    elif isinstance(value, str):
        yield path, value
