"""Tools, toolkits and contexts of other libraries, taken over as they are."""
