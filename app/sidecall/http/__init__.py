"""HTTP parts that all protocols of the server share."""
