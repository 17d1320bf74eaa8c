"""The dataset: pulling, reading and selecting entries, rendering functions, and the texts of prompts."""
