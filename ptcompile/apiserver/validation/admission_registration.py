"""Webhook configurations and bindings of admission policies, and what policies share with them.

Source: Kubernetes 1.36, pkg/apis/admissionregistration/validation/validation.go; apiserver
pkg/util/webhook. A null item of a list counts as an empty text, and an absent field has its
default.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from ptcompile._internal.lazy import Pattern
from ptcompile.apiserver.cel.environments import policy_environment, why_invalid_policy_expression
from ptcompile.apiserver.cel.types import BOOL, CelType
from ptcompile.apiserver.validation.field import FieldValue
from ptcompile.apiserver.validation.metadata import check_selector
from ptcompile.apiserver.validation.values import check_service_port, why_not_path_segment
from ptcompile.kubernetes import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.apiserver.cel.checker import Environment

FAILURE_POLICIES = ("Fail", "Ignore")
_MATCH_POLICIES = ("Equivalent", "Exact")
REINVOCATION_POLICIES = ("IfNeeded", "Never")
_SIDE_EFFECTS = ("None", "NoneOnDryRun")
_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_SCOPES = ("*", "Cluster", "Namespaced")
_ACTIONS = ("Audit", "Deny", "Warn")
_REVIEW_VERSIONS = ("v1", "v1beta1")
_CONDITIONS_MAX = 64
_TIMEOUT_MAX = 30
_BAD_ESCAPE = Pattern(r"%(?![0-9A-Fa-f]{2}).{0,2}")
_BAD_HOST_CHARACTER = Pattern(r"[ \\^`{|}]")
_WHY_NO_VERSION = f"must specify one of {', '.join(_REVIEW_VERSIONS)}"
_EXPRESSION_HELP = "see https://kubernetes.io/docs/reference/using-api/cel/"


def check_rule(rule: FieldValue) -> None:
    """Check which requests a rule matches."""
    versions = rule["apiVersions"]
    operations = rule["operations"]
    _check_wildcard(operations, "operations")
    for operation in operations.items(operations.strings):
        operation.check_choice(_OPERATIONS)
    _check_wildcard(rule["apiGroups"], "API groups")
    _check_wildcard(versions, "API versions")
    for version in versions.items(versions.strings):
        if not version.value:
            version.required()
    _check_resources(rule["resources"])
    rule["scope"].check_choice(_SCOPES)


def _check_wildcard(items: FieldValue, noun: str) -> None:
    texts = items.strings
    if not texts:
        items.required(help=f"list {noun}, or write ['*']")
    elif len(texts) > 1 and "*" in texts:
        items.replaced(texts).invalid(
            f"if '*' is present, must not specify other {noun}", "keep '*' alone"
        )


def _check_resources(field: FieldValue) -> None:
    resources = field.replaced(field.strings)
    texts = resources.value
    if not texts:
        resources.required(help="list resources in the plural, such as pods, or write ['*']")
    whole = set[str]()
    for resource in resources.texts():
        if not resource.value:
            resource.required()
        elif "/" in resource.value:
            _check_subresource(resource, whole)

    if len(texts) > 1 and "*/*" in texts:
        resources.invalid("if '*/*' is present, must not specify other resources")
    plain = [text for text in texts if text and "/" not in text]
    # the server only looks at the last one
    if "*" in texts and plain[-1] != "*":
        resources.invalid(
            "if '*' is present, must not specify other resources without subresources"
        )


def _check_subresource(field: FieldValue, whole: set[str]) -> None:
    """Check a resource with its subresource against the wildcards that the list has before it.
    `whole` has these wildcards; a resource that is one joins them.
    """
    text = field.value
    resource, _, subresource = text.partition("/")
    for wildcard in (f"{resource}/*", f"*/{subresource}"):
        if wildcard in whole:
            field.invalid(f"if '{wildcard}' is present, must not specify {text}")
    if "*" in (resource, subresource):
        whole.add(text)


def check_match_resources(constraints: FieldValue) -> None:
    """Check the constraints of a policy or a binding."""
    constraints["matchPolicy"].check_choice(_MATCH_POLICIES)
    for key in ("namespaceSelector", "objectSelector"):
        constraints[key].check(check_selector)
    for key in ("resourceRules", "excludeResourceRules"):
        for rule in constraints[key].objects():
            _check_resource_names(rule["resourceNames"])
            check_rule(rule)


def _check_resource_names(resource_names: FieldValue) -> None:
    seen = set[str]()
    for name in resource_names.items(resource_names.strings):
        name.check_text(why_not_path_segment)
        name.check_unseen(seen)


def check_expression(
    expression: FieldValue, environment: Environment, allowed: Iterable[CelType]
) -> None:
    """Check that an expression compiles and has one of the allowed types."""
    if why := why_invalid_policy_expression(expression.value, environment, allowed):
        expression.invalid(why, _EXPRESSION_HELP)


def check_match_conditions(conditions: FieldValue, *, params: bool) -> None:
    """Check the match conditions of a webhook or a policy."""
    conditions.check_length(_CONDITIONS_MAX)
    if conditions.is_list and len(conditions.value) > _CONDITIONS_MAX:
        # rejected already; compiling so many expressions, as the server does, would take long
        return

    environment = policy_environment(params=params)
    seen = set[str]()
    for condition in conditions.objects():
        expression = condition["expression"].or_default("")
        name = condition["name"].or_default("")
        if expression.is_text:
            stripped = expression.replaced(expression.value.strip())
            if not stripped.value:
                stripped.required()
            else:
                check_expression(stripped, environment, (BOOL,))
        if name.value == "":
            name.required()
        elif name.is_text:
            name.check_text(names.why_not_qualified_name)
            name.check_unseen(seen)


def check_mutating_webhooks(configuration: FieldValue) -> None:
    """Check a MutatingWebhookConfiguration, except its metadata."""
    for webhook in configuration["webhooks"].objects():
        webhook["reinvocationPolicy"].check_choice(REINVOCATION_POLICIES)
    check_validating_webhooks(configuration)


def check_validating_webhooks(configuration: FieldValue) -> None:
    """Check a ValidatingWebhookConfiguration, except its metadata."""
    seen = set[str]()
    for webhook in configuration["webhooks"].objects():
        name = webhook["name"]
        _check_webhook(webhook)
        check_review_versions(webhook["admissionReviewVersions"], _WHY_NO_VERSION)
        if name.is_text and name.value:
            name.check_unseen(seen)


def _check_webhook(webhook: FieldValue) -> None:
    _check_full_name(webhook["name"])
    for rule in webhook["rules"].objects():
        check_rule(rule)
    webhook["failurePolicy"].check_choice(FAILURE_POLICIES)
    webhook["matchPolicy"].check_choice(_MATCH_POLICIES)

    effects = webhook["sideEffects"]
    effects.check_set(f"must specify one of {', '.join(_SIDE_EFFECTS)}")
    effects.check_choice(_SIDE_EFFECTS)
    seconds = webhook["timeoutSeconds"]
    if seconds.is_integer and not 1 <= seconds.value <= _TIMEOUT_MAX:
        seconds.invalid(f"the timeout value must be between 1 and {_TIMEOUT_MAX} seconds")

    for key in ("namespaceSelector", "objectSelector"):
        webhook[key].check(check_selector)
    check_client(webhook["clientConfig"])
    check_match_conditions(webhook["matchConditions"], params=False)


def _check_full_name(name: FieldValue) -> None:
    name.check_required_text(names.why_not_dns_subdomain)
    text = name.value
    if type(text) is str and text and not names.why_not_dns_subdomain(text) and text.count(".") < 2:
        why = "should be a domain with at least three segments separated by dots"
        name.invalid(why, "write it as, for example, check.pods.example.com")


def check_review_versions(versions: FieldValue, why_none: str = "") -> None:
    """Check the versions of review objects that a webhook understands."""
    texts = versions.strings
    if not texts:
        versions.required(why_none)
        return

    for index, version in enumerate(versions.items(texts)):
        if version.value in texts[:index]:
            version.invalid("duplicate version")
        else:
            version.check_text(names.why_not_dns_1035_label)

    if not set(texts) & set(_REVIEW_VERSIONS):
        versions.replaced(texts).invalid(
            f"must include at least one of {', '.join(_REVIEW_VERSIONS)}"
        )


def check_client(config: FieldValue) -> None:
    """Check how the API server reaches a webhook."""
    url = config["url"]
    service = config["service"]
    if (url.value is None) == (service.value is None):
        config.required("exactly one of url or service is required")
    elif url.is_text:
        _check_url(url)
    elif service.is_mapping:
        _check_service(service)


def _check_url(url: FieldValue) -> None:
    form = "; desired format: https://host[/path]"
    try:
        parts = urlsplit(url.value)
    except ValueError as error:
        url.required(f"url must be a valid URL: {error}{form}")
        return

    user, _, host = parts.netloc.rpartition("@")
    if why := _why_not_url(url.value, host):
        url.required(f"url must be a valid URL: {why}{form}")
        return

    if parts.scheme != "https":
        url.replaced(parts.scheme).invalid(f"'https' is the only allowed URL scheme{form}")
    if not host:
        url.replaced(host).invalid(f"host must be specified{form}")
    if "@" in parts.netloc:
        url.replaced(user).invalid("user information is not permitted in the URL")
    if parts.fragment:
        url.replaced(parts.fragment).invalid("fragments are not permitted in the URL")
    if parts.query:
        url.replaced(parts.query).invalid("query parameters are not permitted in the URL")


def _why_not_url(url: str, host: str) -> str | None:
    """Return why Go's `url.Parse` cannot read a URL, as far as Python's parser accepts it, or
    None.
    """
    if any(character < " " or character == "\x7f" for character in url):
        return "invalid control character in URL"
    if match := _BAD_ESCAPE.search(url.partition("?")[0]):
        return f'invalid URL escape "{match.group()}"'
    if match := _BAD_HOST_CHARACTER.search(host):
        return f'invalid character "{match.group()}" in host name'

    _, _, port = host.rpartition("]")[2].rpartition(":")
    if ":" in host and port and not port.isdecimal():
        return f'invalid port ":{port}" after host'

    return None


def _check_service(service: FieldValue) -> None:
    path = service["path"]
    service.require("name", "namespace")
    check_service_port(service["port"], "leave it out for port 443")
    if not path.is_text or path.value in ("", "/"):
        return
    if path.value == "//":
        path.invalid("segment[0] may not be empty")
        return

    if not path.value.startswith("/"):
        path.invalid("must start with a '/'")
    for index, step in enumerate(path.value[1:].removesuffix("/").split("/")):
        if not step:
            path.invalid(f"segment[{index}] may not be empty")
        elif reason := names.why_not_dns_subdomain(step):
            path.invalid(f"segment[{index}]: {reason}")


def check_validating_binding(binding: FieldValue) -> None:
    """Check a ValidatingAdmissionPolicyBinding, except its metadata."""
    check_mutating_binding(binding)
    actions = binding["spec"]["validationActions"]
    texts = actions.strings
    seen = set[str]()
    for action in actions.items(texts):
        action.check_choice(_ACTIONS)
        action.check_unseen(seen)

    if "Deny" in texts and "Warn" in texts:
        why = (
            "must not contain both Deny and Warn (repeating the same validation failure "
            "information in the API response"
            " and headers serves no purpose)"
        )
        actions.replaced(texts).invalid(why, "keep Deny")
    if not texts:
        actions.required(
            "at least one validation action is required", "write [Deny], [Warn] or [Audit]"
        )


def check_mutating_binding(binding: FieldValue) -> None:
    """Check a MutatingAdmissionPolicyBinding, except its metadata."""
    spec = binding["spec"]
    spec["policyName"].check_required_text(names.why_not_dns_subdomain)
    if spec["paramRef"].is_mapping:
        _check_param_ref(spec["paramRef"])
    check_match_resources(spec["matchResources"])


def _check_param_ref(reference: FieldValue) -> None:
    name = reference["name"]
    selector = reference["selector"]
    exclusive = "name and selector are mutually exclusive"
    if name.is_text and name.value:
        name.check_text(why_not_path_segment)
        if selector.value is not None:
            name.forbidden(exclusive)
            selector.forbidden(exclusive)

    selector.check(check_selector)
    if name.is_empty and selector.value is None:
        reference.required("one of name or selector must be specified")
    reference["parameterNotFoundAction"].check_required_choice(
        ("Deny", "Allow"), help="set Allow or Deny"
    )
