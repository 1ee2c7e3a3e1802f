"""What calls cost, and budgets for it."""
