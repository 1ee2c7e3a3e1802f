"""The tools that ship with Sidecall, one toolkit a module; they use only what `app` exports."""
