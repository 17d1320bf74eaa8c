"""`bfcl generate` of models served on this machine: a server that is there, one that is started, and none."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from server.api_server import ApiServer, Said
from support.quick_rows import first_quick

from console.cli.exitcode import Exit
from console.config.model import ModelConfig
from console.llm.servers.local_server import running_server

TESTS = Path(__file__).resolve().parents[1]
MODEL = "meta-llama/Llama-3.1-8B-Instruct"
RESULTS = "result/meta-llama_Llama-3.1-8B-Instruct"
COMMAND = ("bfcl", "generate", "--model", MODEL, "-s", "bfcl-starter", "--test-category", "irrelevance")
PROGRAM = f"""#!{sys.executable}
import json, os, signal, sys, threading, time
from pathlib import Path
sys.path.insert(0, {str(TESTS)!r})
from server.api_server import ApiServer, Said

here = Path(__file__).parent
(here / "command.json").write_text(json.dumps(sys.argv[1:]))
print("loading", flush=True)
mode = (here / "mode").read_text()
if mode == "fails":
    sys.exit("no GPU here")
if mode == "loads":
    held = (here / "holding").open("w")  # until it ends, which the test sees
    print(os.getpid(), file=held, flush=True)
    time.sleep(600)
port = int(sys.argv[sys.argv.index("--port") + 1])
stop = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stop.set())
holding = Said("No function fits.", held_after=1) if mode == "holds" else Said("No function fits.")
with ApiServer([holding], served=[sys.argv[2]], port=port) as server:
    server.context = 5000
    if mode == "holds" and server.holds.wait(60):
        (here / "holding").write_text("an answer is held")
    stop.wait()
    (here / "requests.json").write_text(json.dumps([server.requests, server.counted]))
"""


@pytest.fixture
def port(home: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """A free port, named to the command; no variable of ours says anything else."""
    remote = ("REMOTE_OPENAI_BASE_URL", "REMOTE_OPENAI_API_KEY", "REMOTE_OPENAI_TOKENIZER_PATH")
    for name in ("LOCAL_SERVER_ENDPOINT", *remote):
        monkeypatch.delenv(name, raising=False)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    monkeypatch.setenv("LOCAL_SERVER_PORT", str(number))
    monkeypatch.setenv("LOCAL_SERVER_ENDPOINT", "127.0.0.1")
    return number


@pytest.fixture
def programs(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path with a `vllm` that serves."""
    folder = home / "bin"
    folder.mkdir()
    (folder / "vllm").write_text(PROGRAM)
    (folder / "vllm").chmod(0o755)
    (folder / "mode").write_text("serves")
    monkeypatch.setenv("PATH", str(folder))
    return folder


def is_free(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) != 0


def run_folder(home: Path) -> Path:
    (folder,) = (path for path in (home / "runs").iterdir() if path.name != ".index")
    return folder


