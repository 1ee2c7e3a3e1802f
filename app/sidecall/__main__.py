"""Do what `sidecall` does for `python -m sidecall`."""

from sidecall.cli.main import main

if __name__ == "__main__":
    main()
