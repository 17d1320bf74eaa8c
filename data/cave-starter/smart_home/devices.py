"""Devices of a made-up home: live objects that the model's code handles."""


class Lamp:
    """A lamp that can be dimmed."""

    def __init__(self, room: str) -> None:
        """Put a lamp, switched off, into a room."""
        self.room = room
        self.brightness = 0

    def set_brightness(self, percent: int) -> None:
        """Set the brightness from 0 (off) to 100."""
        if not 0 <= percent <= 100:
            raise ValueError("brightness is a percentage")
        self.brightness = percent

    def is_on(self) -> bool:
        """Whether the lamp gives light."""
        return self.brightness > 0


class Heater:
    """A heater with a thermostat."""

    def __init__(self, room: str, measured: float) -> None:
        """Put a heater into a room; it knows the room's temperature."""
        self.room = room
        self.measured = measured
        self.target = 18.0

    def set_target(self, degrees: float) -> None:
        """Set the wanted temperature in degrees Celsius, from 5 to 30."""
        if not 5 <= degrees <= 30:
            raise ValueError("out of range")
        self.target = degrees


class Lock:
    """A door lock."""

    def __init__(self, door: str, locked: bool = False) -> None:
        """Fit a lock to a door."""
        self.door = door
        self.locked = locked

    def lock(self) -> None:
        """Lock the door."""
        self.locked = True

    def unlock(self) -> None:
        """Unlock the door."""
        self.locked = False


class Blind:
    """A window blind."""

    def __init__(self, window: str) -> None:
        """Fit a blind, all open, to a window."""
        self.window = window
        self.closed_percent = 0

    def close_to(self, percent: int) -> None:
        """Move the blind: 0 is open, 100 is closed."""
        self.closed_percent = max(0, min(100, percent))
