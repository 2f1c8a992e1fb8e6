"""Names under which clouds, operators and nvidia-smi sell what the catalog has, for users who write those.

A name is found by the values of node labels, by machine types, or by the model in it: `NVIDIA-H100-80GB-HBM3`,
`p5.48xlarge`, `H100:8` and `gpu:h100:4` are all nvidia-h100.
"""

from __future__ import annotations

import re
from functools import cache

from ptcompile.hardware.accelerators import ALIASES, ROWS
from ptcompile.hardware.machines import MACHINES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final


_MODELS: Final[dict[str, tuple[str, ...]]] = {
    "t4": ("nvidia-t4",),
    "v100": ("nvidia-v100",),
    "l4": ("nvidia-l4",),
    "l40s": ("nvidia-l40s",),
    "a10g": ("nvidia-a10g",),
    "a100": ("nvidia-a100-80gb", "nvidia-a100-40gb"),
    "h100": ("nvidia-h100",),
    "h200": ("nvidia-h200",),
    "h20": ("nvidia-h20",),
    "b200": ("nvidia-b200",),
    "b300": ("nvidia-b300",),
    "gb200": ("nvidia-gb200",),
    "gb300": ("nvidia-gb300",),
    "mi300": ("amd-mi300x",),
    "mi325": ("amd-mi325x",),
    "mi350": ("amd-mi350x",),
    "mi355": ("amd-mi355x",),
    "gaudi": ("intel-gaudi",),
    "gaudi2": ("intel-gaudi2",),
    "gaudi3": ("intel-gaudi3",),
    "hl205": ("intel-gaudi",),
    "hl225": ("intel-gaudi2",),
    "hl325": ("intel-gaudi3",),
    "trn1": ("aws-trainium1",),
    "trn1n": ("aws-trainium1",),
    "trn2": ("aws-trainium2",),
    "trn3": ("aws-trainium3",),
    "trainium": ("aws-trainium1", "aws-trainium2", "aws-trainium3"),
    "trainium1": ("aws-trainium1",),
    "trainium2": ("aws-trainium2",),
    "trainium3": ("aws-trainium3",),
    "v4": ("google-tpu-v4",),
    "v5e": ("google-tpu-v5e",),
    "v5lite": ("google-tpu-v5e",),
    "v5litepod": ("google-tpu-v5e",),
    "v5p": ("google-tpu-v5p",),
    "v6e": ("google-tpu-v6e",),
    "trillium": ("google-tpu-v6e",),
    "ironwood": ("google-tpu-v7",),
    "v7": ("google-tpu-v7",),
    "v7x": ("google-tpu-v7",),
    "7x": ("google-tpu-v7",),
    "rtxpro6000": ("nvidia-rtx-pro-6000",),
}
"""Models as people write them, without their maker."""

_OTHER_MODELS: Final = frozenset(
    [
        "a2",
        "a10",
        "a16",
        "a30",
        "a40",
        "a4000",
        "a5000",
        "a6000",
        "a800",
        "b100",
        "gb10",
        "gh200",
        "h800",
        "k80",
        "l2",
        "l20",
        "l40",
        "p4",
        "p40",
        "p100",
        "t4g",
        "1080ti",
        "2080ti",
        "3090",
        "4090",
        "5090",
        "rtx3090",
        "rtx4090",
        "rtx5090",
        "rtx6000",
        "rtxa6000",
        "mi100",
        "mi210",
        "mi250",
        "mi250x",
        "mi300a",
        "inf1",
        "inf2",
        "inferentia",
        "inferentia2",
    ]
)
"""Models that the catalog does not have."""

_FAMILIES: Final[dict[str, str]] = {
    "a3-highgpu": "nvidia-h100", "a3-edgegpu": "nvidia-h100", "a3-megagpu": "nvidia-h100-mega",
    "a3-ultragpu": "nvidia-h200", "a4-highgpu": "nvidia-b200", "a4x-highgpu": "nvidia-gb200",
    "a2-highgpu": "nvidia-a100-40gb", "a2-megagpu": "nvidia-a100-40gb", "a2-ultragpu": "nvidia-a100-80gb",
    "g2-standard": "nvidia-l4", "ct4p": "google-tpu-v4", "ct5lp": "google-tpu-v5e", "ct5l": "google-tpu-v5e",
    "ct5p": "google-tpu-v5p", "ct6e": "google-tpu-v6e", "p5": "nvidia-h100", "p5e": "nvidia-h200",
    "p5en": "nvidia-h200", "p4d": "nvidia-a100-40gb", "p4de": "nvidia-a100-80gb", "g5": "nvidia-a10g",
    "g6": "nvidia-l4", "gr6": "nvidia-l4", "g6e": "nvidia-l40s", "g4dn": "nvidia-t4", "p3": "nvidia-v100",
    "p3dn": "nvidia-v100", "p6-b200": "nvidia-b200", "p6-b300": "nvidia-b300", "p6e-gb200": "nvidia-gb200",
    "trn1": "aws-trainium1", "trn1n": "aws-trainium1", "trn2": "aws-trainium2", "trn2u": "aws-trainium2",
    "dl1": "intel-gaudi",
}  # fmt: skip
"""Machine families whose sizes all have one accelerator."""

