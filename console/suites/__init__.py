"""What is asked and how it is judged. A suite sees the stage protocol only: no engine, no front end, no network."""
