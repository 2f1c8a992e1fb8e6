"""The verbs of the public API, one a module: text, mapping or Spec in, result out."""
