"""The commands for what ships: toolkits, and the files that their tools share."""
