"""Messages to programs that their remembered calls have ended."""
