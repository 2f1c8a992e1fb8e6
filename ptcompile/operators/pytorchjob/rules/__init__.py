"""Rules for PyTorchJobs: manifests that training-operator accepts but treats unexpectedly."""
