"""One program per way to run a call in process; each runs as many calls as its standard input asks for."""
