"""The frontend: decode a spec, report its mistakes and lower it to a `Job`."""
