"""The Live screen: its controller, its panes, and what its keys ask of an engine or a replay."""
