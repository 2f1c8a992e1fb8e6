"""The batch/v1 Job of Kubernetes."""
