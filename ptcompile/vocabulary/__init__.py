"""What people write: the models of both kinds, the checks that a JSON Schema cannot express, and the reader of both."""
