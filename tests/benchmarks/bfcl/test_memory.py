"""The memory backends and what follows from outputs: limits, wording, searches, chains, counts and exported files."""

import json
from pathlib import Path
from typing import Any

import pytest

from console.benchmarks.bfcl.conversation.memory.backend import Memory, core_of, memory_after, no_search
from console.benchmarks.bfcl.conversation.memory.embedding import embedding
from console.benchmarks.bfcl.conversation.memory.play import MemoryExecution
from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.files.memory_snapshots import write_snapshots
from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.suite import BfclSuite
from console.config.paths import DataRoots
from console.core.case import Case, Key, Setting
from console.core.fault import Fault, FaultKind
from console.core.outcome import Outcome, Verdict
from console.core.record import Finished, Started
from console.core.run import Selection
from console.core.tally import RunFold
from console.suites.catalog import Catalog, read_entry
from console.suites.selection import select_cases

DATA = Path(__file__).resolve().parents[3] / "data"
ERROR = "Error during execution: "


def fresh(backend: str) -> Memory:
    return Memory(f"memory_{backend}_0-student-0", {}, embedding("words", DATA, DATA))


def does(memory: Memory, call: str) -> Any:
    [text] = memory.execute([call])
    return text if text.startswith(ERROR) else json.loads(text)


def test_kv_keeps_its_limits_and_says_so_in_the_benchmarks_words():
    memory = fresh("kv")
    assert does(memory, "core_memory_add(key='name', value='Ada')") == {"status": "Key-value pair added."}
    assert does(memory, "core_memory_add(key='name', value='B')") == {"error": "Key name must be unique."}
    bad_key = {"error": "Key must be in snake_case format and cannot contain spaces."}
    for key in ("Name", "two words", "_x", "x__y", "9a", ""):
        assert does(memory, f"core_memory_add(key={key!r}, value='x')") == bad_key
    long = {"error": "Entry is too long. Please shorten the entry to less than 300 characters."}
    assert does(memory, f"core_memory_add(key='long', value={'x' * 301!r})") == long
    for number in range(6):
        assert does(memory, f"core_memory_add(key='k_{number}', value={'x' * 300!r})")["status"]
    full = {"error": "Core memory is full. Please clear some entries."}
    assert does(memory, "core_memory_add(key='Bad', value='x')") == full
    assert does(memory, f"core_memory_replace(key='name', value={'x' * 301!r})") == long
    assert does(memory, "core_memory_replace(key='nobody', value='x')") == {"error": "Key not found."}
    assert does(memory, "core_memory_remove(key='k_0')") == {"status": "Key removed."}
    assert does(memory, "core_memory_list_keys()")["keys"] == ["name", "k_1", "k_2", "k_3", "k_4", "k_5"]
    assert does(memory, "core_memory_clear()") == {"status": "Short term memory cleared."}
    assert does(memory, "core_memory_retrieve_all()") == {}
    for number in range(50):
        assert does(memory, f"archival_memory_add(key='k_{number}', value='x')") == {"status": "Key added."}
    full = {"error": "Long term memory is full. Please clear some entries."}
    assert does(memory, "archival_memory_add(key='one_more', value='x')") == full


def test_kv_ranks_keys_by_bm25_plus():
    memory = fresh("kv")
    for key in ("exam_date", "exam_place", "pet_name"):
        memory.execute([f"archival_memory_add(key={key!r}, value='x')"])
    ranked = does(memory, "archival_memory_key_search(query='Exam_date', k=2)")["ranked_results"]
    # ln(4/2) + ln(4/1) twice weighted by 1 + 2.5 / 2.5, and the same with only the shared word found
    assert ranked == [
        [pytest.approx(2 * (0.6931471805599453 + 1.3862943611198906)), "exam_date"],
        [pytest.approx(2 * 0.6931471805599453 + 1.3862943611198906), "exam_place"],
    ]
    assert does(memory, "core_memory_key_search(query='exam')") == f"{ERROR}division by zero"


def test_rec_sum_is_one_text_of_ten_thousand_characters():
    memory = fresh("rec_sum")
    assert does(memory, "memory_retrieve()") == {"error": "Memory is empty."}
    assert does(memory, f"memory_update(text={'x' * 10_000!r})") == {"status": "Memory updated."}
    for doing, call in (
        ("appending", "memory_append(text='y')"),
        ("updating", f"memory_update(text={'y' * 10_001!r})"),
    ):
        hint = "Please shorten the entry to less than 10000 characters."
        assert does(memory, call) == {"error": f"Entry will be too long after {doing}. {hint}"}
    assert does(memory, "memory_replace(old_text='z', new_text='')") == {"error": "Text 'z' not found in memory."}
    assert does(memory, "memory_replace(old_text='x', new_text='')") == {"status": "Memory updated."}
    assert memory.snapshot == {"memory": ""}


