"""Run tools in processes of their own."""
