"""ptcompile as a scheduler of TorchX 0.8, which scans this namespace.

The wheel of ptcompile has this module: TorchX 0.8 no longer hides its own schedulers, so no package of its own is
needed. TorchX 0.7 never imports it.
"""

from __future__ import annotations

from typing import Any

from torchx.plugins import register

from ptcompile.adapters.torchx import PtcompileScheduler, create_scheduler as create


@register.scheduler("ptcompile")
def create_scheduler(session_name: str, **options: Any) -> PtcompileScheduler:
    """Create the scheduler."""
    return create(session_name, **options)
