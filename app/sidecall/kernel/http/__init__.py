"""What every door of the server needs, whatever is spoken behind it."""