def test_vector_finds_the_nearest_and_survives_a_snapshot():
    memory = fresh("vector")
    for number, text in enumerate(("a red bicycle", "my dog is called Rex", "the exam is in May")):
        assert does(memory, f"archival_memory_add(text={text!r})") == {"id": number}
    found = does(memory, "archival_memory_retrieve(query='dog called', top_k=2)")["result"]
    assert found[0]["id"] == 1
    assert found[0]["similarity_score"] > found[1]["similarity_score"]
    assert does(memory, "archival_memory_remove(vec_id=1)") == {"status": "ID 1 removed from store."}
    assert does(memory, "archival_memory_update(vec_id=1, new_text='x')") == {"error": "ID 1 not present in store."}
    again = Memory("memory_vector_1-student-1", memory.snapshot, embedding("words", DATA, DATA))
    assert does(again, "archival_memory_add(text='next')") == {"id": 3}
    assert memory.snapshot["archival_memory"]["store"] == {"0": "a red bicycle", "2": "the exam is in May"}
    assert core_of(memory.snapshot) == {}
    for _ in range(7):
        memory.execute(["core_memory_add(text='x')"])
    assert does(memory, "core_memory_add(text='x')") == {"error": "Memory size exceeds maximum size of 7 entries."}
    long = {"error": "Entry length exceeds maximum length of 300 characters."}
    assert does(memory, f"core_memory_update(vec_id=0, new_text={'x' * 301!r})") == long


@pytest.mark.parametrize("backend", names.BACKENDS)
def test_bad_calls_are_errors_in_pythons_words_and_change_nothing(backend: str):
    memory = fresh(backend)
    before = memory.snapshot
    add = {"kv": "core_memory_add", "vector": "core_memory_add", "rec_sum": "memory_append"}[backend]
    [text] = memory.execute([f"{add}(nonsense=1)"])
    assert text == f"{ERROR}MemoryAPI_{backend}.{add}() got an unexpected keyword argument 'nonsense'"
    for call in ("snapshot()", "_load_scenario(snapshot={})", "__class__()", "open('x')", "no_such_thing(x=1)"):
        assert memory.execute([call])[0].startswith(ERROR)
    assert memory.snapshot == before


def test_what_is_remembered_follows_from_outputs_in_order():
    first = [["[core_memory_add(key='name', value='Ada')]", "Noted."], ["Goodbye."]]
    second = [["[core_memory_replace(key='name', value='Ada L.'), core_memory_add(key='age', value='36')]", "Noted."]]
    outputs = {"memory_kv_prereq_0-student-0": first, "memory_kv_prereq_1-student-1": second}
    after = memory_after(outputs, outputs.get, "prompt")
    assert after["core_memory"] == {"name": "Ada L.", "age": "36"}
    assert memory_after([*outputs, "memory_kv_prereq_2-student-2"], outputs.get, "prompt") == after
    native = [[[{"core_memory_add": '{"key": "name", "value": "Ada"}'}], "Noted."]]
    assert memory_after(["memory_kv_prereq_0-student-0"], lambda _: native, "fc_json")["core_memory"] == {"name": "Ada"}
    assert memory_after([], outputs.get, "prompt") == {}


async def test_a_memory_whose_first_calls_came_from_the_journal_has_them_too():
    played = MemoryExecution("memory_kv_0-student-0", {"core_memory": {"a": "1"}, "archival_memory": {}}, no_search)
    played.executed = [["core_memory_add(key='b', value='2')"], ["core_memory_remove(key='a')"]]
    assert await played.execute(["core_memory_retrieve_all()"]) == ['{"b": "2"}']


async def test_an_embedding_that_fails_is_a_fault_and_no_answer():
    def fails(texts: Any) -> Any:
        raise Fault(FaultKind.DATA, "no weights")

    before = {"core_memory": {"next_id": 1, "store": {"0": "x"}}, "archival_memory": {}}
    played = MemoryExecution("memory_vector_0-student-0", before, fails)
    with pytest.raises(Fault, match="no weights"):
        await played.execute(["core_memory_retrieve(query='x')"])


def test_equal_scores_come_as_from_the_official_index():
    memory = fresh("vector")
    for text in ("tea", "tea", "coffee", "tea"):
        does(memory, f"archival_memory_add(text={text!r})")

    def found(most: int) -> list[int]:
        result = does(memory, f"archival_memory_retrieve(query='tea', top_k={most})")["result"]
        return [one["id"] for one in result]

    assert (found(1), found(2), found(4)) == ([0], [1, 0], [3, 1, 0, 2])
    does(memory, "archival_memory_update(vec_id=0, new_text='tea')")
    assert found(2) == [3, 1], "an update puts its text in anew"
    assert does(memory, "archival_memory_retrieve(query='tea', top_k=True)") == f"{ERROR}an integer is required"


