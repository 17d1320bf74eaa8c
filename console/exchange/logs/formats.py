"""The formats of logs that are read, in the order in which they are tried."""

from console.exchange.logs import inspect_log
from console.exchange.logs.log import LogFormat

LOG_FORMATS: tuple[LogFormat, ...] = (inspect_log.EVAL, inspect_log.JSON)
