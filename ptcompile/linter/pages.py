"""The page of every code: docstrings of rules, and the texts for codes without a rule."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from textwrap import dedent
from types import ModuleType

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics.codes import CODES
from ptcompile.linter import every_rule, rule_named
from ptcompile.linter.rule import Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class CodePage(NamedTuple):
    """The meaning of a code without a rule."""

    title: str
    fix: str


CODE_PAGES: Final[dict[str, CodePage]] = {
    "yaml-syntax": CodePage(
        "The text is not YAML, or not YAML as kubectl reads it.",
        "fix the text at the caret; the message says what was expected there",
    ),
    "bad-encoding": CodePage("The file is not UTF-8.", "save it as UTF-8"),
    "duplicate-key": CodePage(
        "A mapping has a key twice: kubectl silently keeps the last one.", "remove one of the two"
    ),
    "too-large": CodePage(
        "The input exceeds a limit: 64 MiB per file, 3 MiB and 100,000 values per document, 10,000 documents per "
        "file; 128 KiB for a container's variables, its command line or its script after references such as $(X) are "
        "replaced.",
        "split it; mount a long value as a file",
    ),
    "too-deep": CodePage("Collections are nested more than 100 levels deep.", "flatten it"),
    "too-many-aliases": CodePage(
        "Aliases expand to more values than a document may have: an attack or a mistake.", "write the values out"
    ),
    "unsupported-yaml": CodePage(
        "YAML that has no meaning in Kubernetes: a tag, a key that is not a string, a number that JSON cannot "
        "represent.",
        "write plain mappings, lists, strings, numbers and booleans",
    ),
    "not-a-mapping": CodePage(
        "A document, or an item of a List, is not a mapping.", "start every object with apiVersion and kind"
    ),
    "text-after-end": CodePage(
        "Text follows a line `...` that ended the document: kubectl reads neither these fields nor these objects.",
        "separate documents with a line `---`",
    ),
    "no-documents": CodePage("The file has no document.", "write one, or exclude the file"),
    "never-admitted": CodePage(
        "The queue that a job names does not admit it, even with nothing else in its queues: the message is Kueue's. "
        "Found by `ptcompile admit`.",
        "request what the queue can have, or name another queue; the help says how many pods can fit",
    ),
    "not-admitted-now": CodePage(
        "The job waits for what other workloads use. Found by `ptcompile admit` with a dump of the cluster.",
        "wait, request less, or use a class of higher priority if the queue preempts",
    ),
    "admission-not-modeled": CodePage(
        "An admission check or claimed devices decide about the job too, and `ptcompile admit` does not model them.",
        "look at the Workload in the cluster: kubectl describe workload",
    ),
    "unrendered-template": CodePage(
        "The file is a template: a note, once per file. Templates of Helm, Jinja and ERB are neither checked nor "
        "fixed; every file below `templates/` of a Helm chart is one. In templates of envsubst and sed, only findings "
        "on placeholders are left out.",
        "render it first: helm template . | ptcompile lint -",
    ),
    "unknown-kind": CodePage(
        "ptcompile does not know the kind, or the kind does not belong here.",
        "check its spelling and apiVersion; a manifest is for lint, a TrainingJob for compile, a profile for --cluster",
    ),
    "spec-unknown-field": CodePage(
        "A TrainingJob or ClusterProfile has an unknown field.", "use the name that the help suggests"
    ),
    "spec-missing-field": CodePage("A TrainingJob or ClusterProfile lacks a field that it needs.", "add it"),
    "spec-wrong-type": CodePage(
        "A value has the wrong type for its field: a number for a string, a list for a mapping.",
        "write it as the message says; quote a string that looks like a number",
    ),
    "spec-invalid-value": CodePage("A value has the right type but is not valid.", "use one that the message allows"),
    "spec-conflict": CodePage("Two fields contradict each other.", "keep the intended one"),
    "unsupported-by-target": CodePage(
        "The operator of this target cannot do what the spec asks for.",
        "use a target that the help names, or remove the field",
    ),
    "unqueued-job": CodePage(
        "The profile's queueSystem is kueue, but the job names no queue. Kueue gives it the LocalQueue named default "
        "if the namespace has one, and otherwise does not manage it. A note.",
        "add queue to the spec, or defaults.queue to the profile",
    ),
    "word-without-effect": CodePage(
        "A spec field has no effect on this target, or for a job of this shape: the rendezvous port of a single node, "
        "a name that the operator does not use, an id for a static rendezvous. A note.",
        "remove it; in a spec for several targets it may stay",
    ),
    "name-too-long": CodePage(
        "The job's name leaves no room for the names that are derived from it: pods, host names, Services.",
        "shorten it to the length in the help",
    ),
    "unknown-target": CodePage("No target has this name.", "`ptcompile targets` lists the targets"),
    "not-carried-over": CodePage(
        "Part of a Flyte task or of another source has no counterpart and is not in the result.",
        "express it another way, or accept the loss",
    ),
    "not-importable": CodePage(
        "No spec compiles to this manifest: no target writes its kind, or its pods do not find each other as those of "
        "a job do.",
        "keep the manifest, or do what the help says",
    ),
    "import-differs": CodePage(
        "The imported spec compiles to something other than the original manifest here.",
        "look at the difference; --lossy writes the spec anyway",
    ),
    "convert-differs": CodePage(
        "The other operator does this differently, or would run something else.",
        "look at the difference; with --lossy it is a warning",
    ),
    "nothing-to-import": CodePage(
        "None of the objects is a job that a target writes.",
        "give import the file with the job, together with the objects that belong to it",
    ),
    "operator-with-successor": CodePage(
        "The object's operator has a successor: Kubeflow's training-operator (kubeflow.org/v1) is followed by "
        'Trainer (TrainJob). A note of `ptcompile lint`, once per file; `ignore = ["PTC606"]` in the configuration '
        "switches it off.",
        "convert it with ptcompile convert --target trainjob, a folder at once with --report FILE.md",
    ),
    "image-contents": CodePage(
        "The Flyte task's image must contain its code: the job calls the task's function, and `pyflyte` built no "
        "image.",
        "build the image as examples/flyte/Dockerfile does, or give --embed for any image with torch and the module",
    ),
    "unlike-flyte": CodePage(
        "The job has a policy that the Flyte task does not set and Flyte would not write.",
        "set run_policy or restart_policy in the task",
    ),
    "unknown-field": CodePage(
        "The kind does not have this field. kubectl rejects it; clients without strict validation silently drop "
        "the field.",
        "use the name that the help suggests, or move it to where it belongs",
    ),
    "version-unknown-field": CodePage(
        "The field exists, but not in the release of Kubernetes or the operator that the profile names.",
        "remove it, or name the newer release in the profile",
    ),
    "no-such-kind": CodePage(
        "The server has no such kind under this apiVersion: it is of another group or version, or the server is too "
        "old or too new for it.",
        "write the apiVersion that the help names",
    ),
    "deprecated-field": CodePage(
        "A field, label, annotation or value is deprecated. It still works, and the API server accepts it with a "
        "warning.",
        "use what the warning names",
    ),
    "deprecated-api": CodePage(
        "This apiVersion of the kind is deprecated: the API server accepts it with a warning, and a later release does "
        "not serve it.",
        "use the apiVersion that the warning names",
    ),
    "repeated-entry": CodePage(
        "An entry of a list repeats another one: a port, a path in a volume, an image pull secret, a host alias, an "
        "owner. The API server accepts it with a warning, and an apply may drop one of the two.",
        "remove or rename one of the two",
    ),
    "ignored-field": CodePage(
        "A field has no effect, or another effect than its value says: a null labelSelector matches no pod, a hostIP "
        "needs a hostPort, a headless Service has no external addresses, an annotation or a volume plugin was removed. "
        "The API server accepts it with a warning.",
        "remove the field, or set what it needs",
    ),
    "noncanonical-address": CodePage(
        "An IP address or a range is not in canonical form: programs read leading zeros differently, and a controller "
        "that compares texts may apply it repeatedly. The API server accepts it with a warning.",
        "write the form that the warning names",
    ),
    "discouraged-name": CodePage(
        "The API server accepts a name and advises against it: a finalizer without a domain, or a name of more than a "
        "DNS label for an object whose pods take their hostnames from it.",
        "follow the advice of the warning",
    ),
    "discouraged-value": CodePage(
        "The API server accepts a value and advises against it: a request for a part of a byte, a TLS Secret without "
        "PEM data, more indexes than a Job can track, an unknown format in a CRD.",
        "follow the advice of the warning",
    ),
    "unread-rule": CodePage(
        "A CRD or a JSON Schema, or a CEL rule or a pattern of it, was not checked against the object: the API server "
        "rejects the CRD, the schema is not valid, the check exceeds its time or memory limit, "
        "or the evaluator does not support it. The API server limits costly rules too.",
        "fix the CRD or the schema, or check with the API server: kubectl apply --dry-run=server",
    ),
    "structure-only": CodePage(
        "ptcompile knows the fields of this built-in kind, but not the rules by which the API server validates their "
        "values. A note, once per kind and run: no finding does not mean that the server accepts the object.",
        "check with the API server: kubectl apply --dry-run=server",
    ),
    "pod-security": CodePage(
        "The Pod Security level of the namespace, by its labels in the stream or by podSecurity of the profile, does "
        "not allow the pod. A Pod is rejected; a job is accepted, but its pods are rejected and it waits.",
        "change the field as the help says, or run in a namespace with a less strict level",
    ),
    "breaks-limit-range": CodePage(
        "A LimitRange of the namespace, in the files or in the profile, does not allow a container, a pod or a "
        "PersistentVolumeClaim: its request is below the min, its limit is above the max, their ratio is too high, or "
        "a required amount is missing. Defaults of the LimitRange apply first. A job is accepted, but its pods are "
        "rejected.",
        "use amounts that the LimitRange allows, or run in another namespace",
    ),
    "exceeds-quota": CodePage(
        "A ResourceQuota of the namespace, in the files or in the profile, has no room for the object or for all pods "
        "of the job, or requires amounts that a container does not set. Scopes, object counts, storage, extended "
        "resources and the used amounts of its status count. A job is accepted, but the pods beyond the quota are "
        "rejected; pods that wait for one another then wait forever.",
        "set the amounts that the message names, request less, use fewer pods, or raise the quota",
    ),
    "denied-by-policy": CodePage(
        "A ValidatingAdmissionPolicy of the files or the profile denies the object through one of its bindings, or "
        "warns of it. It is evaluated as on the API server: rules, selectors, match conditions, variables, "
        "parameters, messages and actions. Pods of a job are denied when its controller creates them. It is a warning "
        "if the files do not say whether the policy applies, because they lack the namespace.",
        "change the object as the policy's message says; the help names the file of the policy",
    ),
    "policy-not-evaluated": CodePage(
        "The files do not settle what an admission policy answers: it asks for the permissions or the name of the "
        "user, a parameter or the namespace is in no file, or an expression takes too many steps. A note.",
        "add the missing object to the files or to the profile, or check with the API server: "
        "kubectl apply --dry-run=server",
    ),
    "field-conflict": CodePage(
        "Another manager owns a field that the file changes, such as a controller that scales the job. A server-side "
        "apply without --force-conflicts is rejected.",
        "apply with --force-conflicts to take the field over, or remove it from the file to leave it to the manager",
    ),
    "guessed-namespace": CodePage(
        "The file names no namespace, and the only object of its kind and name is in another one than `default`. "
        "`diff` compares them; kubectl apply uses the namespace of its context.",
        "write metadata.namespace, or pass --namespace to diff",
    ),
    "unknown-defaults": CodePage(
        "`simulate --stored` shows an object of a kind that neither Kubernetes nor a known operator defines: what the "
        "server fills in is unknown.",
        "put the CustomResourceDefinition in one of the files",
    ),
    "wrong-type": CodePage(
        "A value has the wrong type for its field.",
        "write it as the message says; quote a string such as on, 1 or 1e3",
    ),
    "invalid-quantity": CodePage(
        "The value is not a Kubernetes quantity.", 'write a number with a suffix, such as 500m, 2 or "64Gi"'
    ),
    "required-value": CodePage("A field that the API server requires is missing or empty.", "add it"),
    "invalid-value": CodePage("The API server rejects the value.", "the message says what it allows"),
    "unsupported-value": CodePage("The value is not one that the field accepts.", "use one of the listed values"),
    "not-found-value": CodePage(
        "A name refers to something that does not exist, such as a volume that the pod does not have.",
        "add it, or fix the name",
    ),
    "duplicate-value": CodePage("Two items of a list have the same name or key.", "remove or rename one"),
    "forbidden-value": CodePage("The API server forbids the field here.", "leave it out"),
    "too-long-value": CodePage("A text is longer than the API server allows.", "shorten it"),
    "too-many-items": CodePage("A list has more items than the API server allows.", "remove some"),
    "webhook-refusal": CodePage(
        "The operator's admission webhook rejects the object.", "the message says what the operator requires"
    ),
    "refused-queue-label": CodePage(
        "Kueue's webhook rejects a label or annotation that the API server itself accepts: the name of a queue or a "
        "Workload, the time limit, the gates of admission-gated-by, or the least parallelism of a Job.",
        "use the exact name of a LocalQueue in the namespace, a number of seconds above 0, and gates such as acme.io/a",
    ),
    "refused-topology-request": CodePage(
        "Kueue's webhook rejects the topology request: two requests for one set of pods, a level that cannot be the "
        "key of a node label, slices without a topology or a size, slices of more pods than the set has, or a group of "
        "other than two sets.",
        "keep one request; give slices both a topology and a size; group two sets, one of them of a single pod",
    ),
    "unpaired-pod-group": CodePage(
        "Kueue's webhook rejects a Pod whose group lacks a name or a size: Kueue must know how many Pods to wait for.",
        "give every Pod of the group the label pod-group-name and the annotation pod-group-total-count, a text",
    ),
    "refused-child": CodePage(
        "The object is accepted, but the API server rejects what the operator creates from it: a pod, a Service or a "
        "Job.",
        "fix the field that the finding points at; nothing would start",
    ),
    "controller-failure": CodePage(
        "The object is accepted, but the operator's controller fails on it.", "fix it: nothing would start"
    ),
    "request-above-limit": CodePage("A request is above its limit.", "lower the request or raise the limit"),
    "gpu-request-differs-from-limit": CodePage(
        "Request and limit of a device differ, but devices cannot be shared.", "set it once"
    ),
    "kubernetes-too-old": CodePage(
        "The profile names an older Kubernetes than the documentation of one of its operators requires, or than device "
        "claims need.",
        "correct one of the two in spec.versions, or upgrade",
    ),
    "unmodeled-release": CodePage(
        "The profile names a release of an operator whose webhooks ptcompile does not model; it applies the rules of "
        "the oldest release that it models. Today that is Kueue before 0.18 and JobSet before 0.8.",
        "ask the cluster where they may differ: kubectl apply --dry-run=server",
    ),
    "gate-off": CodePage(
        "The API server drops a field without a word, because the field's feature gate is off, in this release or in "
        "the profile. The object is accepted and runs without the field.",
        "remove the field; if the cluster switches the gate on, repeat that in spec.featureGates of the profile",
    ),
    "unknown-gate": CodePage(
        "The profile names a feature gate that the cluster's release does not have. The component would not start with "
        "it, and ptcompile ignores it.",
        "correct the name, or the release in spec.versions",
    ),
    "locked-gate": CodePage(
        "The profile sets a feature gate to a value that the release does not accept: the feature is stable or "
        "withdrawn, and the gate is locked.",
        "remove the gate from the profile",
    ),
    "same-image-beside": CodePage(
        "A pod template patch adds a second container with the main container's image. Most likely it should change "
        "the main container, which a patch finds by its name.",
        "name the container pytorch; in an auxiliary role, give it the name of the role",
    ),
    "several-mig-slices": CodePage(
        "A pod requests several MIG slices, but CUDA shows a process only the first.",
        "request one slice per node, on more nodes",
    ),
    "part-of-a-machine": CodePage(
        "A node uses only some of the accelerators of the smallest machine type that has enough, and possibly no other "
        "pod can use the rest.",
        "ask for all of a machine's accelerators and for fewer nodes, or leave it where other jobs fill the rest",
    ),
    "ephemeral-storage-above-disk": CodePage(
        "A node asks for more ephemeral storage than its machine's disks have, or than EKS's default root volume "
        "leaves.",
        "mount a volume, or create the nodes with a larger root volume or their local disks as ephemeral storage",
    ),
    "larger-than-pools": CodePage(
        "The node pools that the profile names have no room for all nodes of the job, which then waits forever.",
        "use fewer nodes, ask for less of each, or correct spec.nodePools in the profile",
    ),
    "queued-differently": CodePage(
        "A queue, a gang or a topology means something different to the operator or queue system than to the spec.",
        "use what the help names, or accept what the message says",
    ),
    "command-as-script": CodePage(
        "`script` or `module` holds a command line, such as `python train.py` or `train.py --lr 1e-4`. torchrun takes "
        "all of it as one name and finds no such file. Or `module` holds the name of a file, such as `train.py`.",
        "name the file or the module alone, write its arguments in args, and torchrun's options in elastic",
    ),
    "no-retries-left": CodePage(
        "The job asks for restarts, but its backoffLimit of 0 allows none.",
        "use a number above 0, or remove it: then it is 6, or 6 for each node",
    ),
    "peers-fail-too": CodePage(
        "The job should outlive a node, but torchrun on the other nodes fails with the lost one.",
        "set elastic.maxRestarts, so that torchrun starts its processes again",
    ),
    "node-0-fails-all": CodePage(
        "The job survives the loss of a node, but not of node 0, whose torchrun hosts the rendezvous store.",
        "set runPolicy.backoffLimit to the number of the other nodes or more: then all of them start again",
    ),
    "crash-ends-job": CodePage(
        "A range of nodes or `maxRestarts` lets torchrun go on after a failure, but the job has no retries "
        "(`backoffLimit` 0), so the first pod that crashes, for example out of memory, ends it.",
        "set runPolicy.backoffLimit; to accept that a crash ends the job, set runPolicy.onPodFailure to FailJob",
    ),
    "done-differently": CodePage(
        "The operator of this target only approximates what the spec says about restarts and completion; the message "
        "says how.",
        "accept it, or use a target that the help names",
    ),
    "unused-ignore": CodePage("An ignore comment matches no finding.", "remove the comment"),
    "bad-ignore": CodePage(
        "An ignore comment does not say what it ignores, names no rule, has no valid date, or is where it covers "
        "nothing.",
        "write # ptcompile: ignore[CODE] and why",
    ),
    "expired-ignore": CodePage(
        "The last day of an ignore comment is over, so its findings are reported again.",
        "fix the finding and remove the comment, or set a later date",
    ),
    "stale-baseline": CodePage(
        "An entry of the baseline covers no finding: it was fixed, or its object was renamed or removed.",
        "remove the entry, or write the baseline again with ptcompile lint --write-baseline FILE",
    ),
    "expired-baseline": CodePage(
        "The last day of an entry of the baseline is over, so its finding is reported again.",
        "fix the finding and remove the entry, or set a later date",
    ),
    "extension-failed": CodePage(
        "A rule, a pass or a target of a plugin raised an exception, or a declared rule cannot be evaluated.",
        "report it to the plugin's author, or correct the expression in the configuration",
    ),
}
"""Pages keyed by finding name. Rules have their own pages."""


SECTIONS: Final = ("What", "Why", "Example", "Fix", "Source")
FINDING_MARK: Final = "# <--"
"""Ends the example line that the finding is reported at."""
_GUTTER_COLUMNS: Final = 2
"""Columns before an example's lines: `- ` in bad ones, `+ ` in good ones, spaces in shared ones."""

