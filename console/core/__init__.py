"""Ground floor: the records every room speaks. Pure: no I/O, no asyncio, nothing of ours above it."""
