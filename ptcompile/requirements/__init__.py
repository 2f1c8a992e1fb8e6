"""What a job needs of its cluster, the objects a platform team provides, and what each target can do."""
