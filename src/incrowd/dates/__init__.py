"""Dates of events before they are published: shifted, truncated, or counted from a person's first event."""
