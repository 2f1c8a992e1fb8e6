"""Rules for RayClusters, RayJobs and RayServices."""
