"""Text, hunks, escaping, canonical JSON and files: pure Python over the kernels, no domain words."""
