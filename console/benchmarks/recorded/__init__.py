"""Runs that another tool has recorded: reviewed and compared without a dataset, never played or judged anew."""
