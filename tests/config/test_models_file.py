"""models.toml: what is right is read, what is wrong is said kindly with its place, and the sound models survive."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from console.config.model_entry import entry_of
from console.config.models import facts, key_state, load_models
from console.config.secrets import resolve_key

SIMULATED = {"sim/careful", "sim/hasty", "sim/rambling", "sim/broken", "sim/judge", "sim/user", "sim/embedding"}
BUILT_IN = SIMULATED | {"local/minilm"}


@pytest.fixture
def load(tmp_path):
    def load(text):
        path = tmp_path / "models.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_models(path)

    return load


def test_without_a_file_there_are_the_simulated_models():
    book = load_models(None)
    assert set(book.models) == BUILT_IN
    assert all(key_state(model).ready for model in book.models.values() if model.simulated)
    assert {name for name, model in book.models.items() if model.simulated} == SIMULATED
    assert (book.mistakes, book.warnings) == ([], [])


def test_the_clients_own_form_works(load):
    book = load('[gpt-4o]\nmodel_id = "gpt-4o"\napi_key = "your-api-key"\nbase_url = "https://api.openai.com/v1"\n')
    model = book.models["gpt-4o"]
    assert (model.model_id, model.base_url, model.provider, model.mode) == (
        "gpt-4o",
        "https://api.openai.com/v1",
        "openai",
        "prompt",
    )
    assert resolve_key(model) == "your-api-key"
    assert book.mistakes == []
    assert len(book.warnings) == 1
    assert "models.toml:1" in book.warnings[0]
    assert "your-api-key" not in f"{book} {model!r} {model} {facts(model)}"


def test_every_setting_is_read(load):
    book = load("""
