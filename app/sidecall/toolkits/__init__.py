"""The toolkits that ship: tools that are off until an operator names them, and of which nothing is loaded before."""
