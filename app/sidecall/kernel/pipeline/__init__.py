"""The pipeline of a call, one stage a file."""
