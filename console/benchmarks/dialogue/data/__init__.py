"""Reading and validating files and tables of rows."""