_FABRICS: Final[dict[str, tuple[str, ...]]] = {
    "efa": ("srd", "ena", "libfabric", "ofi", "awsofinccl", "elasticfabricadapter", "awsefa", "efav2", "efav3"),
    "tcpx": ("gpudirect", "gpudirecttcpx", "tcpdirect", "gpudirecttcp"),
    "tcpxo": ("gpudirect", "gpudirecttcpxo", "fastrak"),
    "gib": ("gpudirect", "gpudirectrdma", "rdmagke", "ncclgib", "gvnicrdma", "cx7"),
    "infiniband": ("gpudirectrdma", "rdma", "ib", "verbs", "ibverbs", "mellanox", "ndr", "hdr", "quantum", "infini",
                   "rdmaib", "mlx5", "sharp", "connectx"),
    "roce": ("gpudirectrdma", "rdma", "rocev2", "rdmaroce", "verbs", "spectrumx", "connectx", "ethernetrdma"),
    "rdma-vf": ("rdma", "sriov", "vf", "rdmavfs", "sriovrdma", "hostdev"),
    "nvlink-domain": ("imex", "nvlink", "mnnvl", "nvl72", "nvswitch", "computedomain", "nvlinkdomains",
                      "multinodenvlink"),
}  # fmt: skip
"""Other names of each fabric; a name may be several."""

_COUNT = re.compile(r" ?[:x*=] ?\d{1,3}$")
_MODEL = re.compile(r"(?:gb|mi|hl|gaudi|trn|trainium|v|[a-z])?\d{1,4}[a-z]{0,7}|gaudi|trainium|trillium|ironwood")
_NOISE: Final = frozenset(
    [
        "16gb",
        "24gb",
        "32gb",
        "40gb",
        "48gb",
        "80gb",
        "94gb",
        "96gb",
        "141gb",
        "sxm2",
        "sxm4",
        "sxm5",
        "sxm6",
        "hbm2",
        "hbm2e",
        "hbm3",
        "hbm3e",
    ]
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
    family = re.split(r"[.]|-\d", text)[0]
    if "." in text or re.search(r"-\d+[gt]?$", text):
        if family in _FAMILIES:
            return (_FAMILIES[family],)
        if (prefix := text.partition("-")[0]) in _FAMILIES and prefix.startswith("ct"):
            return (_FAMILIES[prefix],)
    return _by_model(text)


def _by_model(text: str) -> tuple[str, ...]:
    if re.search(r"rtx-?pro-?6000", text):
        return _MODELS["rtxpro6000"]
    words = [word for word in re.split(r"[^a-z0-9]+", text.replace("tpuv", "v").replace("tpu7x", "v7x")) if word]
    if re.search(r"v5-?lite", text):
        return _MODELS["v5lite"]
    models = [word for word in words if _MODEL.fullmatch(word) and word not in _NOISE]
    known_models = [word for word in models if _model_of(word)]
    if len(known_models) != 1 or any(_is_other_model(word) for word in models if word not in known_models):
        return ()
    names = _model_of(known_models[0])
    if known_models[0] == "a100" and any(size in text for size in ("40g", "80g")):
        return tuple(name for name in names if ("40g" in text) == name.endswith("40gb"))
    if known_models[0] == "h100" and "mega" in words:
        return ("nvidia-h100-mega",)
    return ("nvidia-h100-nvl",) if known_models[0] == "h100" and ("nvl" in words or "94gb" in words) else names


def _model_of(word: str) -> tuple[str, ...]:
    return _MODELS.get(word) or (_MODELS.get(word.removesuffix("x"), ()) if word.startswith("mi") else ())


def _is_other_model(word: str) -> bool:
    """Return whether a word is another model, such as 4090, rather than a size or a form."""
    return re.fullmatch(r"[a-z]{0,3}\d{3,4}[a-z]{0,2}", word) is not None and not re.fullmatch(r"\d+gb?", word)


def is_other_product(name: str) -> bool:
    """Return whether a name is that of a product outside the catalog, so that similar names are no typo of it."""
    return not _OTHER_MODELS.isdisjoint(re.split(r"[^a-z0-9]+", name.lower().replace("rtx-", "rtx")))


def fabrics_named(word: str) -> tuple[str, ...]:
    """Return the fabrics that a word may mean, empty if it means none."""
    letters = re.sub(r"[^a-z0-9]", "", word.lower())
    return tuple(fabric for fabric, words in _FABRICS.items() if letters in words or letters == fabric.replace("-", ""))
