"""Webhooks about approvals: messages to the receivers that an operator names."""
