"""What Sidecall costs, measured side by side with floors and peers in one run."""