def results(home: Path) -> list[dict[str, Any]]:
    (file,) = (home / RESULTS).rglob("*.json")
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_server_is_started_awaited_logged_and_stopped(console, home, port, programs, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "not-for-the-server")
    lora = ("--enable-lora", "--max-lora-rank", "8", "--lora-modules", "a=/x", "--lora-modules", "b=/y")
    ended = console(*COMMAND, "--backend", "vllm", "--num-gpus", "2", "--gpu-memory-utilization", "0.5", *lora)
    assert ended.code == Exit.OK, ended.err
    assert {line["result"] for line in results(home)} == {"No function fits."}
    command = json.loads((programs / "command.json").read_text())
    start = ["serve", MODEL, "--port", str(port), "--dtype", "bfloat16", "--tensor-parallel-size", "2"]
    start += ["--gpu-memory-utilization", "0.5", "--trust-remote-code"]
    assert command == [
        *start,
        "--enable-lora",
        "--max-lora-rank",
        "8",
        "--lora-modules",
        "a=/x",
        "--lora-modules",
        "b=/y",
    ]
    requests, counted = json.loads((programs / "requests.json").read_text())
    assert len(requests) == len(results(home))
    for request in requests:
        assert (request["model"], request["temperature"]) == (MODEL, 0.001)
        assert request["max_tokens"] == min(4096, 5000 - len(request["prompt"]) // 4 - 2)
        assert request["prompt"].startswith("<|begin_of_text|>")
    assert {question["prompt"] for question in counted} >= {request["prompt"] for request in requests}
    assert (run_folder(home) / "server.log").read_text() == "loading\n"
    assert "counted by the server" in ended.err
    assert is_free(port)


def test_a_server_that_is_there_is_used_and_stays(console, home, port, programs):
    with ApiServer([Said("No function fits.")], served=[MODEL], port=port) as server:
        ended = console(*COMMAND, "--backend", "vllm")
        assert ended.code == Exit.OK, ended.err
        assert not (programs / "command.json").exists()
        assert {request["max_tokens"] for request in server.requests} == {4096}
        assert "4096 for every prompt" in ended.err
        assert not is_free(port)


def test_a_remote_server_gets_its_key_and_the_path_of_the_weights(console, home, port, monkeypatch):
    weights = home / "weights"
    weights.mkdir()
    monkeypatch.setenv("REMOTE_OPENAI_API_KEY", "remote-key-0123456789")
    ended = console(*COMMAND, "--local-model-path", weights)
    assert (ended.code, "has no config.json" in ended.err) == (Exit.USAGE, True)
    for name in ("config.json", "tokenizer_config.json"):
        (weights / name).write_text("{}")
    with ApiServer([Said("No function fits.")], served=[str(weights)]) as server:
        monkeypatch.setenv("REMOTE_OPENAI_BASE_URL", server.base_url)
        ended = console(*COMMAND, "--local-model-path", weights, "--skip-server-setup")
        assert ended.code == Exit.OK, ended.err
        assert {request["model"] for request in server.requests} == {str(weights)}
        assert {head["authorization"] for head in server.heads} == {"Bearer remote-key-0123456789"}


def test_a_remote_server_may_serve_a_model_under_an_alias(console, home, port, monkeypatch):
    with ApiServer([Said("No function fits.")], served=["its-alias"]) as server:
        monkeypatch.setenv("REMOTE_OPENAI_BASE_URL", server.base_url)
        ended = console(*COMMAND)
        assert ended.code == Exit.OK, ended.err
        assert f"is its-alias at {server.base_url}" in ended.err
        assert {request["model"] for request in server.requests} == {"its-alias"}
    with ApiServer([], served=["one", "other"]) as server:
        monkeypatch.setenv("REMOTE_OPENAI_BASE_URL", server.base_url)
        ended = console(*COMMAND, "-o")
        assert (ended.code, "does not serve" in ended.err) == (Exit.USAGE, True)


@pytest.fixture
def tokenizer(home: Path) -> Path:
    """A folder with a tokenizer of single characters and one special token."""
    letters = {chr(number): number for number in range(32, 127)} | {"?": 200}
    special = tokenizers.AddedToken("<|begin_of_text|>", special=True)
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(letters, unk_token="?"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Split(tokenizers.Regex(r"[\s\S]"), "isolated")
    made.add_special_tokens([special])
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="<|begin_of_text|> $A", special_tokens=[("<|begin_of_text|>", made.token_to_id("<|begin_of_text|>"))]
    )
    made.enable_truncation(7)
    folder = home / "tokenizer"
    folder.mkdir()
    made.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text('{"max_position_embeddings": 5000}')
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 17}')
    return folder


