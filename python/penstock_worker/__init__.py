"""The process that holds Python envs for Penstock. It imports no torch: it must start in a moment."""
