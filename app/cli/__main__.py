"""Let `python -m app.cli` do what `sidecall` does."""

from app.cli.main import main

main()
