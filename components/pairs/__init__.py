"""Pairs from files: reading, checking, splitting, and the component that writes examples."""
