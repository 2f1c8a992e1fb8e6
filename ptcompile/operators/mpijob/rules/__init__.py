"""Rules for MPIJobs: manifests that the MPI Operator accepts but mpirun treats unexpectedly."""
