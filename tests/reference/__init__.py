"""The same answers in plain Python, written from the specification alone.

Slow and obvious on purpose. Nothing in ``src`` imports this package, and it is never adjusted to what a
kernel does: where the two disagree, the page of the specification named in each docstring decides.
"""
