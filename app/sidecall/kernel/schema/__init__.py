"""Schemas as models and providers read them, and from errors to texts for the model."""
