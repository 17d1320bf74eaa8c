"""What the profile for macOS allows and denies, as read by a reader of our own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.seatbelt_reader import is_allowed, read_profile

from console.sandbox.macos.profile import Reach, build_profile, quoted

PYTHON = "/opt/python/bin/python3.11"
SCRATCH = "/private/var/folders/x/eval-console-1-a"
REACH = Reach(
    programs=[PYTHON],
    readable=["/opt/python/lib", "/Volumes/me/eval/console", "/Volumes/me/eval/data/suite/data.csv"],
    listed=["/Volumes/me/eval/data/suite"],
    scratch=SCRATCH,
    links=["/Volumes/me/eval/.venv/bin/python"],
)
RULES = read_profile(build_profile(REACH))
READS = ("file-read-data", "file-read-metadata", "file-read-xattr")
WRITES = (
    "file-write-data", "file-write-create", "file-write-unlink", "file-write-mode", "file-write-times",
    "file-write-xattr", "file-write-owner", "file-write-flags",
)  # fmt: skip


def allows(operation: str, **facts: str) -> bool:
    return is_allowed(RULES, operation, **facts)


@pytest.mark.parametrize("operation", ["network-outbound", "network-inbound", "network-bind"])
def test_there_is_no_network(operation: str) -> None:
    assert not allows(operation)
    assert not allows(operation, path=f"{SCRATCH}/socket")
    assert not allows(operation, domain="AF_UNIX")


def test_sockets_can_only_be_pairs() -> None:
    assert allows("system-socket", domain="AF_UNIX")
    assert not allows("system-socket", domain="AF_SYSTEM")


@pytest.mark.parametrize("operation", WRITES)
def test_only_the_scratch_folder_is_written(operation: str) -> None:
    assert allows(operation, path=f"{SCRATCH}/note.txt")
    outside = (
        "/Volumes/me/.zshrc", "/Volumes/me/eval/console/cli/main.py", PYTHON, "/private/tmp/x", f"{SCRATCH}-2/x",
        "/private/var/folders/x", "/opt/python/lib/site.py", "/", "/dev/zero", "/dev/disk0",
    )  # fmt: skip
    assert [path for path in outside if allows(operation, path=path)] == []


def test_output_can_be_thrown_away() -> None:
    assert allows("file-write-data", path="/dev/null")
    assert not allows("file-write-unlink", path="/dev/null")


@pytest.mark.parametrize("operation", READS)
def test_files_of_the_user_are_not_read(operation: str) -> None:
    private = (
        "/Volumes/me/.ssh/id_ed25519", "/Volumes/me/.ssh", "/Volumes/me/eval/models.toml", "/Volumes/other",
        "/Volumes/me/Library/Keychains/login.keychain-db", "/private/etc/hosts", "/private/var/db/dslocal",
        "/Volumes/me/eval/console.secret", "/Library/Keychains/System.keychain", "/Volumes/backup",
    )  # fmt: skip
    assert [path for path in private if allows(operation, path=path)] == []


@pytest.mark.parametrize("operation", READS)
def test_what_the_worker_needs_is_read(operation: str) -> None:
    needed = (
        "/", PYTHON, "/opt/python/lib/python3.11/os.py", "/Volumes/me/eval/console/sandbox/inside.py",
        "/Volumes/me/eval/data/suite/data.csv", f"{SCRATCH}/note.txt", "/usr/lib/libSystem.B.dylib",
        "/System/Volumes/Preboot/Cryptexes/OS/System/Library/dyld/dyld_shared_cache_arm64e", "/dev/urandom",
    )  # fmt: skip
    assert [path for path in needed if not allows(operation, path=path)] == []


def test_the_way_to_a_path_can_be_walked_but_not_listed() -> None:
    for path in (
        "/Volumes",
        "/Volumes/me",
        "/Volumes/me/eval/.venv/bin",
        "/Volumes/me/eval/.venv/bin/python",
        "/private",
        "/var",
    ):
        assert allows("file-read-metadata", path=path), path
        assert not allows("file-read-data", path=path), path
        assert not allows("file-read-data", path=path, kind="folder"), path


def test_names_of_withheld_files_are_listed_and_their_contents_are_not_read() -> None:
    folder, withheld = "/Volumes/me/eval/data/suite", "/Volumes/me/eval/data/suite/expected.json"
    assert allows("file-read-data", path=folder, kind="folder")
    assert allows("file-read-metadata", path=withheld)
    assert not allows("file-read-data", path=withheld, kind="file")
    assert not allows("file-read-data", path="/Volumes/me/eval/data", kind="folder")


def test_the_interpreter_is_the_only_program() -> None:
    assert allows("process-exec", path=PYTHON)
    for path in ("/bin/sh", "/usr/bin/osascript", "/opt/python/bin/pip", f"{SCRATCH}/program"):
        assert not allows("process-exec", path=path), path
    assert not allows("process-fork")


def test_libraries_are_not_loaded_from_the_scratch_folder() -> None:
    assert allows("file-map-executable", path="/opt/python/lib/python3.11/lib-dynload/_ssl.so")
    assert allows("file-map-executable", path=PYTHON)
    assert not allows("file-map-executable", path=f"{SCRATCH}/evil.dylib")


@pytest.mark.parametrize("operation", ["signal", "process-info-pidinfo", "process-info-setcontrol"])
def test_other_processes_are_out_of_reach(operation: str) -> None:
    assert allows(operation, target="self")
    assert not allows(operation, target="others")
    assert not allows(operation, target="same-sandbox")


def test_facts_of_the_machine_are_read_but_nothing_of_processes() -> None:
    assert allows("sysctl-read", sysctl="hw.ncpu")
    assert allows("sysctl-read", sysctl="hw.optional.arm.FEAT_SHA256")
    for name in ("kern.procargs2", "kern.proc.all", "kern.proc.pid.1", "net.routetable.0", ""):
        assert not allows("sysctl-read", sysctl=name), name
    assert not allows("sysctl-write", sysctl="hw.ncpu")


@pytest.mark.parametrize(
    "operation",
    ["mach-lookup", "mach-register", "iokit-open", "ipc-posix-shm-write-create", "appleevent-send", "lsopen",
     "user-preference-read", "file-link", "file-clone", "file-ioctl", "system-privilege", "job-creation", "made-up"],
)  # fmt: skip
def test_everything_else_is_denied(operation: str) -> None:
    assert not allows(operation, path=f"{SCRATCH}/x")


HOSTILE = st.text(st.sampled_from("ab\"\\();#'$`|& é日\u0301{}*"), min_size=1, max_size=20)
PATHS = st.lists(HOSTILE, min_size=1, max_size=3).map(lambda parts: "/" + "/".join(parts))


@given(PATHS)
def test_a_hostile_name_is_one_path_and_nothing_else(path: str) -> None:
    rules = read_profile(build_profile(Reach([PYTHON], [f"/r{path}"], [f"/l{path}"], f"/s{path}")))
    assert len(rules) == len(RULES)
    assert [len(rule.filters) for rule in rules[:6]] == [len(rule.filters) for rule in RULES[:6]]
    assert is_allowed(rules, "file-read-data", path=f"/r{path}/x")
    assert is_allowed(rules, "file-read-data", path=f"/l{path}", kind="folder")
    assert is_allowed(rules, "file-write-data", path=f"/s{path}/x")
    assert not is_allowed(rules, "file-write-data", path=f"/r{path}/x")
    assert not is_allowed(rules, "file-read-data", path="/Volumes/me/.ssh/id")
    assert not is_allowed(rules, "file-write-data", path="/Volumes/me/.zshrc")
    assert not is_allowed(rules, "network-outbound")


@pytest.mark.parametrize("path", ["/a\nb", "/a\0b", "/a\rb", "/a\x7fb", "relative", ""])
def test_a_path_that_readers_may_take_differently_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r"control character|not an absolute path"):
        quoted(path)


def test_nothing_listed_means_no_rule_that_matches_everything() -> None:
    rules = read_profile(build_profile(Reach([], [], [], SCRATCH)))
    assert not is_allowed(rules, "file-read-data", path="/Volumes/me", kind="folder")
    assert not is_allowed(rules, "process-exec", path="/bin/sh")
    assert all(rule.filters for rule in rules if rule.allows)
