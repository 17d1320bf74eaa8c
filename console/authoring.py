"""Public names for writing suites, views, exporters and benchmark packages; docs/extending.md shows their use.

Each name is imported from its own module on first use, so that a suite loads no screen, and a package's declaration
only `Benchmark`. Tools for tests are in `console.testing`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from console.cli.doctor_checks import ABSENT, BAD, GOOD, WARNING, Finding
    from console.cli.parser import Arguments, Verb
    from console.core.case import Case, Key, Setting
    from console.core.chat import Message, Reply, ScriptedAnswers, ToolCall, Usage, Utterance
    from console.core.comparison import Comparison, Mark, Pair, Row
    from console.core.fault import Fault, FaultKind, UsageError
    from console.core.outcome import Outcome, Verdict
    from console.exchange.document import Item, RunDocument
    from console.exchange.document_reader import read_document
    from console.exchange.exports.files import write_file
    from console.exchange.exports.formats import ExportFormat
    from console.exchange.imports.formats import ImportFormat, ImportSettings, report_of
    from console.exchange.imports.importing import ImportReport
    from console.exchange.json_kind import JsonKind
    from console.insight.passage import Passage, PassageKind
    from console.insight.rollout import Rollout
    from console.store.runs import RunFolder
    from console.suites.benchmark import Benchmark, OfficialData
    from console.suites.catalog import open_folder_suite
    from console.suites.chat import Chat, call
    from console.suites.code_run import CodeResult, TestResult
    from console.suites.judging.judge import Judge
    from console.suites.judging.rubric import Criterion, Grade, Judgement, Rubric
    from console.suites.leaderboard import Cell, DetailTable, LeaderboardRules, PassRates, Played, ScoreMeans
    from console.suites.own_row import AddedRow, OwnRow, RecordedCase, conversation_row
    from console.suites.pull import Pin, Pull
    from console.suites.simple import SimpleSuite, verdict
    from console.suites.simulated_user import SimulatedUser
    from console.suites.stage import Stage
    from console.suites.suite import (
        Category,
        Estimate,
        Metric,
        Mode,
        Option,
        Report,
        Result,
        RoleModel,
        Suite,
        SuiteEntry,
    )
    from console.suites.world import snapshot
    from console.tui.render.block import Block
    from console.tui.sanitize import literal, one_line
    from console.tui.suite_views.suite_view import (
        CaseView,
        ConversationDrawer,
        DrawContext,
        HintLabel,
        LiveView,
        NoteBlock,
        ReviewedCase,
        SuiteView,
    )

__all__ = [
    "ABSENT",
    "BAD",
    "GOOD",
    "WARNING",
    "AddedRow",
    "Arguments",
    "Benchmark",
    "Block",
    "Case",
    "CaseView",
    "Category",
    "Cell",
    "Chat",
    "CodeResult",
    "Comparison",
    "ConversationDrawer",
    "Criterion",
    "DetailTable",
    "DrawContext",
    "Estimate",
    "ExportFormat",
    "Fault",
    "FaultKind",
    "Finding",
    "Grade",
    "HintLabel",
    "ImportFormat",
    "ImportReport",
    "ImportSettings",
    "Item",
    "JsonKind",
    "Judge",
    "Judgement",
    "Key",
    "LeaderboardRules",
    "LiveView",
    "Mark",
    "Message",
    "Metric",
    "Mode",
    "NoteBlock",
    "OfficialData",
    "Option",
    "Outcome",
    "OwnRow",
    "Pair",
    "PassRates",
    "Passage",
    "PassageKind",
    "Pin",
    "Played",
    "Pull",
    "RecordedCase",
    "Reply",
    "Report",
    "Result",
    "ReviewedCase",
    "RoleModel",
    "Rollout",
    "Row",
    "Rubric",
    "RunDocument",
    "RunFolder",
    "ScoreMeans",
    "ScriptedAnswers",
    "Setting",
    "SimpleSuite",
    "SimulatedUser",
    "Stage",
    "Suite",
    "SuiteEntry",
    "SuiteView",
    "TestResult",
    "ToolCall",
    "Usage",
    "UsageError",
    "Utterance",
    "Verb",
    "Verdict",
    "call",
    "conversation_row",
    "literal",
    "one_line",
    "open_folder_suite",
    "read_document",
    "report_of",
    "snapshot",
    "verdict",
    "write_file",
]

_PLACES = {
    "console.cli.doctor_checks": "ABSENT BAD GOOD WARNING Finding",
    "console.cli.parser": "Arguments Verb",
    "console.core.case": "Case Key Setting",
    "console.core.chat": "Message Reply ScriptedAnswers ToolCall Usage Utterance",
    "console.core.comparison": "Comparison Mark Pair Row",
    "console.core.fault": "Fault FaultKind UsageError",
    "console.core.outcome": "Outcome Verdict",
    "console.exchange.document": "Item RunDocument",
    "console.exchange.exports.files": "write_file",
    "console.exchange.exports.formats": "ExportFormat",
    "console.exchange.imports.formats": "ImportFormat ImportSettings report_of",
    "console.exchange.imports.importing": "ImportReport",
    "console.exchange.json_kind": "JsonKind",
    "console.exchange.document_reader": "read_document",
    "console.insight.passage": "Passage PassageKind",
    "console.insight.rollout": "Rollout",
    "console.store.runs": "RunFolder",
    "console.suites.benchmark": "Benchmark OfficialData",
    "console.suites.catalog": "open_folder_suite",
    "console.suites.chat": "Chat call",
    "console.suites.code_run": "CodeResult TestResult",
    "console.suites.judging.judge": "Judge",
    "console.suites.judging.rubric": "Criterion Grade Judgement Rubric",
    "console.suites.leaderboard": "Cell DetailTable LeaderboardRules PassRates Played ScoreMeans",
    "console.suites.own_row": "AddedRow OwnRow RecordedCase conversation_row",
    "console.suites.pull": "Pin Pull",
    "console.suites.simple": "SimpleSuite verdict",
    "console.suites.simulated_user": "SimulatedUser",
    "console.suites.stage": "Stage",
    "console.suites.suite": "Category Estimate Metric Mode Option Report Result RoleModel Suite SuiteEntry",
    "console.suites.world": "snapshot",
    "console.tui.render.block": "Block",
    "console.tui.sanitize": "literal one_line",
    "console.tui.suite_views.suite_view": (
        "CaseView ConversationDrawer DrawContext HintLabel LiveView NoteBlock ReviewedCase SuiteView"
    ),
}
"""Names by the module that defines them."""
_MODULES = {name: module for module, names in _PLACES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Import a name from its module."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value
