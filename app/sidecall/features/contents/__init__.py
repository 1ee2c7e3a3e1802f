"""Contents: full results of cut answers, and uploads of programs."""
