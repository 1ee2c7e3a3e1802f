"""How the program prints what it was asked for."""
