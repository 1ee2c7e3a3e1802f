"""Settings from the environment, one file for each topic."""

from sidecall.settings.server import Settings
from sidecall.settings.unknown_variables import UnknownSetting, unknown_names

__all__ = ["Settings", "UnknownSetting", "unknown_names"]
