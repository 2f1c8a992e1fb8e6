"""The compiler's own vocabulary: the Job that passes change and operators emit."""
