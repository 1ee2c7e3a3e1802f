"""The texts of files that programs send."""
