"""Kubernetes' own words, free of any operator: names, quantities, scalars, versions, untyped data, objects by key."""
