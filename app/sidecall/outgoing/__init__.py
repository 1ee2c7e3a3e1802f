"""Outgoing requests of tools and of the server: to public addresses only, unless an operator allows others."""
