"""What runs in the processes: the one that forks, and those in which tools run."""
