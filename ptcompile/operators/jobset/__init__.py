"""JobSet."""
