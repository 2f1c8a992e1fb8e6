"""The plain v1 Pod."""
