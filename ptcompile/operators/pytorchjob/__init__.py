"""Kubeflow's training-operator: PyTorchJob."""
