"""Results that were cut, and files that programs have sent, kept whole for their caller."""