def test_the_tokenizer_of_a_remote_server_counts_here(console, home, port, monkeypatch, tokenizer):
    monkeypatch.setenv("REMOTE_OPENAI_TOKENIZER_PATH", str(tokenizer))
    with ApiServer([Said("No function fits.")], served=[MODEL]) as server:
        server.context = 100_000
        monkeypatch.setenv("REMOTE_OPENAI_BASE_URL", server.base_url)
        ended = console(*COMMAND)
        assert ended.code == Exit.OK, ended.err
        assert server.counted == []
        for request in server.requests:
            tokens = len(request["prompt"]) - len("<|begin_of_text|>") + 1
            assert request["max_tokens"] == (1000 if tokens + 2 > 5000 else min(4096, 5000 - tokens - 2))
    assert f"context, counted by the tokenizer in {tokenizer}" in ended.err


def test_the_tokenizer_beside_the_weights_counts_too(console, home, port, tokenizer):
    (tokenizer / "config.json").write_text("{}")
    (tokenizer / "tokenizer_config.json").write_text('{"model_max_length": 1e30}')
    with ApiServer([Said("No function fits.")], served=[str(tokenizer)], port=port) as server:
        ended = console(*COMMAND, "--local-model-path", tokenizer)
        assert ended.code == Exit.OK, ended.err
        assert {request["max_tokens"] for request in server.requests} == {4096}
    assert f"by the tokenizer in {tokenizer}" in ended.err


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (None, "is not a folder"),
        ({}, "has no tokenizer.json"),
        ({"tokenizer.json": "{"}, "tokenizer.json cannot be read"),
        ({"config.json": "{}"}, "does not state the context length"),
        ({"config.json": "["}, "config.json cannot be read"),
        ({"config.json": '{"max_position_embeddings": "many"}'}, "does not state the context length"),
    ],
)
def test_a_folder_that_is_no_tokenizer_is_refused(console, home, port, monkeypatch, tokenizer, files, words):
    folder = home / "named"
    if files is not None:
        folder.mkdir()
        if "config.json" in files:
            (folder / "tokenizer.json").write_text((tokenizer / "tokenizer.json").read_text())
        for name, text in files.items():
            (folder / name).write_text(text)
    monkeypatch.setenv("REMOTE_OPENAI_TOKENIZER_PATH", str(folder))
    monkeypatch.setenv("REMOTE_OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    ended = console(*COMMAND)
    assert ended.code == Exit.USAGE
    assert "REMOTE_OPENAI_TOKENIZER_PATH: " in ended.err
    assert words in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("row", "result", "reasoning"),
    [
        ("Qwen/Qwen3-8B", "None fits.", "Which one?"),
        ("deepseek-ai/DeepSeek-R1", "\n\nNone fits.", "\n\nNone fits."),  # officially the answer, by mistake
        (MODEL, "<think>\nWhich one?\n</think>\n\nNone fits.", None),
    ],
)
def test_thoughts_stand_in_result_lines_as_officially(console, home, port, row, result, reasoning):
    said = Said("<think>\nWhich one?\n</think>\n\nNone fits.")
    with ApiServer([said], served=[row], port=port):
        ended = console(*("bfcl", "generate", "--model", row, "-s", "bfcl-starter"), "--test-category", "irrelevance")
    assert ended.code == Exit.OK, ended.err
    (file,) = (home / "result").rglob("*.json")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert {(line["result"], line.get("reasoning_content")) for line in lines} == {(result, reasoning)}


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--backend", "sglang"), ("sglang is not on the path", "LOCAL_SERVER_PORT")),
        (("--backend", "vllm"), ("vllm is not on the path", "REMOTE_OPENAI_BASE_URL")),
        (("--skip-server-setup",), ("no server answers at http://127.0.0.1",)),
        (("--enable-lora",), ("--backend vllm",)),
        (("--backend", "vllm", "--lora-modules", "a"), ("'a' is not NAME=PATH",)),
        (("--num-gpus", "0"), ("--num-gpus",)),
        (("--gpu-memory-utilization", "nan"), ("--gpu-memory-utilization",)),
    ],
)
def test_what_cannot_be_served_is_refused_before_anything_is_asked(console, home, port, monkeypatch, flags, words):
    monkeypatch.setenv("PATH", str(home))
    ended = console(*COMMAND, *flags)
    assert ended.code == Exit.USAGE
    assert all(text in ended.err for text in words), ended.err
    assert not (home / "runs").exists()


