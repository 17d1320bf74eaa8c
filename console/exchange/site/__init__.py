"""Runs as a folder of plain HTML pages that open from disk or any web server, without a request to anybody else."""
