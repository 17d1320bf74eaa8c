"""BFCL v4: function calling, judged exactly as the official scorer judges it."""
