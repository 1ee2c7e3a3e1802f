"""Run tools in worker processes elsewhere, over NATS JetStream."""
