"""Runs as a folder of static HTML pages that work from disk or any web server, without external requests."""
