"""report.md and its plots."""
