"""What holds for all tests: neither made-up examples nor waiting for the app depends on how busy the machine is."""

import calm
from hypothesis import HealthCheck, settings

settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
calm.install()
