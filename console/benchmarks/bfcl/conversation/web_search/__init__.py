"""BFCL's web-search categories: a search engine and pages, live or from recorded answers."""
