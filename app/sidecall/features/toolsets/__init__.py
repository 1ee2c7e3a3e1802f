"""Named selections of tools, and which callers see them."""
