"""Stage-receipt run folders: read, verify, compare."""
