"""What a call costs with that switched on which operators switch on, beside the floor."""
