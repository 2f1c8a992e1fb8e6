"""Webhook configurations and bindings of admission policies, and what policies share with them.

Source: Kubernetes 1.36, pkg/apis/admissionregistration/validation/validation.go; apiserver pkg/util/webhook. A null
item of a list counts as an empty text, and an absent field has its default.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from ptcompile._internal.lazy import Pattern
from ptcompile.apiserver.cel.environments import policy_environment, why_invalid_policy_expression
from ptcompile.apiserver.cel.types import BOOL, CelType
from ptcompile.apiserver.validation.metadata import check_selector
from ptcompile.apiserver.validation.values import PORT_MAX, why_not_path_segment
from ptcompile.diagnostics import Path
from ptcompile.diagnostics.field_errors import FieldErrors, indexed_mappings, is_empty
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, as_mapping, as_strings, nested_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.apiserver.cel.checker import Environment

_FAILURE_POLICIES = ("Fail", "Ignore")
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
_EXPRESSION_HELP = "see https://kubernetes.io/docs/reference/using-api/cel/"


# rules


def check_rule(rule: Json, path: Path, problems: FieldErrors) -> None:
    """Check which requests a rule matches."""
    operations = as_strings(rule.get("operations"))
    _check_wildcard(operations, (*path, "operations"), "operations", problems)
    for index, operation in enumerate(operations):
        problems.check_choice((*path, "operations", index), operation, _OPERATIONS)
    _check_wildcard(as_strings(rule.get("apiGroups")), (*path, "apiGroups"), "API groups", problems)
    versions = as_strings(rule.get("apiVersions"))
    _check_wildcard(versions, (*path, "apiVersions"), "API versions", problems)
    for index, version in enumerate(versions):
        if not version:
            problems.required((*path, "apiVersions", index))
    _check_resources(as_strings(rule.get("resources")), (*path, "resources"), problems)
    problems.check_choice((*path, "scope"), rule.get("scope"), _SCOPES)


def _check_wildcard(items: list[str], path: Path, noun: str, problems: FieldErrors) -> None:
    if not items:
        problems.required(path, help=f"list {noun}, or write ['*']")
    elif len(items) > 1 and "*" in items:
        problems.invalid(path, items, f"if '*' is present, must not specify other {noun}", "keep '*' alone")


def _check_resources(resources: list[str], path: Path, problems: FieldErrors) -> None:
    if not resources:
        problems.required(path, help="list resources in the plural, such as pods, or write ['*']")
    whole = set[str]()
    for index, text in enumerate(resources):
        if not text:
            problems.required((*path, index))
        elif "/" in text:
            _check_subresource(text, whole, (*path, index), problems)
    if len(resources) > 1 and "*/*" in resources:
        problems.invalid(path, resources, "if '*/*' is present, must not specify other resources")
    plain = [text for text in resources if text and "/" not in text]
    if "*" in resources and plain[-1] != "*":  # the server only looks at the last one
        why = "if '*' is present, must not specify other resources without subresources"
        problems.invalid(path, resources, why)


def _check_subresource(text: str, whole: set[str], path: Path, problems: FieldErrors) -> None:
    """Check a resource with its subresource against the wildcards before it, `whole`, and add it if it is one."""
    resource, _, subresource = text.partition("/")
    for wildcard in (f"{resource}/*", f"*/{subresource}"):
        if wildcard in whole:
            problems.invalid(path, text, f"if '{wildcard}' is present, must not specify {text}")
    if "*" in (resource, subresource):
        whole.add(text)


def check_match_resources(match: Any, path: Path, problems: FieldErrors) -> None:
    """Check the constraints of a policy or a binding."""
    constraints = as_mapping(match)
    problems.check_choice((*path, "matchPolicy"), constraints.get("matchPolicy"), _MATCH_POLICIES)
    for key in ("namespaceSelector", "objectSelector"):
        check_selector(constraints.get(key), (*path, key), problems)
    for key in ("resourceRules", "excludeResourceRules"):
        for index, rule in indexed_mappings(constraints.get(key)):
            _check_resource_names(as_strings(rule.get("resourceNames")), (*path, key, index, "resourceNames"), problems)
            check_rule(rule, (*path, key, index), problems)


def _check_resource_names(resource_names: list[str], path: Path, problems: FieldErrors) -> None:
    seen = set[str]()
    for index, name in enumerate(resource_names):
        problems.check_text((*path, index), name, why_not_path_segment)
        problems.check_unseen((*path, index), name, seen)


# expressions


def check_expression(
    text: str, path: Path, environment: Environment, allowed: Iterable[CelType], problems: FieldErrors
) -> None:
    """Check that an expression compiles and has one of the allowed types."""
    if why := why_invalid_policy_expression(text, environment, allowed):
        problems.invalid(path, text, why, _EXPRESSION_HELP)


def check_match_conditions(conditions: Any, path: Path, problems: FieldErrors, *, params: bool) -> None:
    """Check the match conditions of a webhook or a policy."""
    if type(conditions) is list and len(conditions) > _CONDITIONS_MAX:
        problems.too_many(path, len(conditions), _CONDITIONS_MAX)
        return  # each of them would be compiled
    environment = policy_environment(params=params)
    seen = set[str]()
    for index, condition in indexed_mappings(conditions):
        expression = condition.get("expression") or ""
        name = condition.get("name") or ""
        if type(expression) is str and not expression.strip():
            problems.required((*path, index, "expression"))
        elif type(expression) is str:
            check_expression(expression.strip(), (*path, index, "expression"), environment, (BOOL,), problems)
        if name == "":
            problems.required((*path, index, "name"))
        elif type(name) is str:
            problems.check_text((*path, index, "name"), name, names.why_not_qualified_name)
            problems.check_unseen((*path, index, "name"), name, seen)


# webhooks


def check_mutating_webhooks(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a MutatingWebhookConfiguration, except its metadata."""
    for index, webhook in indexed_mappings(manifest.get("webhooks")):
        path = ("webhooks", index, "reinvocationPolicy")
        problems.check_choice(path, webhook.get("reinvocationPolicy"), REINVOCATION_POLICIES)
    check_validating_webhooks(manifest, context, problems)


