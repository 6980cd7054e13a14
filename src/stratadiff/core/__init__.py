"""Text, hunks, escaping, canonical JSON and files: everything the domains share, and nothing of theirs."""
