"""Comparison bundles: one report under several profiles, written whole, recognised strictly, compared."""