def check_validating_webhooks(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a ValidatingWebhookConfiguration, except its metadata."""
    seen = set[str]()
    for index, webhook in indexed_mappings(manifest.get("webhooks")):
        path: Path = ("webhooks", index)
        _check_webhook(webhook, path, problems)
        versions_path = (*path, "admissionReviewVersions")
        check_review_versions(as_strings(webhook.get("admissionReviewVersions")), versions_path, problems)
        name = webhook.get("name")
        if type(name) is str and name:
            problems.check_unseen((*path, "name"), name, seen)


def _check_webhook(webhook: Json, path: Path, problems: FieldErrors) -> None:
    _check_full_name(webhook.get("name"), (*path, "name"), problems)
    for index, rule in indexed_mappings(webhook.get("rules")):
        check_rule(rule, (*path, "rules", index), problems)
    problems.check_choice((*path, "failurePolicy"), webhook.get("failurePolicy"), _FAILURE_POLICIES)
    problems.check_choice((*path, "matchPolicy"), webhook.get("matchPolicy"), _MATCH_POLICIES)
    effects = webhook.get("sideEffects")
    if effects is None:
        problems.required((*path, "sideEffects"), f"must specify one of {', '.join(_SIDE_EFFECTS)}")
    problems.check_choice((*path, "sideEffects"), effects, _SIDE_EFFECTS)
    seconds = webhook.get("timeoutSeconds")
    if type(seconds) is int and not 1 <= seconds <= _TIMEOUT_MAX:
        why = f"the timeout value must be between 1 and {_TIMEOUT_MAX} seconds"
        problems.invalid((*path, "timeoutSeconds"), seconds, why)
    for key in ("namespaceSelector", "objectSelector"):
        check_selector(webhook.get(key), (*path, key), problems)
    check_client(webhook.get("clientConfig"), (*path, "clientConfig"), problems)
    check_match_conditions(webhook.get("matchConditions"), (*path, "matchConditions"), problems, params=False)


def _check_full_name(name: Any, path: Path, problems: FieldErrors) -> None:
    if is_empty(name):
        problems.required(path)
    elif type(name) is str and (why := names.why_not_dns_subdomain(name)):
        problems.invalid(path, name, why)
    elif type(name) is str and name.count(".") < 2:
        why = "should be a domain with at least three segments separated by dots"
        problems.invalid(path, name, why, "write it as, for example, check.pods.example.com")


def check_review_versions(versions: list[str], path: Path, problems: FieldErrors, detail: str | None = None) -> None:
    """Check the versions of review objects that a webhook understands."""
    if not versions:
        problems.required(path, f"must specify one of {', '.join(_REVIEW_VERSIONS)}" if detail is None else detail)
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            problems.invalid((*path, index), version, "duplicate version")
        else:
            problems.check_text((*path, index), version, names.why_not_dns_1035_label)
    if not set(versions) & set(_REVIEW_VERSIONS):
        problems.invalid(path, versions, f"must include at least one of {', '.join(_REVIEW_VERSIONS)}")


def check_client(client: Any, path: Path, problems: FieldErrors) -> None:
    """Check how the API server reaches a webhook."""
    config = as_mapping(client)
    url = config.get("url")
    service = config.get("service")
    if (url is None) == (service is None):
        problems.required(path, "exactly one of url or service is required")
    elif type(url) is str:
        _check_url(url, (*path, "url"), problems)
    elif type(service) is dict:
        _check_service(service, (*path, "service"), problems)


def _check_url(url: str, path: Path, problems: FieldErrors) -> None:
    form = "; desired format: https://host[/path]"
    try:
        parts = urlsplit(url)
    except ValueError as error:
        problems.required(path, f"url must be a valid URL: {error}{form}")
        return
    host = parts.netloc.rpartition("@")[2]
    if why := _why_not_url(url, host):
        problems.required(path, f"url must be a valid URL: {why}{form}")
        return
    if parts.scheme != "https":
        problems.invalid(path, parts.scheme, f"'https' is the only allowed URL scheme{form}")
    if not host:
        problems.invalid(path, host, f"host must be specified{form}")
    if "@" in parts.netloc:
        problems.invalid(path, parts.netloc.rpartition("@")[0], "user information is not permitted in the URL")
    if parts.fragment:
        problems.invalid(path, parts.fragment, "fragments are not permitted in the URL")
    if parts.query:
        problems.invalid(path, parts.query, "query parameters are not permitted in the URL")


def _why_not_url(url: str, host: str) -> str | None:
    """Return why Go's `url.Parse` cannot read a URL, as far as Python's parser accepts it, or None."""
    if any(character < " " or character == "\x7f" for character in url):
        return "invalid control character in URL"
    if match := _BAD_ESCAPE.search(url.partition("?")[0]):
        return f'invalid URL escape "{match.group()}"'
    if match := _BAD_HOST_CHARACTER.search(host):
        return f'invalid character "{match.group()}" in host name'
    _, _, port = host.rpartition("]")[2].rpartition(":")
    return f'invalid port ":{port}" after host' if ":" in host and port and not port.isdecimal() else None


def _check_service(service: Json, path: Path, problems: FieldErrors) -> None:
    problems.check_required(service, path, "name", "namespace")
    port = service.get("port")
    if type(port) is int and not 1 <= port <= PORT_MAX:
        why = f"port is not valid: must be between 1 and {PORT_MAX}, inclusive"
        problems.invalid((*path, "port"), port, why, "leave it out for port 443")
    url_path = service.get("path")
    path = (*path, "path")
    if type(url_path) is not str or url_path in ("", "/"):
        return
    if url_path == "//":
        problems.invalid(path, url_path, "segment[0] may not be empty")
        return
    if not url_path.startswith("/"):
        problems.invalid(path, url_path, "must start with a '/'")
    for index, step in enumerate(url_path[1:].removesuffix("/").split("/")):
        if not step:
            problems.invalid(path, url_path, f"segment[{index}] may not be empty")
        elif reason := names.why_not_dns_subdomain(step):
            problems.invalid(path, url_path, f"segment[{index}]: {reason}")


# bindings


def check_validating_binding(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a ValidatingAdmissionPolicyBinding, except its metadata."""
    check_mutating_binding(manifest, context, problems)
    path: Path = ("spec", "validationActions")
    actions = as_strings(nested_map(manifest, "spec").get("validationActions"))
    for index, action in enumerate(actions):
        problems.check_choice((*path, index), action, _ACTIONS)
        if action in actions[:index]:
            problems.duplicate((*path, index), action)
    if "Deny" in actions and "Warn" in actions:
        why = (
            "must not contain both Deny and Warn (repeating the same validation failure information in the API response"
            " and headers serves no purpose)"
        )
        problems.invalid(path, actions, why, "keep Deny")
    if not actions:
        problems.required(path, "at least one validation action is required", "write [Deny], [Warn] or [Audit]")


def check_mutating_binding(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a MutatingAdmissionPolicyBinding, except its metadata."""
    spec = nested_map(manifest, "spec")
    problems.check_required_text(("spec", "policyName"), spec.get("policyName"), names.why_not_dns_subdomain)
    if type(spec.get("paramRef")) is dict:
        _check_param_ref(spec["paramRef"], ("spec", "paramRef"), problems)
    check_match_resources(spec.get("matchResources"), ("spec", "matchResources"), problems)


def _check_param_ref(reference: Json, path: Path, problems: FieldErrors) -> None:
    name = reference.get("name")
    selector = reference.get("selector")
    exclusive = "name and selector are mutually exclusive"
    if type(name) is str and name:
        problems.check_text((*path, "name"), name, why_not_path_segment)
        if selector is not None:
            problems.forbidden((*path, "name"), exclusive)
            problems.forbidden((*path, "selector"), exclusive)
    check_selector(selector, (*path, "selector"), problems)
    if is_empty(name) and selector is None:
        problems.required(path, "one of name or selector must be specified")
    action = reference.get("parameterNotFoundAction")
    action_path = (*path, "parameterNotFoundAction")
    problems.check_required_choice(action_path, action, ("Deny", "Allow"), help="set Allow or Deny")


def check_failure_policy(value: Any, path: Path, problems: FieldErrors) -> None:
    """Check what happens if an expression fails."""
    problems.check_choice(path, value, _FAILURE_POLICIES)
