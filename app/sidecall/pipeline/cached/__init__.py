"""Answers that are given again, and runs that several calls share."""