[full]
model_id = "m"
base_url = "http://h:1/v1/"
api_key_env = "E"
provider = "litellm"
mode = "fc"
temperature = 0
max_tokens = 10
price = { in = 1, out = 2.5, cached = 0.5 }
limits = { concurrency = 4, rpm = 60, timeout_s = 9, first_token_s = 3.5, idle_s = 2, max_wait_s = 1, max_tries = 7 }
params = { top_p = 0.5, extra = { a = [1] } }
headers = { "X-A" = "b" }
""")
    model = book.models["full"]
    assert book.mistakes == []
    assert (model.base_url, model.temperature, model.line) == ("http://h:1/v1", 0, 2)
    assert (model.price.input, model.price.output, model.price.cached) == (1, 2.5, 0.5)
    assert (model.limits.concurrency, model.limits.timeout_s, model.limits.max_tries) == (4, 9, 7)
    found = facts(model)
    assert found.params == {"temperature": 0, "max_tokens": 10, "top_p": 0.5, "extra": {"a": [1]}}
    assert found.price.rates[:3] == (1, 2.5, 0.5)


def test_the_shipped_file_is_sound():
    book = load_models(Path(__file__).resolve().parents[2] / "models.toml")
    assert (book.mistakes, book.warnings) == ([], [])
    assert set(book.models) >= BUILT_IN


GOOD = '[good]\nmodel_id = "g"\n\n'

MISTAKES = [
    ('[a]\nmodel_di = "x"\n', 5, "unknown key 'model_di'", "model_id"),
    ('[a]\nmodel = "x"\n', 5, "unknown key 'model'", "model_id"),
    ('[a]\nid = "x"\n', 5, "unknown key 'id'", "Did you mean model_id?"),
    ('[a]\nmodel_id = "x"\nlimits = { timout_s = 3 }\n', 6, "unknown key 'timout_s'", "timeout_s"),
    ('[a]\nmodel_id = "x"\n[a.price]\nim = 3\n', 7, "unknown key 'im'", "in"),
    (
        '[a]\nmodel_id = "x"\n[a.price]\nabove = [{ tokens = 9, in = 1 }, { tokens = 9, in = 2 }]\n',
        7, "two rows have the same number of tokens", "",
    ),
    ('[a]\nmodel_id = "x"\n[a.price]\ntiers = { Flex = { in = 1 } }\n', 7, "'Flex' is 'flex' in replies", ""),
    ('[a]\nmodel_id = "x"\n[a.price]\ntiers = { default = { in = 1 } }\n', 7, "'default' is the usual tier", ""),
    ('[a]\nmodel_id = "x"\nlogprobs = 5\n', 6, "unknown key 'logprobs'", "params"),
    ('[a]\nmodel_id = "x"\ntop_p = 1\nparams = { top_p = 0.5 }\n', 6, "unknown key 'top_p'", "params"),
    ('[a]\nmodel_id = "x"\ncustom_llm_provider = "azure"\n', 6, "unknown key 'custom_llm", "provider"),
    ('[a]\nbase_url = "http://x"\n', 4, "[a] has no model_id", "model_id"),
    ("[a]\nmodel_id = 3\n", 5, "model_id", ""),
    ('[a]\nmodel_id = "x"\nmode = "tools"\n', 6, "mode", '"fc"'),
    ('[a]\nmodel_id = "x"\nprovider = "opnai"\n', 6, "provider", '"litellm"'),
    ('[a]\nmodel_id = "x"\ntemperature = "hot"\n', 6, "temperature", "number"),
    ('[a]\nmodel_id = "x"\ntemperature = nan\n', 6, "temperature", "number"),
    ('[a]\nmodel_id = "x"\nmax_tokens = 0\n', 6, "max_tokens", "an integer"),
    ('[a]\nmodel_id = "x"\nlimits = { concurrency = true }\n', 6, "limits.concurrency", ""),
    ('[a]\nmodel_id = "x"\nbase_url = "api.openai.com"\n', 6, "http://", ""),
    ('[a]\nmodel_id = "x"\nbase_url = "https:///v1"\n', 6, "must name a host", ""),
    ('[a]\nmodel_id = "x"\nbase_url = "https://x:99999/v1"\n', 6, "port", ""),
    ('[a]\nmodel_id = "x"\nbase_url = "https://x/v1/chat/completions"\n', 6, "/chat/completions", ""),
    ('[a]\nmodel_id = "x"\napi_key = "k"\napi_key_env = "E"\n', 4, "cannot be combined", "api_key_env"),
    ('[a]\nmodel_id = "x"\nheaders = { "a b" = "c" }\n', 6, "not a header name", ""),
    ('[a]\nmodel_id = "x"\nheaders = { a = "b\\r\\nc: d" }\n', 6, "line break", ""),
    ('[a]\nmodel_id = "x"\nparams = { at = 1979-05-27 }\n', 6, "cannot be sent as JSON", "params ="),
    ('[a]\nmodel_id = "x"\nparams = { messages = [] }\n', 6, "request has its own model", "params ="),
    ('[gpt-4.1]\nmodel_id = "x"\n', 4, "[gpt-4.1] is read as table '1'", '["gpt-4.1"]'),
    ('[models.x]\nmodel_id = "x"\n', 4, "[models.x]", "Write [x]"),
    ('[open/x]\nmodel_id = "x"\n', 4, "expected ']'", "quotes"),
    ('[a]\nmodel_id = x\n', 5, "invalid value", "quotes"),
    ('[a]\nmodel_id = "x\n', 5, "in [a]", ""),
    ('[a]\nmodel_id = "x"\nmodel_id = "y"\n', 6, "overwrite", "once"),
    ('[good]\nmodel_id = "x"\n', 4, "[good] is defined twice", "Rename"),
    ("[a]\nx = " + "[" * 5000 + "\n", 4, "nested too deeply in [a]", ""),
    ("[a]\nx = " + "9" * 10000 + "\n", 4, "number that is too long in [a]", ""),
    ("[a]\nx = 1 2\n", 5, "in [a]", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "said", "hint"), MISTAKES)
def test_each_mistake_has_place_and_hint_and_spares_the_good_models(load, text, line, said, hint):
    book = load(GOOD + text)
    assert len(book.mistakes) == 1, book.mistakes
    mistake = book.mistakes[0]
    assert mistake.where == f"models.toml:{line}"
    assert said.lower() in mistake.message.lower()
    assert hint in mistake.hint
    assert set(book.models) == BUILT_IN | {"good"}
    assert book.models["good"].model_id == "g"
    assert len(str(mistake)) < 700


def test_the_caret_stands_below_the_key(load):
    mistake = load('[a]\nmodel_id = "x"\nlimits = { rpm = 3, timout_s = 3 }\n').mistakes[0]
    shown, caret = mistake.excerpt.split("\n")
    assert shown[caret.index("^") - 2 :].startswith("timout_s")


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ('[a]\nmodel_id = "Köln"'.encode("latin-1"), "not UTF-8"),
        ("[a]".encode("utf-16"), "UTF-16"),
        (b'[a]\nmodel_id = "x\0"', "NUL"),
        (b"# " + b"x" * (1 << 21), "larger than"),
        (b"= 3", "models.toml:1"),
    ],
)
def test_files_that_are_no_toml_are_said_to_be_none(load, raw, said):
    book = load(raw)
    assert len(book.mistakes) == 1
    assert said in str(book.mistakes[0])
    assert book.mistakes[0].hint
    assert set(book.models) == BUILT_IN


def test_a_byte_order_mark_is_forgiven_with_a_warning(load):
    book = load(b"\xef\xbb\xbf" + GOOD.encode())
    assert "good" in book.models
    assert book.mistakes == []
    assert "byte order mark" in book.warnings[0]


@pytest.mark.parametrize("key", ["api_key", "apikey", "api-key", "key", "secret_key", "token"])
def test_a_mistake_never_shows_a_key(load, key):
    secret = "sk-canary-0123456789"
    for text in (f'[a]\nmodel_id = "x"\n{key} = {secret}\n', f'[a]\nmodel_id = "x"\n{key} = "{secret}"\nbad = 1\n'):
        book = load(text)
        assert book.mistakes
        assert secret not in "".join(str(mistake) for mistake in book.mistakes)


def test_a_missing_or_unreadable_file_is_one_mistake(tmp_path):
    for path in (tmp_path / "none.toml", tmp_path):
        book = load_models(path)
        assert len(book.mistakes) == 1
        assert set(book.models) == BUILT_IN


def test_the_endpoints_of_verifiers_are_read_as_they_are(load, monkeypatch):
    monkeypatch.setenv("PRIME_KEY", "k" * 10)
    book = load("""
