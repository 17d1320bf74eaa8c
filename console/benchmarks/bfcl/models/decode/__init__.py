"""Decoding of model output to function calls in all formats, without evaluating model text."""
