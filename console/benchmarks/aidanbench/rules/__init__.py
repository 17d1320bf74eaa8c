"""The rules of AidanBench: acceptance, novelty, verdict, report. Pure."""
