"""The verbs: a module for each public function, text or mappings in, a result out."""
