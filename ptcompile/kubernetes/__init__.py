"""Kubernetes' basics without any operator: names, quantities, scalars, versions, unstructured
data, indexed objects.
"""
