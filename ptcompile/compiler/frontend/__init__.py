"""What people write, read into a `Job`."""
