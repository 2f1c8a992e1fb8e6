"""What the two vocabularies, `spec.py` and `cluster.py`, share: the strict model base and the scalar types."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from ptcompile import quantity

API_VERSION = "ptcompile/v1"


class Model(BaseModel):
    """Frozen, camelCase in YAML and snake_case in Python, unknown keys refused, no silent conversion of types.

    Validators are built when first used, one for a whole document: a default is made by `model_construct`, which needs
    none. That is a third of a cold start.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        defer_build=True,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        strict=True,
        ser_json_inf_nan="strings",
    )

    def given(self) -> dict[str, Any]:
        """The fields that are not null, under their YAML names; one level, as they are."""
        values = ((field.alias or name, getattr(self, name)) for name, field in type(self).model_fields.items())
        return {name: value for name, value in values if value is not None}


DnsLabel = Annotated[str, Field(json_schema_extra={"pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "maxLength": 63})]
"""A DNS label. The pattern is for editors alone: the front end says better what is wrong."""

_SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
DnsSubdomain = Annotated[str, Field(json_schema_extra={"pattern": _SUBDOMAIN, "maxLength": 253})]
"""A DNS subdomain, the name of most objects; for editors alone, as `DnsLabel`."""


class Metadata(Model):
    """Name, namespace, labels and annotations of the objects."""

    name: DnsLabel = Field(description="Name of the job; pods, Services and host names are derived from it.")
    namespace: DnsLabel | None = Field(
        None, description="Namespace of every object; the cluster's default when absent."
    )
    labels: dict[str, str] = Field({}, description="Labels of the objects (of the pods: spec.podLabels).")
    annotations: dict[str, str] = Field(
        {}, description="Annotations of the objects (of the pods: spec.podAnnotations)."
    )


def _as_text(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return repr(value)


def _quantity(text: str) -> str:
    if not quantity.valid(text):
        raise ValueError(f"{text!r} is not a Kubernetes quantity")
    if text.lstrip(" ").startswith("-"):
        raise ValueError(f"{text!r} is negative")
    return text


Quantity = Annotated[
    str,
    BeforeValidator(_as_text),
    AfterValidator(_quantity),
    Field(
        json_schema_extra={
            "type": ["string", "number"],
            "pattern": r"^ *(?! *$)\+?[0-9]*(\.[0-9]*)?([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,18})? *$",
            "minimum": 0,
            "examples": ["500m", "64Gi", 8],
        }
    ),
]
"""A Kubernetes quantity: 2, "500m", "64Gi"."""

Json = dict[str, Any]
"""A part of a Kubernetes object, in Kubernetes' own words; the offline API server checks it once it is placed."""


class ResourceList(Model):
    """Amounts by resource."""

    cpu: Quantity | None = Field(None, description="Cores.")
    memory: Quantity | None = Field(None, description="Bytes, usually with Mi or Gi.")
    gpu: Quantity | None = Field(None, description="Whole GPUs, under the cluster profile's resource name.")
    ephemeral_storage: Quantity | None = Field(None, description="Local scratch disk, usually with Gi.")
    devices: dict[str, Quantity] = Field(
        {}, description="Anything else by its full name, such as nvidia.com/mig-1g.5gb, rdma/hca or hugepages-2Mi."
    )

    def by_name(self) -> dict[str, str]:
        """The amounts that were given, by Kubernetes' names; `gpu` is left for the profile to name."""
        named = {
            "cpu": self.cpu,
            "memory": self.memory,
            "ephemeral-storage": self.ephemeral_storage,
            "gpu": self.gpu,
            **self.devices,
        }
        return {name: amount for name, amount in named.items() if amount is not None}


class Resources(ResourceList):
    """What a node asks for. A plain amount is request and limit; `requests` and `limits` are for where they differ."""

    requests: ResourceList = Field(
        default_factory=ResourceList.model_construct, description="Where the request is not the limit."
    )
    limits: ResourceList = Field(
        default_factory=ResourceList.model_construct, description="Where the limit is not the request."
    )


_NNODES = re.compile(r"([0-9]{1,9})(?::([0-9]{1,9}))?", re.ASCII)


def nnodes_range(value: int | str) -> tuple[int, int]:
    """`nnodes` as torchrun reads it: (fewest, most). Raises ValueError with the reason in plain words."""
    match = _NNODES.fullmatch(str(value))
    if match is None:
        raise ValueError(f"{value!r} is neither a number of nodes nor a range MIN:MAX, such as 4 or '2:4'")
    least, most = int(match[1]), int(match[2] or match[1])
    if least < 1:
        raise ValueError(f"{value!r} asks for {least} nodes: at least one is needed")
    if least > most:
        raise ValueError(f"{value!r} has more nodes as its minimum ({least}) than as its maximum ({most})")
    return least, most


def split_endpoint(text: str) -> tuple[str, int] | None:
    """HOST:PORT as host and port; None where it is not that."""
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdigit()) or not 1 <= int(port[:6]) <= 65535:
        return None
    return host, int(port)


def _nnodes(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError("must be a number of nodes or a range MIN:MAX")
    nnodes_range(value)
    return value


_COUNT = "(?=[0-9]{1,9}(:|$))0*[1-9][0-9]*"
Nnodes = Annotated[
    int | str,
    BeforeValidator(_nnodes),
    Field(
        json_schema_extra={
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": 999_999_999},
                {"type": "string", "pattern": f"^{_COUNT}(:{_COUNT})?$"},
            ],
            "examples": [4, "2:4"],
        }
    ),
]
NprocPerNode = Annotated[int, Field(ge=1)] | Literal["auto", "cpu", "gpu"]
Port = Annotated[int, Field(ge=1, le=65535)]
Seconds = Annotated[int, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
