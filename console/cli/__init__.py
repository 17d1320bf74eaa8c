"""Headless verbs: everything the app can do, for scripts and pipelines. Data on stdout, messages on stderr."""
