"""Pictures, sound and files of rows: sent by every API, kept once, shown, exported, and the same after a kill."""

import base64
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from server.openai_server import OpenAIServer, Scripted
from support.pictures import png
from support.row_suite import write_folder

from console.authoring import open_folder_suite
from console.config.model import ModelConfig
from console.core.chat import ChatRequest
from console.core.fault import Fault, UsageError
from console.core.media import Media, MediaReference, kept_apart, media_part, read_reference, with_contents
from console.core.outcome import Outcome
from console.core.record import Asked
from console.insight.passage import ShownMedia
from console.llm.wires.anthropic import anthropic_body
from console.llm.wires.bedrock import converse_body
from console.llm.wires.chat import chat_body
from console.llm.wires.cohere import cohere_body
from console.llm.wires.gemini import gemini_body
from console.llm.wires.ollama import OLLAMA_API
from console.llm.wires.responses import responses_body
from console.store.journal import JournalReader
from console.testing import check_suite
from console.testing.case_play import play_case, usual_setting
from console.tui.render.picture import picture_lines

RED = png()
ROWS = [
    {"id": "flag", "prompt": "Which flag is it?", "images": ["flag.png"], "contains": "Haiti"},
    {"id": "again", "prompt": "And this?", "images": "flag.png", "files": ["note.txt", "cry.wav"], "contains": "Haiti"},
]


def suite(folder: Path, rows: Any = ROWS) -> Path:
    write_folder(folder, rows)
    (folder / "flag.png").write_bytes(RED)
    (folder / "note.txt").write_text("a note")
    (folder / "cry.wav").write_bytes(b"RIFF....WAVE")
    return folder


@pytest.fixture
def played(console, home: Path):
    """Play the rows against a server; return the run's folder, what the server got, and a way to export."""
    asked: list[dict[str, Any]] = []

    def answer(request: dict[str, Any]) -> Scripted:
        asked.append(request)
        return Scripted("It is Haiti.")

    suite(home / "data" / "flags")
    with OpenAIServer(answer, models=("m",)) as server:
        (home / "models.toml").write_text(f'[m]\nmodel_id = "m"\nbase_url = "{server.base_url}"\n')
        ended = console("run", "-m", "m", "-s", "flags", "--yes", "--quiet", "-c", "1")
    assert ended.code == 0, ended.err
    [run] = [path for path in (home / "runs").iterdir() if (path / "run.json").exists()]
    return run, asked


def test_bytes_are_sent_whole_and_kept_once_and_the_journal_has_references_only(played) -> None:
    run, asked = played
    first, second = [request["messages"][-1]["content"] for request in asked]
    url = f"data:image/png;base64,{base64.b64encode(RED).decode()}"
    assert first == [{"type": "text", "text": "Which flag is it?"}, {"type": "image_url", "image_url": {"url": url}}]
    assert [part["type"] for part in second] == ["text", "image_url", "file", "input_audio"]
    assert base64.b64decode(second[3]["input_audio"]["data"]) == b"RIFF....WAVE"
    assert base64.b64encode(RED)[:40] not in (run / "journal.jsonl").read_bytes()
    records = [record for record in JournalReader(run / "journal.jsonl").iter_all() if isinstance(record, Asked)]
    reference = read_reference(records[0].messages[0]["content"][1]["image_url"]["url"])
    assert reference is not None
    assert (reference.width, reference.height, reference.size) == (4, 4, len(RED))
    files = {path.name: path.read_bytes() for path in (run / "files").iterdir()}
    assert files[reference.file_name] == RED
    assert len(files) == 3, "the picture of two rows is kept once"


def test_readers_see_words_and_the_picture_and_never_base64(played, console) -> None:
    run, _ = played
    shown = console("show", f"{run.name}#flag").out
    assert "[image 4×4 png, 1 kB]" in shown
    assert base64.b64encode(RED).decode()[:40] not in shown
    page = console("export", run.name, "--format", "html").out
    if "<img" not in page:  # a page shows failures only
        site = run.parent / "site"
        assert console("export", run.name, "--format", "site", "-o", site).code == 0
        page = "".join(path.read_text() for path in site.rglob("*.html"))
    assert base64.b64encode(RED).decode() in page
    assert "img-src data:" in page


