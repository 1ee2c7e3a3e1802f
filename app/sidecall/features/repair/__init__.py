"""Arguments that models get wrong in common ways: mended, and each mend reported."""
