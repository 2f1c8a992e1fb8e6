"""The compiler's intermediate representation: the Job that passes change and operators emit."""
