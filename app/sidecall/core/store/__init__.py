"""The store: what tools may remember from call to call."""
