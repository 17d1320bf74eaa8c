"""How models are spoken to: one handler, as officially, for each way; the loops of a conversation know no other."""
