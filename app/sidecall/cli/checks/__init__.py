"""What `sidecall check` looks at besides the tools themselves."""
