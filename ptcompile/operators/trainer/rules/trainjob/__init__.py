"""Rules for TrainJobs."""
