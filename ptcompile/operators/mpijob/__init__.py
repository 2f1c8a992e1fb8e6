"""Kubeflow's MPI Operator: MPIJob v2beta1, which ptcompile reads and does not write."""
