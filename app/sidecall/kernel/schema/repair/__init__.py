"""What becomes of arguments that do not fit: they are mended, or the model is told what would fit."""