def test_prerequisites_are_counted_as_prepared_and_enter_no_score():
    suite = BfclSuite(read_entry(DATA / "bfcl-starter"))
    cases = select_cases(suite, Selection(categories=("memory_kv",)), Setting())
    graded = [case for case in cases if case.graded]
    assert len(graded) == 8
    assert len(cases) - len(graded) == 4
    assert all(case.depends_on for case in graded)
    fold = RunFold()
    for case in cases:
        verdict = suite.score(case, [["Noted."]], Setting())
        fold.apply(Started(at=1.0, key=Key(case.id), case=case))
        fold.apply(Finished(at=2.0, key=Key(case.id), verdict=verdict, output=[["Noted."]]))
    assert (fold.tally.passed, fold.tally.failed, fold.tally.setup, fold.tally.finished) == (0, 8, 4, 12)
    lost = Started(at=1.0, key=Key("p"), case=Case("p", "memory_kv", graded=False))
    fold.apply(lost)
    fold.apply(Finished(at=2.0, key=Key("p"), verdict=Verdict(Outcome.BROKEN, reason="connect")))
    assert (fold.tally.setup, fold.tally.broken, fold.tally.broken_setup) == (4, 0, 1)


def test_snapshots_are_written_in_the_official_layout(tmp_path: Path):
    folder = tmp_path / "m" / "agentic" / "memory" / "kv"
    folder.mkdir(parents=True)
    lines = [
        {"id": "memory_kv_prereq_0-student-0", "result": [["[core_memory_add(key='a', value='1')]", "ok"]]},
        {"id": "memory_kv_prereq_1-student-1", "result": "Error during inference: lost"},
        {"id": "memory_kv_prereq_2-student-2", "result": [["[core_memory_add(key='b', value='2')]", "ok"]]},
        {"id": "memory_kv_prereq_3-customer-0", "result": [["ok"]]},
    ]
    (folder / "BFCL_v4_memory_kv_prereq_result.json").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    write_snapshots(tmp_path, "m", "prompt")
    found = {
        path.relative_to(folder / "memory_snapshot").as_posix() for path in folder.rglob("memory_snapshot/**/*.json")
    }
    assert found == {
        "student_final.json",
        "customer_final.json",
        "prereq_checkpoints/memory_kv_prereq_0-student-0.json",
        "prereq_checkpoints/memory_kv_prereq_2-student-2.json",
        "prereq_checkpoints/memory_kv_prereq_3-customer-0.json",
    }
    final = {"core_memory": {"a": "1", "b": "2"}, "archival_memory": {}}
    assert (folder / "memory_snapshot" / "student_final.json").read_text() == json.dumps(final, indent=4)


@pytest.mark.parametrize("backend", names.BACKENDS)
def test_every_documented_function_is_there_with_its_parameters(backend: str):
    dataset = Dataset(DATA / "bfcl-starter")
    docs = dataset.function_docs(f"MemoryAPI_{backend}")
    assert len(docs) == {"kv": 15, "vector": 12, "rec_sum": 5}[backend]
    memory = fresh(backend)
    for doc in docs:
        given = ", ".join(f"{name}='x'" for name in doc["parameters"]["properties"])
        [text] = memory.execute([f"{doc['name']}({given})"])
        assert "unexpected keyword" not in text
        assert "is not defined" not in text
        assert "missing" not in text


def test_the_pulled_data_has_the_official_sizes():
    if not (DATA / "bfcl" / "suite.toml").is_file():
        pytest.skip("needs `eval-console pull bfcl`")
    suite = BfclSuite(read_entry(DATA / "bfcl"))
    for backend in names.BACKENDS:
        cases = select_cases(suite, Selection(categories=(f"memory_{backend}",)), Setting())
        assert (len(cases), sum(case.graded for case in cases)) == (192, 155)
        by_id = {case.id: case for case in cases}
        assert all(need in by_id for case in cases for need in case.depends_on)
        for doc in suite.dataset.function_docs(f"MemoryAPI_{backend}"):
            given = ", ".join(f"{name}='x'" for name in doc["parameters"]["properties"])
            assert "is not defined" not in fresh(backend).execute([f"{doc['name']}({given})"])[0]


def test_weights_are_looked_for_below_the_folder_that_was_named_with_data(tmp_path: Path) -> None:
    (tmp_path / "minilm").mkdir()
    for name in ("model.safetensors", "vocab.txt"):
        (tmp_path / "minilm" / name).write_text("damaged")
    suite = Catalog(DataRoots(DATA, DATA, (tmp_path,))).open("bfcl-starter")
    assert isinstance(suite, BfclSuite)
    find = embedding("minilm", suite.dataset.folder, suite.dataset.weights)
    with pytest.raises(Fault, match=f"the local embedding in {tmp_path / 'minilm'} cannot be read"):
        find(["a text"])
