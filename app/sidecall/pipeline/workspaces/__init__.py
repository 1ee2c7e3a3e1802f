"""The files of conversations, as calls get them."""
