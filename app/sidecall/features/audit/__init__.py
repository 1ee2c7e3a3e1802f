"""Who has decided what, and who was refused."""
