"""torchrun's own words that several parts speak: option names, --rdzv-conf, how long nodes wait (PyTorch 2.13)."""

from __future__ import annotations

from ptcompile.memo import kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

MEETING_SECONDS: Final = 900
"""How long the nodes of a job wait for one another, by default: an image may be pulled meanwhile.

As in flytekitplugins-kfpytorch 1.16, `Elastic`."""

_SHORT: Final = {"-m": "module", "-r": "redirects", "-t": "tee", "-h": "help"}


@kept(1024)
def option_name(word: str) -> str:
    """The dashed name of the option that a word gives: `nproc-per-node` for `--nproc_per_node=8`."""
    name = word.partition("=")[0]
    return _SHORT.get(name, name.lstrip("-").replace("_", "-"))


def conf_of(text: str) -> dict[str, str]:
    """The settings of a --rdzv-conf, `KEY=VALUE,KEY=VALUE`, as torchrun splits them; of a key given twice the last."""
    pairs = (pair.partition("=") for pair in text.split(","))
    return {key.strip(): value.strip() for key, _, value in pairs if key.strip()}
