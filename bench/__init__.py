"""What choosing Sidecall costs, measured on this machine."""
