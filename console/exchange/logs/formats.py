"""The formats of logs that are read, in the order in which they are tried."""

from console.exchange.logs import (
    chat_log,
    every_eval_ever,
    inspect_log,
    lm_eval_log,
    promptfoo_log,
    tau_log,
    verifiers_log,
)
from console.exchange.logs.log import LogFormat

LOG_FORMATS: tuple[LogFormat, ...] = (
    inspect_log.EVAL,
    inspect_log.JSON,
    verifiers_log.TRACES,
    verifiers_log.RESULTS,
    lm_eval_log.FORMAT,
    promptfoo_log.FORMAT,
    tau_log.OLD,
    tau_log.NEW,
    every_eval_ever.FORMAT,
    chat_log.FORMAT,
)
