"""What models get wrong: how it is said to them, and what they most likely meant."""
