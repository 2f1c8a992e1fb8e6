"""What Acme's clusters expect of training jobs."""
