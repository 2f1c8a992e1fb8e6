"""An independent computation of which lines belong together, from PyYAML's node tree and the causes."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Sequence

import yaml

import ptcompile
from ptcompile.diagnostics import Path
from ptcompile.explainer.explanation import Explanation
from ptcompile.source import emitter
from ptcompile.source.secrets.scanner import without_secrets

Kin = dict[str, set[str]]
"""Related line IDs by line ID."""


@functools.cache
def _explained(spec: str, cluster: str | None, target: str | None) -> Explanation:
    return ptcompile.explain(spec, target=target, cluster=cluster)


def lines(nodes: Sequence[yaml.Node], index: int, path: Path) -> range:
    """Return the one-based line numbers of a value."""
    node = nodes[index]
    for part in path:
        if isinstance(node, yaml.MappingNode):
            node = next(value for key, value in node.value if key.value == part)
        else:
            node = node.value[part]
    return range(node.start_mark.line + 1, _last(node) + 1)


def _last(node: yaml.Node) -> int:
    """Return the last line of a node. PyYAML ends a block collection only at the next token."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _last(last[1] if isinstance(last, tuple) else last)
    return node.end_mark.line + (node.end_mark.column > 0)


def kin(spec: str, cluster: str | None, name: str) -> tuple[Kin, Kin]:
    """Map lines of the spec and the profile to the lines of a target's manifests, and the reverse."""
    explanation = _explained(spec, cluster, None)
    if [job.target for job in explanation.jobs] != [name]:
        explanation = _explained(spec, cluster, name)
    nodes = list(
        yaml.compose_all(
            emitter.emit_all([without_secrets(manifest) for manifest in explanation.manifests])
        )
    )
    given = {"spec": list(yaml.compose_all(spec)), "cluster": list(yaml.compose_all(cluster or ""))}
    down: Kin = defaultdict(set)
    up: Kin = defaultdict(set)
    for cause in explanation.causes:
        made = [f"{name}-{n}" for n in lines(nodes, cause.manifest, cause.path)]
        for one in cause.inputs:
            if one.given:
                for line in lines(given[one.file], 0, one.path):
                    down[f"{one.file}-{line}"].update(made)
                    for each in made:
                        up[each].add(f"{one.file}-{line}")
    return down, up
