"""Names under which clouds, operators and nvidia-smi sell what the catalog has, for users who write
those.

A name is found by the values of node labels, by machine types, or by the model in it:
`NVIDIA-H100-80GB-HBM3`, `p5.48xlarge`, `H100:8` and `gpu:h100:4` are all nvidia-h100.
`products.json` has the names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from ptcompile._internal.schema_files import load_table
from ptcompile.hardware.accelerators import ALIASES, ROWS
from ptcompile.hardware.machines import MACHINES

_TABLE = load_table("hardware/products.json")
_MODELS = {model: tuple(names) for model, names in _TABLE["models"].items()}
"""Models as people write them, without their maker."""
_OTHER_MODELS = frozenset(_TABLE["other_models"])
"""Models that the catalog does not have."""
_FAMILIES: Mapping[str, str] = _TABLE["families"]
"""Machine families whose sizes all have one accelerator."""
_FABRICS: Mapping[str, list[str]] = _TABLE["fabrics"]
"""Other names of each fabric; a name may be several."""
_NOISE = frozenset(_TABLE["sizes_and_forms"])
"""Sizes of memory and forms of cards, which follow a model."""
_COUNT = re.compile(r" ?[:x*=] ?\d{1,3}$")
_MODEL = re.compile(
    r"(?:gb|mi|hl|gaudi|trn|trainium|v|[a-z])?\d{1,4}[a-z]{0,7}|gaudi|trainium|trillium|ironwood"
)


@cache
def _labels() -> Mapping[str, tuple[str, ...]]:
    """Return the accelerators of each node label value and machine type, in lower case."""
    accelerators: dict[str, dict[str, None]] = {}
    for name, row in ROWS.items():
        values = [value for cloud_values in row.nodes.values() for value in cloud_values]
        machines = [machine.name for types in MACHINES.get(name, {}).values() for machine in types]
        for value in (*values, *machines):
            accelerators.setdefault(value.lower(), {})[name] = None
    for alias, name in ALIASES.items():
        accelerators.setdefault(alias, {})[name] = None
    return {value: tuple(names) for value, names in accelerators.items()}


def accelerators_named(product: str) -> tuple[str, ...]:
    """Return the catalog's names for a product, empty if it is not in the catalog."""
    text = _COUNT.sub("", product.strip().lower()).replace(" ", "-").replace("_", "-")
    text = text.removeprefix("gpu:").removeprefix("gpu-")
    for form in (product.strip().lower(), text, text.replace("-", "_")):
        if form in _labels():
            return _labels()[form]

    if "." in text or re.search(r"-\d+[gt]?$", text):
        family = re.split(r"[.]|-\d", text)[0]
        prefix, _, _ = text.partition("-")
        if family in _FAMILIES:
            return (_FAMILIES[family],)
        if prefix in _FAMILIES and prefix.startswith("ct"):
            return (_FAMILIES[prefix],)

    return _by_model(text)


def _by_model(text: str) -> tuple[str, ...]:
    if re.search(r"rtx-?pro-?6000", text):
        return _MODELS["rtxpro6000"]
    if re.search(r"v5-?lite", text):
        return _MODELS["v5lite"]

    words = re.split(r"[^a-z0-9]+", text.replace("tpuv", "v").replace("tpu7x", "v7x"))
    models = [word for word in words if _MODEL.fullmatch(word) and word not in _NOISE]
    known_models = [word for word in models if _model_of(word)]
    if len(known_models) != 1:
        return ()

    (model,) = known_models
    # another model, such as 4090, rather than a size or a form
    if any(
        re.fullmatch(r"[a-z]{0,3}\d{3,4}[a-z]{0,2}", word) and not re.fullmatch(r"\d+gb?", word)
        for word in models
        if word != model
    ):
        return ()

    names = _model_of(model)
    if model == "a100" and any(size in text for size in ("40g", "80g")):
        return tuple(name for name in names if ("40g" in text) == name.endswith("40gb"))
    if model == "h100" and "mega" in words:
        return ("nvidia-h100-mega",)
    if model == "h100" and ("nvl" in words or "94gb" in words):
        return ("nvidia-h100-nvl",)

    return names


def _model_of(word: str) -> tuple[str, ...]:
    return _MODELS.get(word) or (
        _MODELS.get(word.removesuffix("x"), ()) if word.startswith("mi") else ()
    )


def is_other_product(name: str) -> bool:
    """Return whether a name is that of a product outside the catalog, so it is not a typo of a
    similar name.
    """
    return not _OTHER_MODELS.isdisjoint(
        re.split(r"[^a-z0-9]+", name.lower().replace("rtx-", "rtx"))
    )


def fabrics_named(word: str) -> tuple[str, ...]:
    """Return the fabrics that a word may mean, empty if it means none."""
    letters = re.sub(r"[^a-z0-9]", "", word.lower())
    return tuple(
        fabric
        for fabric, words in _FABRICS.items()
        if letters in words or letters == fabric.replace("-", "")
    )
