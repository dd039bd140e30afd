"""A run's report: one HTML file that says what was trained from what, and what came of it.

Importing this package costs nothing.
"""
