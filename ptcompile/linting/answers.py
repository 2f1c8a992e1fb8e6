"""What the codes mean that are no rules: findings of the reader, of our own kinds, and of the offline API server."""

from __future__ import annotations

from typing import Final, NamedTuple


class Answer(NamedTuple):
    """One code's meaning."""

    title: str
    fix: str


ANSWERS: Final[dict[str, Answer]] = {
    "yaml-syntax": Answer(
        "The text is not YAML, or not YAML as kubectl reads it.",
        "mend the text at the caret; the message says what was expected there",
    ),
    "bad-encoding": Answer("The file is not UTF-8.", "save it as UTF-8, without a byte that belongs to no character"),
    "duplicate-key": Answer(
        "A mapping has a key twice: kubectl keeps the last one and says nothing.", "remove one of the two"
    ),
    "too-large": Answer(
        "A file, a document or a number of documents is above what is read: 64 MiB a file, 3 MiB and 100,000 values a "
        "document, 10,000 documents a file; 128 KiB that references such as $(X) put into a container's variables, its "
        "command line or its script.",
        "split it; mount a long value as a file",
    ),
    "too-deep": Answer("Collections stand in one another more than 100 levels deep.", "write it flatter"),
    "too-many-aliases": Answer(
        "Aliases stand for more values than a document may have: a bomb, or a mistake.", "write the values out"
    ),
    "unsupported-yaml": Answer(
        "YAML that Kubernetes has no meaning for: a tag, a key that is no string, a number that JSON cannot hold.",
        "write plain mappings, lists, strings, numbers and booleans",
    ),
    "not-a-mapping": Answer(
        "A document, or an item of a List, is not a mapping.", "begin every object with apiVersion and kind"
    ),
    "no-documents": Answer("There is no document in the file.", "write one, or take the file out of what is checked"),
    "unrendered-template": Answer(
        "The file is a template of envsubst or sed: a note, once a file. Findings on its placeholders are left out.",
        "render it first: envsubst < FILE | ptcompile lint -",
    ),
    "unknown-kind": Answer(
        "A kind that ptcompile does not know, or that does not belong in this place.",
        "check its spelling and apiVersion; a manifest is for lint, a TrainingJob for compile, a profile for --cluster",
    ),
    "spec-unknown-field": Answer(
        "A TrainingJob or ClusterProfile has a field that there is not.", "take the name that the help suggests"
    ),
    "spec-missing-field": Answer("A TrainingJob or ClusterProfile lacks a field that it needs.", "add it"),
    "spec-wrong-type": Answer(
        "A value is of another type than the field: a number for a text, a list for a mapping.",
        "write it as the message says; a text that looks like a number wants quotes",
    ),
    "spec-invalid-value": Answer("A value of the right type that cannot be meant.", "take one that the message allows"),
    "spec-conflict": Answer("Two fields contradict each other.", "keep the one that is meant"),
    "unsupported-by-target": Answer(
        "The operator of this target has no way to do what the spec says.",
        "take a target that the help names, or leave the field out",
    ),
    "name-too-long": Answer(
        "The job's name leaves no room for the names that are derived from it: pods, host names, Services.",
        "shorten it to what the help says",
    ),
    "unknown-target": Answer("A target that there is not.", "ptcompile targets lists them"),
    "not-carried-over": Answer(
        "Something of a Flyte task or another source has no counterpart, and is not in the result.",
        "say it another way, or accept its loss",
    ),
    "not-importable": Answer(
        "No spec compiles to this manifest: no target writes its kind, or its pods do not find each other as those of "
        "a job do.",
        "keep the manifest as it is, or do what the help says",
    ),
    "import-differs": Answer(
        "What the imported spec compiles to differs here from the manifest that it was made of.",
        "look at the difference; --lossy writes the spec all the same",
    ),
    "convert-differs": Answer(
        "The other operator does this in its own way, or would run something else.",
        "look at the difference; --lossy makes a warning of what would run otherwise",
    ),
    "nothing-to-import": Answer(
        "None of the objects is a job that a target writes.",
        "give import the file with the job, beside the objects that belong to it",
    ),
    "image-contents": Answer(
        "What a Flyte task's image has to contain: the job calls the task's function in it, and `pyflyte` built none.",
        "build the image as examples/flyte/Dockerfile does, or give --embed for any image with torch and the module",
    ),
    "unlike-flyte": Answer(
        "The job has a policy that the Flyte task does not name and Flyte would not write.",
        "set run_policy or restart_policy in the task to what is wanted",
    ),
    "unknown-field": Answer(
        "The kind has no such field. kubectl refuses it; clients that do not ask for strict validation lose the field "
        "in silence.",
        "take the name that the help suggests, or move it to where it belongs",
    ),
    "version-unknown-field": Answer(
        "The field exists, and not in the release of Kubernetes or the operator that the profile names.",
        "leave it out, or say the newer release in the profile",
    ),
    "no-such-kind": Answer(
        "The server has no such kind under this apiVersion: it is of another group or version, or the server is too "
        "old or too new for it.",
        "write the apiVersion that the help names",
    ),
    "unread-rule": Answer(
        "A CEL rule of a CRD uses what the evaluator here does not have, so it was not asked.",
        "ask the API server: kubectl apply --dry-run=server",
    ),
    "pod-security": Answer(
        "The Pod Security level of the namespace, by its labels in the stream or by podSecurity of the profile, does "
        "not allow the pod. A Pod is refused; of a job the pods are, and the job waits.",
        "change the field as the help says, or run in a namespace of a wider level",
    ),
    "wrong-type": Answer(
        "A value is of another type than the field.",
        "write it as the message says; a text such as on, 1 or 1e3 wants quotes",
    ),
    "invalid-quantity": Answer("Not a Kubernetes quantity.", 'write a number with a suffix, such as 500m, 2 or "64Gi"'),
    "required-value": Answer("A field that the API server demands is missing or empty.", "add it"),
    "invalid-value": Answer("The API server refuses the value.", "the message says what it allows"),
    "unsupported-value": Answer("The value is not one of those that the field knows.", "take one of the listed ones"),
    "not-found-value": Answer(
        "A name refers to something that is not there, such as a volume that the pod does not have.",
        "add it, or mend the name",
    ),
    "duplicate-value": Answer("Two items of a list have the same name or key.", "remove or rename one"),
    "forbidden-value": Answer("The API server forbids the field here.", "leave it out"),
    "too-long-value": Answer("A text is longer than the API server allows.", "shorten it"),
    "too-many-items": Answer("A list has more items than the API server allows.", "remove some"),
    "webhook-refusal": Answer(
        "The operator's admission webhook refuses the object.", "the message says what the operator wants"
    ),
    "refused-queue-label": Answer(
        "Kueue's webhook refuses the queue's name or the time limit: a label that the API server itself takes.",
        "write the name of the LocalQueue as it is in the namespace, and seconds as a number above 0",
    ),
    "refused-topology-request": Answer(
        "Kueue's webhook refuses how near to each other the pods shall run: two topology requests for one set of pods, "
        "slices without their topology or their size, or slices of more pods than there are.",
        "keep one request; give slices both a topology and a size",
    ),
    "unpaired-pod-group": Answer(
        "Kueue's webhook refuses a Pod of a group whose name or size is missing: it has to know how many to wait for.",
        "give every Pod of the group the label pod-group-name and the annotation pod-group-total-count, a text",
    ),
    "refused-child": Answer(
        "The object is accepted, and the API server refuses what the operator makes of it: a pod, a Service or a Job.",
        "mend the field that the finding stands on; nothing would start",
    ),
    "controller-failure": Answer(
        "The object is accepted, and the operator's controller fails on it.", "mend it: nothing would start"
    ),
    "request-above-limit": Answer("A request is above its limit.", "lower the request or raise the limit"),
    "gpu-request-differs-from-limit": Answer(
        "Request and limit of a device differ, and devices are not shared.", "ask for it once"
    ),
    "kubernetes-too-old": Answer(
        "The profile names an older Kubernetes than the documentation of one of its operators asks for, or than claims "
        "of devices take.",
        "correct the one or the other of spec.versions, or upgrade",
    ),
    "same-image-beside": Answer(
        "A pod template patch adds a container beside the main one, with the same image: most likely the main one is "
        "meant, which a patch finds by its name.",
        "call it pytorch, or in a role beside the trainers like the role",
    ),
    "several-mig-slices": Answer(
        "A pod asks for several MIG slices, and CUDA shows a process the first alone.",
        "ask for one slice a node, and for more nodes",
    ),
    "part-of-a-machine": Answer(
        "A node takes some of the accelerators of the smallest machine that has enough, and it may be that no other "
        "pod can use the rest.",
        "ask for all of a machine's accelerators and for fewer nodes, or leave it where other jobs fill the rest",
    ),
    "ephemeral-storage-above-disk": Answer(
        "A node asks for more ephemeral storage than its machine's disks have, or than EKS's default root volume "
        "leaves.",
        "mount a volume, or have the nodes made with a larger root volume or their local disks as ephemeral storage",
    ),
    "larger-than-pools": Answer(
        "The node pools that the profile names have no room for all nodes of the job, which then waits for ever.",
        "use fewer nodes, ask for less of each, or correct spec.nodePools in the profile",
    ),
    "queued-differently": Answer(
        "An operator or a queue system means something else by a queue, a gang or a topology than the spec does.",
        "take what the help names, or live with what the message says",
    ),
    "no-retries-left": Answer(
        "The job asks for restarts, and its backoffLimit of 0 allows none.",
        "give a number above 0, or leave it out: then it is 6, or 6 for each node",
    ),
    "peers-fail-too": Answer(
        "The job is to outlive a node, and torchrun on the other nodes fails with the one that goes.",
        "set elastic.maxRestarts, so that torchrun starts its processes again",
    ),
    "node-0-fails-all": Answer(
        "The job outlives the loss of a node, but not that of node 0, whose torchrun holds the store where all meet.",
        "set runPolicy.backoffLimit to the number of the other nodes or more: then all of them start again",
    ),
    "done-differently": Answer(
        "The operator of this target does roughly what the spec says of restarts and ends; the message says what.",
        "accept it, or take a target that the help names",
    ),
    "unused-ignore": Answer("A comment ignores a finding that is not there.", "remove the comment"),
    "bad-ignore": Answer(
        "A comment does not say what it ignores, or names no rule, or stands where it covers nothing.",
        "write # ptcompile: ignore[CODE] and why",
    ),
}
"""By name. The rules have pages of their own."""
