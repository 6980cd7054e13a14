"""Documents → text for people. A renderer reads documents and nothing else."""
