"""What an operator may set, from the environment; each file has what belongs together."""

from sidecall.settings.server import Settings, UnknownSetting, unknown_names

__all__ = ["Settings", "UnknownSetting", "unknown_names"]
