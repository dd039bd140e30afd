"""Text inside the graph."""
