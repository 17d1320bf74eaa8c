"""The benchmarks that come with the console: one folder each, with everything of that benchmark."""
