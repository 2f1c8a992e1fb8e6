"""What the API server adds to the pods of a batch/v1 Job, whoever made the Job."""


def job_labels(name: str) -> dict[str, str]:
    """What the API server adds to the pod template's labels (Kubernetes 1.27 and later)."""
    return {"batch.kubernetes.io/job-name": name, "job-name": name}
