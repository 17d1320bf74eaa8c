"""Export to JUnit XML: `failure` is a wrong answer, `error` a machinery fault or no grade, `skipped` not run."""

import html
import re

from console.core.outcome import Outcome
from console.core.text import visible
from console.exchange.document import AnnotationFields, RunDocument
from console.insight.rollout import Rollout

_TAGS = {Outcome.FAILED: "failure", Outcome.BROKEN: "error", Outcome.UNDECIDED: "error"}
_NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(document: RunDocument) -> str:
    """Return the XML file; annotations become properties of the test case."""
    summary, by_slot = document.summary, document.annotations()
    rollouts = [item.rollout for item in document.items if not item.is_setup]
    tags = [_tag(rollout) for rollout in rollouts]
    counts = f'failures="{tags.count("failure")}" errors="{tags.count("error")}" skipped="{tags.count("skipped")}"'
    mark = f" ({summary.simulated_note})" if summary.simulated else ""
    name = safe_xml(f"{summary.id}{mark}")
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuite name="{name}" tests="{len(rollouts)}" {counts} time="{summary.seconds:.3f}">',
        *(
            _case(summary.suite, rollout, tag, by_slot.get(rollout.slot, {}))
            for rollout, tag in zip(rollouts, tags, strict=True)
        ),
        "</testsuite>",
    ]
    return "\n".join(lines) + "\n"


def _tag(rollout: Rollout) -> str:
    if rollout.outcome is Outcome.PASSED:
        return ""
    return _TAGS.get(rollout.outcome, "skipped") if rollout.outcome else "skipped"


def _case(suite: str, rollout: Rollout, tag: str, annotations: AnnotationFields) -> str:
    head = (
        f'  <testcase classname="{safe_xml(f"{suite}.{rollout.category}")}" name="{safe_xml(str(rollout.key))}" '
        f'time="{rollout.seconds:.3f}"'
    )
    properties = _properties(annotations)
    if not tag:
        return f"{head}>{properties}</testcase>" if properties else f"{head}/>"
    reason = safe_xml(rollout.reason or (rollout.outcome.value if rollout.outcome else "interrupted"))
    if tag == "skipped":
        return f'{head}>{properties}<skipped message="{reason}"/></testcase>'
    return f'{head}>{properties}<{tag} type="{reason}" message="{safe_xml(rollout.message)}"/></testcase>'


def _properties(annotations: AnnotationFields) -> str:
    listed = "".join(
        f'<property name="{safe_xml(kind)}" value="{safe_xml(text)}"/>' for kind, text in annotations.items() if text
    )
    return f"<properties>{listed}</properties>" if listed else ""


def safe_xml(text: str) -> str:
    """Escape untrusted text for an element or a quoted attribute."""
    return html.escape(_NOT_XML.sub("\ufffd", visible(text)))
