"""Events that other servers are sent when a call has ended."""
