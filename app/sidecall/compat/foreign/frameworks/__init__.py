"""Read tools of agent frameworks, one reader for each library or family of them."""
