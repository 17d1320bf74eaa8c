"""Headless verbs: everything the app can do, for scripts and pipelines. Data on stdout, messages on stderr.

Bad input raises UsageError from anywhere below; `main` makes it exit code 2 and one message.
"""
