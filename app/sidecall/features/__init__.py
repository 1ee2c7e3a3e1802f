"""The features of a server besides running tools; each has its own folder."""
