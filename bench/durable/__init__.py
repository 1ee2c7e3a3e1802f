"""What it costs that calls are written down."""
