"""Pods that are annotated for scraping cannot be reached from outside their job.

PTC446 blocked-scraping: warning at run (differs), by volcano.
Needs: scrape

What: a template has the annotation prometheus.io/scrape: "true", and the svc plugin makes its
NetworkPolicy.

Why: the NetworkPolicy admits only traffic from pods of the same job: the scraper gets no answer,
where the cluster's network enforces policies.

Example:

      apiVersion: batch.volcano.sh/v1alpha1
      kind: Job
      metadata: {name: train}
      spec:
    -   plugins: {svc: []}
    +   plugins: {svc: [--disable-network-policy]}
        tasks:
          - name: trainer
            replicas: 1
            template:
              metadata:
                annotations:
                  prometheus.io/scrape: "true"  # <--
              spec:
                restartPolicy: Never
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}

Fix: give the svc plugin --disable-network-policy, and write a policy that lets the scraper in.

Source: Volcano 1.16, svc plugin; volcano#5410.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_value
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.volcano.rules.reading import fix_with_argument, flag_value, volcano_job

_SCRAPE = "prometheus.io/scrape"


def check(subject: Subject) -> Findings:
    if "svc" not in volcano_job(subject).plugins:
        return
    if flag_value(subject, "svc", "disable-network-policy"):
        return

    for template in subject.templates:
        if nested_value(template.data, "metadata", "annotations", _SCRAPE) == "true":
            title = "disable the NetworkPolicy"
            yield found_at(
                (*template.path, "metadata", "annotations", _SCRAPE),
                "the svc plugin's NetworkPolicy admits only pods of this job: nothing can scrape "
                "them",
                "give the svc plugin --disable-network-policy",
                fix_with_argument(title, subject, "svc", "--disable-network-policy"),
            )
