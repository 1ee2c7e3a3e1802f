"""The files of conversations, as programs are shown them."""
