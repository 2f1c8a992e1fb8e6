"""Rules for how processes are started and meet, for any kind; they check the simulated job."""
