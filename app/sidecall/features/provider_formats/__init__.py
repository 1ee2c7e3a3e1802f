"""The forms of definitions that other APIs than Chat Completions take, and what their models misread."""
