"""Official data: download, editions, tasks and texts."""
