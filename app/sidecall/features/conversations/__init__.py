"""Conversations: the calls, approvals and files of a chat as one story."""
