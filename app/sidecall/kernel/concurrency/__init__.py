"""Pools, semaphores, coroutines: waiting for work and running it concurrently."""