def test_another_models_server_is_refused(console, port):
    with ApiServer([Said("?")], served=["another/Model"], port=port):
        ended = console(*COMMAND)
    assert ended.code == Exit.USAGE
    assert f"does not serve {MODEL}" in ended.err
    assert "another/Model" in ended.err


def test_a_server_that_ends_while_it_loads_says_why(console, home, port, programs):
    (programs / "mode").write_text("fails")
    ended = console(*COMMAND, "--backend", "vllm")
    assert ended.code == Exit.USAGE
    assert "exited with code 1 before it answered: no GPU here" in ended.err
    assert "server.log" in ended.err


def test_a_row_of_a_service_says_what_to_write(console, home):
    ended = console("bfcl", "generate", "--model", "claude-haiku-4-5-20251001-FC", "-s", "bfcl-starter")
    assert ended.code == Exit.USAGE
    assert 'provider = "anthropic" and bfcl_name = "claude-haiku-4-5-20251001-FC"' in ended.err


@pytest.mark.parametrize("number", first_quick([signal.SIGTERM, signal.SIGINT]))
def test_signals_in_mid_answer_stop_the_server_too(home, port, programs, number):
    (programs / "mode").write_text("holds")
    os.mkfifo(programs / "holding")
    holding = os.open(programs / "holding", os.O_RDONLY | os.O_NONBLOCK)
    command = [sys.executable, "-m", "console", *COMMAND, "--backend", "vllm"]
    process = subprocess.Popen(command, env={**os.environ}, cwd=home, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        assert select.select([holding], [], [], 60)[0]
        process.send_signal(number)
        if number is signal.SIGINT:
            assert any("ctrl+c again aborts them" in line for line in process.stderr)
            process.send_signal(number)
        _, error = process.communicate(timeout=60)
    finally:
        process.kill()
        os.close(holding)
    assert process.returncode == (Exit.TERMINATED if number is signal.SIGTERM else Exit.INTERRUPTED)
    assert "Traceback" not in error
    assert is_free(port)
    assert (programs / "requests.json").exists()  # it ended by itself, not by SIGKILL


def test_a_signal_while_the_server_loads_stops_it(home, port, programs):
    (programs / "mode").write_text("loads")
    os.mkfifo(programs / "holding")
    holding = os.open(programs / "holding", os.O_RDONLY | os.O_NONBLOCK)
    command = [sys.executable, "-m", "console", *COMMAND, "--backend", "vllm"]
    process = subprocess.Popen(command, env={**os.environ}, cwd=home, stderr=subprocess.PIPE, text=True)
    try:
        assert select.select([holding], [], [], 60)[0]
        server = int(os.read(holding, 20))
        process.send_signal(signal.SIGTERM)
        _, error = process.communicate(timeout=60)
        assert select.select([holding], [], [], 60)[0]
        assert os.read(holding, 20) == b"", f"{server} still holds it"
    finally:
        process.kill()
        os.close(holding)
    assert (process.returncode, "Traceback" in error) == (Exit.TERMINATED, False)


def test_a_signal_as_the_server_is_started_stops_it(tmp_path, monkeypatch):
    started = []
    start = subprocess.Popen

    def signalled(*args, **options):
        started.append(start(*args, **options))
        signal.raise_signal(signal.SIGTERM)
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", signalled)
    model = ModelConfig(name="m", model_id="m", base_url="http://127.0.0.1:9/v1")
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    with pytest.raises(SystemExit), running_server(command, model, tmp_path / "log", print):
        pass
    assert started[0].poll() == -signal.SIGTERM
