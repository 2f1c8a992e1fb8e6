"""A note on objects of an operator that has a successor, once per file."""

from __future__ import annotations

from collections.abc import Iterable

from ptcompile.diagnostics import Diagnostic, problem_at
from ptcompile.operators.table import BY_TARGET, KINDS, main_kind
from ptcompile.source import streams
from ptcompile.source.documents import Source

SUCCESSOR = "operator-with-successor"
_SUCCESSORS = {
    kind.key: (operator, operator.conversion.successor)
    for operator, kind in KINDS.values()
    if operator.conversion.successor
}
"""The operators whose jobs another target takes over, by kind."""
_WORDS = tuple(name for _, name in _SUCCESSORS)


def successor_notes(source: Source, filename: str | None) -> Iterable[Diagnostic]:
    """Yield a note at the first object of a text whose operator has a successor."""
    if not any(word in source.text for word in _WORDS):
        return
    for document in source.documents:
        for path, manifest in streams.objects_in(document.data):
            api_version = str(manifest.get("apiVersion"))
            kind = str(manifest.get("kind"))
            if (api_version, kind) not in _SUCCESSORS:
                continue

            operator, target = _SUCCESSORS[api_version, kind]
            successor = main_kind(BY_TARGET[target]).name
            owner = operator.install.software or operator.folder
            message = f"{kind} ({owner}, {api_version}) has a successor: {successor}"
            help = (
                "convert it once the cluster has the successor: ptcompile convert --target "
                f"{target}"
            )
            problem = problem_at(SUCCESSOR, ("kind",), message, help, "note", "style", "ptcompile")
            yield streams.to_diagnostic(problem, document, filename, path, manifest)
            return
