"""Rules for JobSets."""
