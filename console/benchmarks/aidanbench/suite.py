"""The AidanBench suite."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import msgspec

from console.benchmarks.aidanbench import options as names
from console.benchmarks.aidanbench.conversation.prompts import ENVIRONMENT, ORIGINAL
from console.benchmarks.aidanbench.conversation.wording import Wording, read_wording
from console.benchmarks.aidanbench.data.dataset import QuestionSet, load_questions, read_folder
from console.benchmarks.aidanbench.leaderboard import HEADLINE
from console.benchmarks.aidanbench.options import OPTIONS, AidanOptions, read_options
from console.config.weights import LOCAL_EMBEDDING
from console.core.case import Case, Setting
from console.core.comparison import Comparison
from console.core.outcome import Verdict
from console.suites.own_row import OwnRow, RecordedCase, opening, recorded_answers
from console.suites.suite import Category, Estimate, LineChecker, Report, Result, RoleModel, Suite

if TYPE_CHECKING:
    from console.suites.stage import Stage


class AidanBenchSuite(Suite):
    """A list of questions with its wording: bundled, pulled or the user's own."""

    options = OPTIONS
    headline = HEADLINE
    grader_sources = ("console.benchmarks.aidanbench.rules", "console.benchmarks.aidanbench.conversation.judge")

    def roles(self, options: dict[str, Any]) -> tuple[str, ...]:
        """Return the roles of a run: judge and embedding, and a second judge if one is named."""
        second = ("second_judge",) if read_options(options).has_second_judge else ()
        return ("judge", *second, "embedding")

    def role_models(self, options: dict[str, Any]) -> dict[str, RoleModel]:
        values = read_options(options).values
        defaults = {"judge": names.JUDGE_MODEL, "embedding": names.EMBEDDING_MODEL}
        named = {role: _role_model(role, values, default) for role, default in defaults.items()}
        if second := values["second_judge_model"]:
            named["second_judge"] = RoleModel(second, named["judge"].base_url, named["judge"].api_key_env)
        return named

    def settle(self, options: dict[str, Any], roles: dict[str, str]) -> dict[str, Any]:
        """Check the options, read the user's own questions, and name the chosen models.

        The run then depends on no file outside the suite's folder, so it can be resumed from anywhere.
        """
        checked = read_options(options)
        settled = {**checked.values, "thresholds": checked.thresholds._asdict()}
        if any(settled[name] is not None for name in ("questions", "questions_path", "dataset")):
            question_set = load_questions(self.entry.folder, self.entry.name, checked)
            settled |= {"questions": [question.question for question in question_set.questions]}
            settled |= {"questions_path": None, "dataset": None}
        return settled | {f"{role}_model": name for role, name in roles.items() if f"{role}_model" in settled}

    def categories(self) -> Sequence[Category]:
        """Return the categories of the suite's own questions, in file order."""
        counts: dict[str, int] = {}
        for question in read_folder(self.entry.folder, self.entry.name).questions:
            counts[question.category] = counts.get(question.category, 0) + 1
        return [Category(name, count) for name, count in counts.items()]

    def cases(self, categories: Sequence[str], setting: Setting) -> list[Case]:
        """Return the questions in file order; each case records its question set and wording."""
        del categories
        options = read_options(setting.options)
        question_set = load_questions(self.entry.folder, self.entry.name, options)
        about = self._provenance(question_set, options)
        return [
            Case(
                id=question.id,
                category=question.category,
                data={"question": question.question, **about},
                title=question.question,
                cluster=question.cluster,
            )
            for question in question_set.questions
        ]

    def estimate(self, case: Case, setting: Setting) -> Estimate:
        from console.benchmarks.aidanbench.conversation.estimate import estimate

        return estimate(case.data["question"], self._wording, read_options(setting.options))

    def protocols(self, setting: Setting) -> Mapping[str, Setting]:
        """Return the setting with each protocol: growing chat and single messages."""
        asked = {name: {**setting.options, "protocol": name} for name in (ENVIRONMENT, ORIGINAL)}
        return {name: msgspec.structs.replace(setting, options=options) for name, options in asked.items()}

    async def play(self, case: Case, stage: "Stage", setting: Setting) -> Any:
        from console.benchmarks.aidanbench.conversation.play import Loop

        return await Loop(case, stage, read_options(setting.options), self._wording).play()

    def score(self, case: Case, output: Any, setting: Setting) -> Verdict:
        """Judge a recorded loop by its scores."""
        from console.benchmarks.aidanbench.rules.score import score_loop

        return score_loop(output, read_options(setting.options))

    def grading(self, setting: Setting) -> Mapping[str, Any]:
        """Return thresholds, scale and wording of the judge."""
        options = read_options(setting.options)
        decisive = ("reward_mode", "use_llm_similarity", "strict_compat")
        return {
            "thresholds": options.thresholds._asdict(),
            "wording": f"{self._wording.name_for(options.protocol)} {self._wording.digest[:8]}",
            **{name: options.values[name] for name in decisive},
        }

    def compare(self, case: Case, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
        """Return the answers for review, with the most similar pair."""
        from console.benchmarks.aidanbench.compare import compare

        return compare(output, verdict, read_options(setting.options))

    def judged_answer(self, output: Any, turn: int) -> str:
        """Return the content of the answer tag; empty if the output was truncated."""
        turns = cast("list[dict[str, Any]]", output) if isinstance(output, list) else []
        return turns[turn]["answer"] if turn < len(turns) else ""

    def own_row(self, recorded: RecordedCase) -> OwnRow:
        """Return the question as a row that a judge grades; a row asks once, so there is no loop."""
        first = recorded.requests[:1]
        asked = opening(first[0].messages) if first else {"prompt": recorded.case.title}
        rubric = "The answer is an answer to the question, does not contradict itself, and could be true."
        return OwnRow(asked | {"judge": rubric, "simulated": {"recorded": recorded_answers(first)}})

    def report(self, results: Sequence[Result], setting: Setting) -> Report:
        from console.benchmarks.aidanbench.rules.report import report

        options = read_options(setting.options)
        return report(results, options.reward_mode, self._comparability(options))

    def checks_without_data(self) -> bool:
        return True

    def line_checker(self) -> AbstractContextManager[LineChecker]:
        from console.benchmarks.aidanbench.conformance import check_line
        from console.suites.line_checks import RowChecker

        return RowChecker(check_line)

    @cached_property
    def _wording(self) -> Wording:
        return read_wording(self.entry.folder)

    def _provenance(self, question_set: QuestionSet, options: AidanOptions) -> dict[str, dict[str, str]]:
        wording = self._wording
        return {
            "question_set": {"name": question_set.name, "digest": question_set.digest},
            "wording": {"name": wording.name_for(options.protocol), "digest": wording.digest},
        }

    def _comparability(self, options: AidanOptions) -> str:
        """Return a note on whether totals are comparable with published ones."""
        why: list[str] = []
        if not self.entry.comparable or options.values["questions"] is not None:
            why.append("not the official questions")
        if self._wording.name_for(options.protocol) != "official":
            why.append("not the official wording")
        for role in ("judge", "embedding"):
            name = options.values[f"{role}_model"]
            if name == LOCAL_EMBEDDING or name.startswith("sim/"):
                why.append(f"{'local' if name == LOCAL_EMBEDDING else 'simulated'} {role}")
        if options.max_turns is not None:
            why.append(f"at most {options.max_turns} turns")
        return f"not comparable with published totals: {', '.join(why)}" if why else ""


def _role_model(role: str, values: Mapping[str, Any], default: str) -> RoleModel:
    model = (values[f"{role}_model"], values[f"{role}_api_base_url"], values[f"{role}_api_key_var"])
    return RoleModel(
        *model,
        is_default=model == (default, names.API, names.KEY),
        fallback=LOCAL_EMBEDDING if role == "embedding" else "",
    )