_SECTION_HEAD = re.compile(rf"^({'|'.join(SECTIONS)}):[ \n]?", re.MULTILINE)


class RulePage(NamedTuple):
    """A title of one sentence and the text of each section; the example is two YAML files, bad and good."""

    title: str
    what: str
    why: str
    bad: str
    good: str
    fix: str
    source: str


def rule_page(rule: Rule) -> RulePage:
    """Return the page of a rule. Raises ValueError if its docstring lacks a section, which is a bug."""
    parts = _SECTION_HEAD.split(_docstring_of(sys.modules[rule.check.__module__]).strip())
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    missing = [name for name in SECTIONS if not sections.get(name, "").strip()]
    if missing:
        raise ValueError(f"the page of {rule.name} has no section {', '.join(missing)}")
    texts = {name.lower(): " ".join(sections[name].split()) for name in SECTIONS if name != "Example"}
    example = sections["Example"]
    return RulePage(
        parts[0].strip(),
        bad=_example_file(example, "-"),
        good=_example_file(example, "+").replace(f"  {FINDING_MARK}", ""),
        **texts,
    )


def _docstring_of(module: ModuleType) -> str:
    """Return a module's docstring; read it from the source under `python -OO`."""
    if module.__doc__ is None:
        import ast
        from inspect import getsource

        return ast.get_docstring(ast.parse(getsource(module))) or ""
    return module.__doc__


