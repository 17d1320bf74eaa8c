"""Rate limits and concurrency, shared by the processes that use one endpoint."""
