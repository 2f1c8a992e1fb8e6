"""Everything asked once of a small text, so that lazy imports are done before a user waits for them."""

from __future__ import annotations

import gc
from collections.abc import Callable

from lsprotocol.types import Position, Range

from ptcompile.server import actions, completion, definition, diagnostics, hints, hover, symbols
from ptcompile.server.document import Open

_SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: warm}
spec:
  image: warm:latest
  script: train.py
  nodes: 2
  resources: {cpu: 1, memory: 1Gi, gpu: 1}
  target: TARGET
"""


def up(pause: Callable[[], None]) -> None:
    """Ask everything of a spec for every target, and of what it compiles to."""
    from ptcompile.operators.targets import TARGETS
    from ptcompile.server.commands import manifests

    everywhere = Range(Position(0, 0), Position(100, 0))
    for target in TARGETS:
        spec = Open("", "", _SPEC.replace("TARGET", target), pause=pause)
        shown = manifests(spec, 0, None)
        for one in (spec, Open("", "", shown.text if shown is not None else "", pause=pause)):
            diagnostics.diagnostics(one)
            symbols.symbols(one)
            hints.inlay_hints(one, everywhere)
            hints.code_lenses(one)
            actions.actions(one, everywhere, None, None)
            hover.hover(one, Position(4, 3))
            definition.definition(one, Position(4, 12))
            completion.complete(one, Position(5, 2))
            pause()
    gc.collect()
    gc.freeze()  # modules and schemas stay: no later collection looks at them
