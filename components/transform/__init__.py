"""Transform: text to subword ids, as a graph that the served model could run too."""
