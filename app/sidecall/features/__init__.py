"""What a server offers beside running tools: one folder a feature."""
