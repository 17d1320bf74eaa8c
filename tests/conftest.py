"""What holds for all tests: examples that hypothesis makes up must not depend on how busy the machine is."""

from hypothesis import HealthCheck, settings

settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
