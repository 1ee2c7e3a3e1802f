"""Approvals: what tools raise, what a person is asked, and the store protocol."""