[[endpoint]]
endpoint_id = "qwen"
model = "qwen/qwen3"
url = "https://x/v1"
key = "PRIME_KEY"
headers = { "X-Team" = "t" }

[[endpoint]]
endpoint_id = "qwen"
model = "qwen/qwen3"
api_base_url = "https://y/v1"
api_key_var = "PRIME_KEY"
type = "openai_chat_completions"

[[endpoint]]
endpoint_id = "claude"
model = "c"
type = "anthropic_messages"

[[endpoint]]
endpoint_id = "odd"
model = "c"
modle = "c"
""")
    model = book.models["qwen"]
    assert (model.model_id, model.base_url, model.api_key_env) == ("qwen/qwen3", "https://x/v1", "PRIME_KEY")
    assert resolve_key(model) == "k" * 10
    assert any("line 9 repeats line 2" in warning for warning in book.warnings)
    assert [mistake.where for mistake in book.mistakes] == ["models.toml:19", "models.toml:24"]


STATES = [
    ('model_id = "m"', {}, False, "OPENAI_API_KEY is not set"),
    ('model_id = "m"', {"OPENAI_API_KEY": "x"}, True, "key from OPENAI_API_KEY"),
    ('model_id = "m"\nbase_url = "http://127.0.0.1:1/v1"', {"OPENAI_API_KEY": "x"}, True, "no key is sent"),
    ('model_id = "m"\nbase_url = "https://openrouter.ai/api/v1"', {}, False, "OPENROUTER_API_KEY is not set"),
    ('model_id = "m"\napi_key_env = "MINE"', {"OPENAI_API_KEY": "x"}, False, "MINE is not set"),
    ('model_id = "m"\napi_key_env = "MINE"', {"MINE": " "}, False, "MINE is not set"),
    ('model_id = "m"\napi_key = ""', {}, False, "api_key is empty"),
    ('model_id = "anthropic/c"\nprovider = "litellm"', {}, False, "ANTHROPIC_API_KEY is not set"),
    ('model_id = "bedrock/c"\nprovider = "litellm"', {}, True, "no key is sent"),
]


@pytest.mark.parametrize(("text", "environment", "ready", "said"), STATES)
def test_the_state_of_a_key_is_told(load, monkeypatch, tmp_path, text, environment, ready, said):
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENROUTER_API_KEY", "ANTHROPIC_API_KEY", "MINE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    state = key_state(load(f"[x]\n{text}\n").models["x"])
    assert (state.ready, state.text) == (ready, said)


def test_a_dotenv_file_of_this_folder_helps_out(load, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MINE", raising=False)
    (tmp_path / ".env").write_text("# keys\nexport MINE='from the file'\nOTHER=\"x\" # y\n")
    (tmp_path / ".env").chmod(0o644)
    book = load('[x]\nmodel_id = "m"\napi_key_env = "MINE"\n')
    assert resolve_key(book.models["x"]) == "from the file"
    assert key_state(book.models["x"]).text == "key from MINE in .env"
    assert "chmod 600" in book.warnings[0]
    monkeypatch.setenv("MINE", "from the environment")
    assert resolve_key(book.models["x"]) == "from the environment"


def test_reading_models_is_cheap():
    program = (
        "import sys\n"
        "from console.config.models import load_models\n"
        "assert load_models(None).models\n"
        "print({'pydantic', 'openai', 'litellm', 'aiohttp', 'tomlkit', 'numpy'} & set(sys.modules))\n"
    )
    told = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert told == "set()\n"


SECRET_ADDRESSES = (
    "https://user:q1w2e3r4t5y6u7i8@h/v1",
    "https://q1w2e3r4t5y6u7i8@h/v1",
    "https://q1w2e3r4t5y6u7i8:@h/v1",
    "https://h/v1?key=q1w2e3r4t5y6u7i8",
    "https://h/v1?api-version=1&api_key=q1w2e3r4t5y6u7i8",
    "https://h/v1?subscription-key=q1w2e3r4t5y6u7i8",
    "https://h/v1?access_token=q1w2e3r4t5y6u7i8",
    "https://h/v1?sig=q1w2e3r4t5y6u7i8",
    "https://h/v1?code=q1w2e3r4t5y6u7i8",
    "https://h/v1?x=q1w2e3r4t5y6u7i8q1w2e3r4t5y6u7i8",
    "https://h/v1#key=q1w2e3r4t5y6u7i8",
    "https://h/sk-q1w2e3r4t5y6u7i8/v1",
)


def test_several_addresses_are_a_list(load):
    book = load(
        '[a]\nmodel_id = "m"\nbase_url = ["http://h:1/v1/", "http://h:2/v1"]\n[b]\nmodel_id = "m"\nbase_url = ["http://h/v1"]\n'
    )
    assert not book.mistakes
    assert book.models["a"].addresses == ("http://h:1/v1", "http://h:2/v1")
    assert [each.addresses for each in book.models["a"].at_each_address()] == [("http://h:1/v1",), ("http://h:2/v1",)]
    assert book.models["b"] == msgspec.structs.replace(book.models["b"], base_url="http://h/v1", other_urls=())
    assert (facts(book.models["a"]).base_url, facts(book.models["a"]).other_urls) == (
        "http://h:1/v1",
        ("http://h:2/v1",),
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("base_url = []", "base_url is an empty list"),
        ('base_url = ["http://h/v1", "http://h/v1/"]', "base_url names http://h/v1 twice"),
        ('base_url = ["http://h/v1", "http://H:80/v1"]', "base_url names http://H:80/v1 twice"),
        ('base_url = ["http://h/v1", "h:8001"]', "base_url 2 must begin with http"),
        ('base_url = ["h", "http://h/v1"]', "base_url 1 must begin with http"),
        ('base_url = ["http://h/v1", 3]', "expected a string"),
        ('base_url = ["http://h/v1", ["http://i/v1"]]', "expected a string"),
        ('base_url = ["http://h/v1", "http://u:hush@h/v1"]', "must not contain a key or password"),
        ('provider = "simulated"\nbase_url = ["http://h/v1", "http://i/v1"]', "provider simulated has no server"),
        ('provider = "local"\nbase_url = ["http://h/v1", "http://i/v1"]', "provider local has no server"),
    ],
)  # fmt: skip
def test_a_wrong_list_of_addresses_is_one_sentence_with_its_place(load, line, words):
    book = load(f'[a]\nmodel_id = "m"\n{line}\n[good]\nmodel_id = "m"\n')
    [mistake] = book.mistakes
    assert mistake.where == f"models.toml:{2 + len(line.splitlines())}"
    assert "[a] base_url" in mistake.message
    assert words in mistake.message
    assert "hush" not in str(mistake)
    assert "good" in book.models


def test_an_entry_with_several_addresses_is_written_as_it_is_read(load):
    book = load(written := '[a]\nmodel_id = "m"\nbase_url = ["http://h:1/v1", "http://h:2/v1"]')
    assert entry_of(book.models["a"]) == written


@pytest.mark.parametrize("address", SECRET_ADDRESSES)
def test_an_address_with_a_key_is_refused_and_not_shown(load, address):
    """Addresses are recorded and shown, so no key may be in one: before the host, in the path, in the query."""
    for line in (f'base_url = "{address}"', f"base_url='{address}' # mine"):
        book = load(f'[a]\nmodel_id = "m"\n{line}\n[good]\nmodel_id = "m"\n')
        [mistake] = book.mistakes
        assert "models.toml:3" in mistake.where
        assert "key" in mistake.message
        assert "api_key_env" in mistake.message
        assert "q1w2e3r4t5y6u7i8" not in str(mistake)
        assert set(book.models) - BUILT_IN == {"good"}
    endpoint = load(f'[[endpoint]]\nendpoint_id = "e"\nmodel = "m"\nurl = "{address}"\nkey = "E"\n')
    assert len(endpoint.mistakes) == 1
    assert "q1w2e3r4t5y6u7i8" not in str(endpoint.mistakes[0])


@pytest.mark.parametrize(
    "address",
    [
        "https://x.openai.azure.com/openai/deployments/gpt-4o?api-version=2024-10-21",
        "https://gateway.ai.cloudflare.com/v1/0123456789abcdef0123456789abcdef/gateway/openai",
        "http://localhost:8000/v1?max_tokens=5&region=eu-central-1",
        "https://h/v1?deployment=a-rather-long-name-of-a-deployment",
    ],
)
def test_an_address_without_a_key_is_taken(load, address):
    book = load(f'[a]\nmodel_id = "m"\nbase_url = "{address}"\n')
    assert (book.mistakes, book.models["a"].base_url) == ([], address)


def test_parameters_of_other_tools_are_taken_with_a_warning(load):
    text = (
        '[a]\nmodel_id = "x"\ntop_p = 0.5\ncustom_llm_provider = "openai"\nseed = 1\n[a.params]\nseed_of = 2\n'
        '[b]\nmodel_id = "y"\nstop = ["."]\n'
    )
    book = load(text)
    assert book.mistakes == []
    assert book.models["a"].params == {"top_p": 0.5, "seed": 1, "seed_of": 2}
    assert book.models["b"].params == {"stop": ["."]}
    places = [(warning.partition(": ")[0], warning.split("] ")[1].split()[0]) for warning in book.warnings]
    assert places == [
        ("models.toml:3", "top_p"),
        ("models.toml:4", "custom_llm_provider"),
        ("models.toml:5", "seed"),
        ("models.toml:10", "stop"),
    ]
