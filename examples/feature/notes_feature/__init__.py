"""A feature of Sidecall in a package of its own."""
