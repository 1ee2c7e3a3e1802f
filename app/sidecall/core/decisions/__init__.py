"""What people decide about calls: where it is kept, and for which calls it holds."""
