"""The hardware catalog, as data with sources: accelerators, machine types, nodes and the fabrics
between them.
"""
