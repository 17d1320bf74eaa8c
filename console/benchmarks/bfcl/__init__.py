"""BFCL v4: function calling, with verdicts identical to the official scorer's."""
