"""The verbs, one a module: text, mappings or specs in, values out."""
