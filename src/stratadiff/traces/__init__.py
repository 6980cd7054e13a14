"""Agent traces (`.agentlog`): read, verified, compared at six levels."""
