"""Pages for people: tools with their forms, calls, approvals, and how the server is."""
