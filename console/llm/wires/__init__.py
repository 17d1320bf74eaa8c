"""The APIs that models are asked by: one folder each, and what all of them share."""
