"""Results → documents: one module per wire format, and nothing else writes a member's name."""
