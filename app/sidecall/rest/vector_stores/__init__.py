"""Files and the stores in which they are searched, as programs are shown them."""
