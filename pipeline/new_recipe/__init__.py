"""Writing a recipe for files that pairloom has never seen: look, suggest, write."""
