"""Let `python -m sidecall` do what `sidecall` does."""

from sidecall.cli.main import main

main()
