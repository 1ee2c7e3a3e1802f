"""The files of one conversation: a folder that tools reach by paths which cannot lead out of it."""
