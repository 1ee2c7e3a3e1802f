"""Settings from the environment, one file for each topic."""

from sidecall.settings.server import Settings, UnknownSetting, unknown_names

__all__ = ["Settings", "UnknownSetting", "unknown_names"]
