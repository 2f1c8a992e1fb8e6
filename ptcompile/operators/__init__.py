"""What runs the jobs: one folder an operator, and the tables over all of them."""
