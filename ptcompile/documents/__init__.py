"""Text to documents that know every line, and documents back to text."""
