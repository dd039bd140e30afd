"""Transform: stored values to what the model reads, as a graph that the served model runs too."""
