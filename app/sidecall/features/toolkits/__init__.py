"""The toolkits that ship, and which of them are on."""