def _example_file(example: str, sign: str) -> str:
    """Return one of the two files of an example, which is their diff with all lines of both."""
    lines = dedent(example).strip("\n").split("\n")
    return "".join(f"{line[_GUTTER_COLUMNS:]}\n" for line in lines if line[:1] in ("", " ", sign))


def pages(names: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return the title and the Markdown page of each name: what, why, an example, how to fix it."""
    return {name: _markdown_page(name) for name in set(names) if name in CODES}


def _markdown_page(name: str) -> tuple[str, str]:
    rule = rule_named(name)
    if rule is None:
        code_page = CODE_PAGES[name]
        return code_page.title, f"{code_page.title}\n\n**Fix**: {code_page.fix}."
    text = rule_page(rule)
    bad, good = (f"```yaml\n{example}```" for example in (text.bad, text.good))
    parts = [text.title, text.what, text.why, f"**Bad**\n\n{bad}", f"**Good**\n\n{good}", f"**Fix**: {text.fix}"]
    return text.title, "\n\n".join([*parts, f"Source: {text.source}"])


def name_of(code_or_name: str) -> str | None:
    """Return the name that a code or a name refers to, or None."""
    if code_or_name in CODES:
        return code_or_name
    return next((name for name, code in CODES.items() if code == code_or_name.upper()), None)


def explain_name(name: str) -> str:
    """Return the page of one name as text for a terminal."""
    rule = rule_named(name)
    if rule is None:
        code_page = CODE_PAGES[name]
        return f"{CODES[name]} {name}\n\n{_wrap(code_page.title)}\n\n{_wrap_section('Fix', code_page.fix)}.\n"
    text = rule_page(rule)
    parts = [
        f"{CODES[name]} {name}  ({rule.severity}, stage {rule.stage}, {rule.authority})",
        _wrap(text.title),
        _wrap_section("What", text.what),
        _wrap_section("Why", text.why),
        f"Bad:\n\n{_indent(text.bad)}",
        f"Good:\n\n{_indent(text.good)}",
        _wrap_section("Fix", text.fix),
        _wrap_section("Source", text.source),
    ]
    return "\n\n".join(parts) + "\n"


def _wrap_section(head: str, text: str) -> str:
    return _wrap(f"{head}: {text}")


def _wrap(text: str) -> str:
    import textwrap

    return textwrap.fill(" ".join(text.split()), 100)


def _indent(text: str) -> str:
    return "".join(f"    {line}" if line.strip() else line for line in text.splitlines(keepends=True)).rstrip("\n")


def rule_list(more: Sequence[tuple[str, ...]] = ()) -> str:
    """Return one line per rule: code, name, severity, stage, authority. `more` are rules of plugins; they come last."""
    built_in = (
        (_code(rule), rule.name, rule.severity, rule.stage, rule.authority) for rule in sorted(every_rule(), key=_code)
    )
    rows = [*built_in, *more]
    code_width, name_width = (max(len(row[column]) for row in rows) for column in (0, 1))
    return "".join(
        f"{code:<{code_width}}  {name:<{name_width}}  {severity:<7}  {stage:<5}  {authority}\n"
        for code, name, severity, stage, authority in rows
    )


def as_dicts() -> list[dict[str, str]]:
    """Return every rule as plain data, in the order of the codes: code, name, severity, stage, authority and page."""
    return [
        {
            "code": _code(rule),
            "name": rule.name,
            "severity": rule.severity,
            "stage": rule.stage,
            "authority": rule.authority,
            **rule_page(rule)._asdict(),
        }
        for rule in sorted(every_rule(), key=_code)
    ]


def as_markdown() -> str:
    """Return the rules as a Markdown table."""
    rows = ["| Code | Rule | Severity | Stage | Who says so | What |", "|---|---|---|---|---|---|"]
    for rule in sorted(every_rule(), key=_code):
        title = rule_page(rule).title.replace("|", "\\|").replace("\n", " ")
        rows.append(f"| {_code(rule)} | `{rule.name}` | {rule.severity} | {rule.stage} | {rule.authority} | {title} |")
    return "\n".join(rows) + "\n"


def _code(rule: Rule) -> str:
    return CODES[rule.name]
