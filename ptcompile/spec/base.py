"""Base model, scalar types and metadata that TrainingJob and ClusterProfile share."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_type_hints

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from ptcompile.spec import checks
from ptcompile.spec.objects import ResourceFields, SpecFields, yaml_name


class _ModelSignature:
    """The signature of a model for `help()` and `inspect`: its fields as keywords, under their
    Python names.

    pydantic's own has the aliases, which are YAML's, and exists only once the model is built.
    """

    def __get__(self, _: object, model: type[Model]) -> Signature:
        types = get_type_hints(model)
        parameters = []
        for name, field in model.model_fields.items():
            default = Parameter.empty
            if not field.is_required():
                default = field.get_default(call_default_factory=True)
            parameters.append(
                Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=types[name])
            )

        return Signature(parameters)


class Model(SpecFields, BaseModel):
    """Frozen base model: camelCase in YAML, snake_case in Python, no unknown keys, no implicit type
    conversion.

    Validators are built on first use, one per document. Defaults come from `model_construct`, which
    needs no validator; building all of them would take a third of a cold start.
    """

    model_config = ConfigDict(
        alias_generator=yaml_name,
        defer_build=True,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        strict=True,
        ser_json_inf_nan="strings",
    )

    __signature__ = _ModelSignature()

    @classmethod
    def __pydantic_on_complete__(cls) -> None:
        """Keep our signature: pydantic has just set its own."""
        cls.__signature__ = _ModelSignature()

    def replace(self, **changes: Any) -> Self:
        """Return a copy with these fields replaced."""
        return self.model_copy(update=changes)

    def document(self, *, only_set: bool = False) -> dict[str, Any]:
        """Return the object as decoded YAML, with all defaults or with only the fields that are
        set.
        """
        return self.model_dump(by_alias=True, exclude_unset=only_set)


def optional(description: str, default: Any = None, **rules: Any) -> Any:
    """Return the declaration of a field that may be absent. `rules` go to pydantic's `Field`."""
    return Field(default=default, description=description, **rules)


def part(model: type[Model], description: str) -> Any:
    """Return the declaration of a field that holds another model; if absent, the model has its
    defaults.
    """
    return Field(default_factory=model.model_construct, description=description)


DnsLabel = Annotated[
    str, Field(json_schema_extra={"pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "maxLength": 63})
]
"""A DNS label. The pattern is only for editors: the frontend has a better message."""

_SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
DnsSubdomain = Annotated[str, Field(json_schema_extra={"pattern": _SUBDOMAIN, "maxLength": 253})]
"""A DNS subdomain, the form of most object names. The pattern is only for editors, as in
`DnsLabel`.
"""


# what a caller may pass; a model stores an amount as text and a mapping as a dict
if TYPE_CHECKING:
    QuantityField = str | int | float
    Dict = Mapping
else:
    QuantityField = Annotated[
        str,
        BeforeValidator(checks.as_text),
        AfterValidator(checks.check_amount),
        Field(
            json_schema_extra={
                "x-check": "quantity",
                "type": ["string", "number"],
                "pattern": r"^ *(?=[^ "
                r"])\+?[0-9]*(\.[0-9]*)?([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,18})? *$",
                "minimum": 0,
                "examples": ["500m", "64Gi", 8],
            }
        ),
    ]
    """A Kubernetes quantity: 2, "500m", "64Gi"."""
    Dict = dict
    """A mapping whose value types vary: type checkers accept a `dict[str, str]` as `Dict[str,
    str | EnvSource]`.
    """


class Metadata(Model):
    """Name, namespace, labels and annotations of the objects."""

    model_config = ConfigDict(
        json_schema_extra={
            "allOf": [{"anyOf": [{"required": ["name"]}, {"required": ["generateName"]}]}]
        }
    )

    name: DnsLabel = optional(
        "Name of the job; pods, Services and host names are derived from it.", ""
    )
    generate_name: str | None = optional(
        "Prefix of a name that the API server completes, instead of name (kubectl create, not "
        "apply). Only for jobs whose name no address and no other object contains."
    )
    namespace: DnsLabel | None = optional(
        "Namespace of every object; the cluster's default when absent."
    )
    labels: Dict[str, str | None] = optional(
        "Labels of the objects; null removes the profile's. Labels of the pods go to "
        "spec.podLabels.",
        {},
    )
    annotations: Dict[str, str | None] = optional(
        "Annotations of the objects; null removes the profile's. Annotations of the pods go to "
        "spec.podAnnotations.",
        {},
    )


Json = dict[str, Any]
"""Part of a Kubernetes object, whose `Any` pydantic knows. The offline API server checks it in the
compiled manifest.
"""


class ResourceList(ResourceFields, Model):
    """Amounts by resource. null means none: the profile's default is not used either."""

    cpu: QuantityField | None = optional("Cores.")
    memory: QuantityField | None = optional("Bytes, usually with Mi or Gi.")
    gpu: QuantityField | None = optional("Whole GPUs, under the cluster profile's resource name.")
    ephemeral_storage: QuantityField | None = optional("Local scratch disk, usually with Gi.")
    devices: Dict[str, QuantityField | None] = optional(
        "Other resources by full name, such as nvidia.com/mig-1g.5gb, rdma/hca or hugepages-2Mi.",
        {},
    )


_NO_AMOUNTS = ResourceList.model_construct()
"""Empty amounts, shared by all objects because models are immutable."""


def _absent_amounts() -> ResourceList:
    return _NO_AMOUNTS


class Resources(ResourceList):
    """Resources of a node. A plain amount is both request and limit; `requests` and `limits`
    override one of the two.

    A request without a limit gets no limit, except for devices and huge pages, for which Kubernetes
    requires both to be equal.
    """

    requests: ResourceList = Field(
        default_factory=_absent_amounts,
        description="Requests that differ from the limit, or that have no limit.",
    )
    limits: ResourceList = Field(
        default_factory=_absent_amounts,
        description="Limits that differ from the request; null for no limit.",
    )


_COUNT = "(?=[0-9]{1,9}(:|$))0*[1-9][0-9]*"
Nnodes = Annotated[
    int | str,
    BeforeValidator(checks.check_nnodes),
    Field(
        json_schema_extra={
            "x-check": "nnodes",
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": 999_999_999},
                {"type": "string", "pattern": f"^{_COUNT}(:{_COUNT})?$"},
            ],
            "examples": [4, "2:4"],
        }
    ),
]
NprocPerNode = Annotated[int, Field(ge=1)] | Literal["auto", "cpu", "gpu", "xpu"]
Interval = Annotated[
    int | float,
    BeforeValidator(checks.check_interval),
    WithJsonSchema(
        {"x-check": "interval", "type": "number", "exclusiveMinimum": 0, "examples": [5, 0.1]}
    ),
]
"""Seconds, possibly fractional."""
Port = Annotated[int, Field(ge=1, le=65535)]
Seconds = Annotated[int, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]


def json_schema(model: type[Model], schema_id: str, required: list[str]) -> dict[str, Any]:
    """Return the JSON Schema of a document that requires these keys. Fields get no titles, because
    their names suffice.
    """
    from pydantic.json_schema import GenerateJsonSchema

    class Untitled(GenerateJsonSchema):
        def field_title_should_be_set(self, schema: Any) -> bool:
            return False

    schema = model.model_json_schema(by_alias=True, schema_generator=Untitled)
    schema["required"] = required
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": schema_id, **schema}
