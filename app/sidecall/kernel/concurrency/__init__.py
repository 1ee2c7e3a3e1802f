"""Pools, semaphores and coroutines: how work waits and runs beside other work."""
