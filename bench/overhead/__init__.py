"""The cost of a call with the options that operators switch on, against the floor."""
