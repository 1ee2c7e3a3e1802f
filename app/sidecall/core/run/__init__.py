"""What tools that were written for other libraries are told of their run, and what they answer."""
