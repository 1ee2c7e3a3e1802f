"""OAuth sign-in at other services, and the tokens it yields."""
