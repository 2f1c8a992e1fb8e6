"""What several operators share."""
