"""Answers that are given again while they are fresh."""
