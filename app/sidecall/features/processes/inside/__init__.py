"""Code inside the child processes: the fork server, and the processes in which tools run."""