def test_logs_of_other_tools_carry_the_bytes(played, console, home: Path) -> None:
    run, _ = played
    encoded = base64.b64encode(RED).decode()
    assert console("export", run.name, "--format", "eval", "-o", home / "log.eval").code == 0
    with zipfile.ZipFile(home / "log.eval") as log:
        samples = [json.loads(log.read(name)) for name in log.namelist() if name.startswith("samples/")]
    by_id = {sample["id"]: sample for sample in samples}
    assert by_id["flag"]["messages"][0]["content"][1]["image"] == f"data:image/png;base64,{encoded}"
    assert [part["type"] for part in by_id["again"]["input"][0]["content"]] == ["text", "image", "document", "audio"]
    assert console("export", run.name, "--format", "verifiers-traces", "-o", home / "traces").code == 0
    assert encoded in "".join(path.read_text() for path in (home / "traces").rglob("*.jsonl"))


def test_a_regraded_and_a_merged_run_have_the_files_too(played, console, home: Path) -> None:
    run, _ = played
    kept = {path.name for path in (run / "files").iterdir()}
    assert console("regrade", run.name, "--quiet").code == 0
    [again] = [path for path in (home / "runs").iterdir() if "regraded" in path.name]
    assert {path.name for path in (again / "files").iterdir()} == kept
    with OpenAIServer(lambda request: Scripted("Haiti"), models=("m",)) as server:
        (home / "models.toml").write_text(f'[m]\nmodel_id = "m"\nbase_url = "{server.base_url}"\n')
        for shard in ("1/2", "2/2"):
            line = ("run", "-m", "m", "-s", "flags", "--shard", shard, "--name", f"part{shard[0]}", "--yes", "--quiet")
            assert console(*line).code == 0
    merged = console("merge", "part1", "part2", "--name", "whole", "--json")
    assert merged.code == 0, merged.err
    [whole] = [path for path in (home / "runs").iterdir() if "whole" in path.name]
    assert {path.name for path in (whole / "files").iterdir()} == kept


def test_a_row_with_files_goes_on_after_a_kill(tmp_path: Path) -> None:
    check_suite(open_folder_suite(suite(tmp_path / "flags")), cases=2)


@pytest.mark.parametrize(("change", "words"), [(Path.unlink, "cannot be read"), (Path.touch, "")])
async def test_a_file_that_changes_after_its_row_was_read_is_a_fault(tmp_path: Path, change: Any, words: str) -> None:
    opened = open_folder_suite(suite(tmp_path / "flags"))
    setting = usual_setting(opened)
    [case, *_] = opened.cases((), setting)
    change(tmp_path / "flags" / "flag.png")
    if words:
        with pytest.raises(Fault, match=words):
            await play_case(opened, case, setting, right=True)
        return
    assert (await play_case(opened, case, setting, right=True)).verdict.outcome is Outcome.PASSED
    (tmp_path / "flags" / "flag.png").write_bytes(png(6, 6))
    with pytest.raises(Fault, match="has changed"):
        await play_case(opened, case, setting, right=True)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"images": ["../flag.png"]}, "not in the suite's folder"),
        ({"images": ["nothing.png"]}, "cannot be read"),
        ({"images": ["flag\0.png"]}, "not a name of a file"),
        ({"expect": [{"python_tests": "tests\0.py"}]}, "not a name of a file"),
        ({"images": ["note.txt"]}, "does not have the name of a picture"),
    ],
)
def test_bad_files_are_told_with_their_row(tmp_path: Path, row: dict[str, Any], words: str) -> None:
    opened = open_folder_suite(suite(tmp_path / "flags", [{"prompt": "?", "contains": "x", **row}]))
    with pytest.raises(UsageError, match=re.escape(words)):
        opened.cases((), usual_setting(opened))


# APIs ----------------------------------------------------------------------------------------------------------------


def request_with(*parts: dict[str, Any]) -> ChatRequest:
    return ChatRequest([{"role": "user", "content": [{"type": "text", "text": "?"}, *parts]}])


