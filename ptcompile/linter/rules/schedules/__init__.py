"""Rules for the schedules of CronJobs."""
