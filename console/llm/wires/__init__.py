"""The APIs of model providers, one module each, and their shared parts."""