MODEL = ModelConfig(name="m", model_id="m")
PICTURE, SOUND = media_part(RED, "image/png"), media_part(b"RIFF", "audio/wav")
PDF = media_part(b"%PDF", "application/pdf", "a.pdf")
DATA = base64.b64encode(RED).decode()


def test_every_api_has_its_own_part_for_a_picture() -> None:
    asked = request_with(PICTURE)
    assert chat_body(MODEL, asked)["messages"][0]["content"][1] == PICTURE
    [item] = responses_body(MODEL, asked)["input"]
    assert item["content"][1] == {"type": "input_image", "image_url": f"data:image/png;base64,{DATA}"}
    source = {"type": "base64", "media_type": "image/png", "data": DATA}
    assert anthropic_body(MODEL, asked)["messages"][0]["content"][1] == {"type": "image", "source": source}
    assert gemini_body(MODEL, asked)["contents"][0]["parts"][1] == {
        "inlineData": {"mimeType": "image/png", "data": DATA}
    }
    block = converse_body(MODEL, asked)["messages"][0]["content"][1]
    assert block == {"image": {"format": "png", "source": {"bytes": DATA}}}
    message = OLLAMA_API.body(MODEL, asked)["messages"][0]
    assert (message["content"], message["images"]) == ("?", [DATA])
    assert cohere_body(MODEL, asked)["messages"][0]["content"][1]["image_url"]["url"].endswith(DATA)


def test_documents_and_sound_go_where_an_api_takes_them() -> None:
    assert anthropic_body(MODEL, request_with(PDF))["messages"][0]["content"][1]["type"] == "document"
    assert gemini_body(MODEL, request_with(SOUND))["contents"][0]["parts"][1]["inlineData"]["mimeType"] == "audio/wav"
    assert converse_body(MODEL, request_with(PDF))["messages"][0]["content"][1]["document"]["format"] == "pdf"
    file = responses_body(MODEL, request_with(PDF))["input"][0]["content"][1]
    assert (file["type"], file["filename"]) == ("input_file", "a.pdf")


@pytest.mark.parametrize(
    ("body", "part", "words"),
    [
        (responses_body, SOUND, "the Responses API does not accept sound"),
        (anthropic_body, SOUND, "the Anthropic API does not accept sound"),
        (converse_body, SOUND, "the Bedrock API does not accept sound"),
        (OLLAMA_API.body, PDF, "the Ollama API does not accept files"),
        (cohere_body, PDF, "the Cohere API does not accept files"),
        (gemini_body, {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}, "does not accept links"),
    ],
)
def test_what_an_api_does_not_take_is_refused_by_name(body: Any, part: dict[str, Any], words: str) -> None:
    with pytest.raises(Fault, match=words):
        body(MODEL, request_with(part))


# References ----------------------------------------------------------------------------------------------------------


def test_references_stand_for_exactly_the_bytes() -> None:
    messages = request_with(PICTURE, SOUND, PDF).messages
    apart, contents = kept_apart(messages)
    assert set(contents.values()) == {RED, b"RIFF", b"%PDF"}
    assert with_contents(apart, lambda reference: contents[str(reference)]) == messages
    assert kept_apart(apart) == (apart, {}), "references are not taken apart again"
    link = request_with({"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}).messages
    assert kept_apart(link) == (link, {})
    with pytest.raises(ValueError, match="base64"):
        kept_apart(request_with({"type": "image_url", "image_url": {"url": "data:image/png;base64,%%"}}).messages)


def test_a_picture_is_drawn_in_half_blocks_and_a_bomb_is_not() -> None:
    pytest.importorskip("PIL", reason="needs the extra `images`")

    def lines(data: bytes | None) -> list[Any]:
        return list(picture_lines(ShownMedia(Media("image", MediaReference("0" * 64, "image/png", 1)), lambda: data)))

    drawn = lines(RED)
    assert [line.plain for line in drawn] == ["▀▀▀▀", "▀▀▀▀"]
    assert "#ff0000" in str(drawn[0].spans[0].style)
    assert "#0000ff" in str(drawn[1].spans[0].style)
    assert "gone" in lines(None)[0].plain
    assert "cannot be shown" in lines(b"GIF89a" + bytes(50))[0].plain
    assert len(lines(png(3000, 30))) <= 16
