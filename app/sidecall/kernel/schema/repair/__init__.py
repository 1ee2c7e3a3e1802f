"""Repair arguments that do not fit, or tell the model what would."""
