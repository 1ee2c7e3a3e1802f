"""Webhooks: messages to other servers when a call has ended."""
