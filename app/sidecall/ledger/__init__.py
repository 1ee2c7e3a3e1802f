"""What is remembered: approvals, contents and the items of tools, in memory."""
