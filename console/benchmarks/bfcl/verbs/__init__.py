"""The verbs of `eval-console bfcl`."""

from console.cli.parser import Verb

VERBS = {
    "bfcl": Verb("the official BFCL command: generate, evaluate, and its lists", "console.benchmarks.bfcl.verbs.bfcl")
}
