"""Lines of a score file: one per failed entry, with the official fields, order and error types.

Only the messages differ from the official ones.
"""

from typing import Any

from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.data.wording import Wording
from console.benchmarks.bfcl.files.layout import Line
from console.benchmarks.bfcl.models.decode.reply import FAILED, WRONG_FORMAT, decode_reply, executable_calls
from console.benchmarks.bfcl.rules import agentic_answer as agentic
from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.rules.entry import Entry
from console.benchmarks.bfcl.scoring import Mark
from console.suites.call_matching.checker import Refusal


class Recorder:
    """Builds the lines for failed entries of one model."""

    def __init__(self, model: str, family: str, dataset: Dataset, wording: Wording) -> None:
        self._model, self._family = model, family
        self._dataset, self._wording = dataset, wording

    def line(self, mark: Mark, refusal: Refusal, log: Any) -> Line:
        """Return the line of a failed entry; `log` is the `inference_log` of a conversation."""
        entry = mark.entry
        head: Line = {
            "id": entry.id,
            "model_name": self._model,
            "test_category": entry.category,
            "valid": False,
        }
        prompt = _load_entry(entry, self._dataset, self._wording)
        if names.is_relevance(entry.judged_as):
            return head | self._relevance(mark, refusal, prompt)
        if names.is_single_turn(entry.category):
            return head | self._calls(mark, refusal, prompt)
        fields = self._turns if names.is_multi_turn(entry.category) else self._answer
        return head | fields(mark, refusal, prompt) | {"inference_log": log}

    def _decoded(self, mark: Mark) -> Any:
        return decode_reply(mark.output, mark.entry.judged_as, self._family, mark.entry.config).value

    def _relevance(self, mark: Mark, refusal: Refusal, prompt: Line) -> Line:
        return {
            "prompt": prompt,
            "model_result": mark.output,
            "decoded_result": self._decoded(mark),
            "error": [refusal.message],
            "error_type": refusal.error_type,
        }

    def _calls(self, mark: Mark, refusal: Refusal, prompt: Line) -> Line:
        line: Line = {"error": [refusal.message], "error_type": refusal.error_type, "prompt": prompt}
        line["model_result_raw"] = mark.output
        if refusal.error_type != FAILED:
            line["model_result_decoded"] = self._decoded(mark)
        if refusal.error_type == WRONG_FORMAT:
            line |= {key: str(line[key]) for key in ("model_result_raw", "model_result_decoded")}
        return line | {"possible_answer": mark.entry.ground_truth}

    def _turns(self, mark: Mark, refusal: Refusal, prompt: Line) -> Line:
        truth = {"possible_answer": mark.entry.ground_truth}
        if not mark.finding:
            return {"error": _error([refusal.message], refusal), "prompt": prompt, "model_result": mark.output} | truth
        return {
            "error": _error(refusal.message, refusal) | mark.finding.get("record", {}),
            "prompt": prompt,
            "model_result_raw": mark.output,
            "model_result_decoded": mark.finding["decoded"],
        } | truth

    def _answer(self, mark: Mark, refusal: Refusal, prompt: Line) -> Line:
        truth = {"possible_answer": mark.entry.ground_truth}
        if refusal.error_type != agentic.NOT_FOUND:
            line = {"error": _error([refusal.message], refusal), "prompt": prompt, "model_result": mark.output}
            if refusal.error_type == agentic.NO_MESSAGE:
                decoded = (executable_calls(step, self._family) for step in mark.output[0])
                line["model_result_decoded"] = [calls for calls in decoded if calls]
            return line | truth
        _, message = agentic.check_answer(mark.output, mark.entry.ground_truth or [], self._family)
        return {
            "error": _error(refusal.message, refusal)
            | {"details": agentic.search_details(mark.entry.ground_truth or [], message)},
            "prompt": prompt["question"],
            "model_result_raw": mark.output,
            "last_non_fc_message": message,
        } | truth


def _error(message: Any, refusal: Refusal) -> Line:
    return {"error_message": message, "error_type": refusal.error_type}


def _load_entry(entry: Entry, dataset: Dataset, wording: Wording) -> dict[str, Any]:
    """Return an entry like the official loader: variations with hints, conversations without documents."""
    line = {**dataset.line(entry), "id": entry.id}
    if entry.config:
        hint = wording.hints["python"]
        line["function"] = [{**doc, "description": doc.get("description", "") + hint} for doc in entry.function]
    if names.is_single_turn(entry.category):
        return line
    line.pop("function", None)
    if names.is_multi_turn(entry.category):
        return line | _withheld(entry, dataset)
    first = [{"role": "system", "content": wording.agentic_answer}, *entry.question[0]]
    line["question"] = [first, *entry.question[1:]]
    if names.is_memory(entry.id):
        line |= {"depends_on": entry.depends_on, "involved_classes": entry.involved_classes}
    return line


def _withheld(entry: Entry, dataset: Dataset) -> dict[str, Any]:
    """Return withheld functions with their documents, if there are any."""
    if not entry.missed_function:
        return {}
    return {"missed_function": dataset.functions(entry)[1]}
