"""The keys that records are signed with: made, kept, found again, and never given away."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import subprocess
import traceback
from base64 import b64decode
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_public_key,
)

from geminids.core.errors import GeminidsError
from geminids.sharing.records import der
from geminids.sharing.records.errors import (
    AmbiguousKeyError,
    EmptyPassphraseError,
    IssuerError,
    KeyAlgorithmError,
    KeyExistsError,
    KeyNameError,
    KeyNotFoundError,
    NoDefaultKeyError,
    NoKeyError,
    PassphraseNeededError,
    UnusableKeyError,
)
from geminids.sharing.records.keys import Ask, KeyStore, PrivateKey, load_private
from tests.conftest import NOW

SECRET = b"correct horse"


@pytest.fixture
def keys(tmp_path: Path) -> KeyStore:
    return KeyStore(str(tmp_path / "data" / "keys"))


def mode(path: str | Path) -> int:
    return stat.S_IMODE(Path(path).stat().st_mode)


def signs(private: PrivateKey, public_pem: str) -> bool:
    """Whether what the private half signs is verified by the public one; raises if it is not."""
    public = load_pem_public_key(public_pem.encode())
    if isinstance(private, ed25519.Ed25519PrivateKey):
        assert isinstance(public, ed25519.Ed25519PublicKey)
        public.verify(private.sign(b"this"), b"this")
    else:
        assert isinstance(public, ec.EllipticCurvePublicKey)
        algorithm = ec.ECDSA(SHA256())
        public.verify(private.sign(b"this", algorithm), b"this", algorithm)
    return True


def tell(asked: list[str], passphrase: bytes = SECRET) -> Ask:
    def ask(words: str) -> bytes:
        asked.append(words)
        return passphrase

    return ask


def typed(passphrase: bytes = SECRET) -> Ask:
    return tell([], passphrase)


@pytest.mark.parametrize("algorithm", ["ed25519", "es256"])
@pytest.mark.parametrize("passphrase", [None, SECRET], ids=["open", "passphrase"])
def test_a_key_is_made_kept_and_found_again(keys: KeyStore, algorithm: str, passphrase: bytes | None) -> None:
    made = keys.new("main", algorithm, "Ana Lopez", passphrase, NOW)
    assert (made.name, made.algorithm, made.issuer, made.created_at) == ("main", algorithm, "Ana Lopez", NOW)
    assert made.has_passphrase is (passphrase is not None)
    assert made.is_default
    public = load_pem_public_key(made.public_pem.encode())
    spki = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    assert made.key_id == hashlib.sha256(spki).hexdigest()
    again = KeyStore(keys.folder)
    assert again.all() == [made]
    assert again.default() == again.get("main") == again.get(made.key_id) == made
    asked: list[str] = []
    assert signs(again.private("main", tell(asked)), made.public_pem)
    assert asked == (["Passphrase of the key 'main'"] if passphrase else [])
    assert again.public("main") == public


def test_files_are_for_this_user_alone(keys: KeyStore) -> None:
    before = os.umask(0)
    try:
        keys.new("main")
    finally:
        os.umask(before)
    assert mode(keys.folder) == 0o700
    assert {file.name: mode(file) for file in Path(keys.folder).iterdir()} == {
        "main.pem": 0o600,
        "main.pub.pem": 0o600,
        "main.json": 0o600,
    }
    assert Path(keys.private_path("main")).read_bytes().startswith(b"-----BEGIN PRIVATE KEY-----\n")


def test_a_passphrase_costs_scrypt_to_guess_and_openssl_reads_the_file(keys: KeyStore) -> None:
    made = keys.new("main", "ed25519", None, SECRET)
    content = Path(keys.private_path("main")).read_text()
    assert content.startswith("-----BEGIN ENCRYPTED PRIVATE KEY-----\n")
    assert max(map(len, content.splitlines())) == 64
    encoded = b64decode("".join(content.splitlines()[1:-1]))
    scheme = der.single(encoded).inner(der.SEQUENCE)[0].inner(der.SEQUENCE)
    derivation = scheme[1].inner(der.SEQUENCE)[0].inner(der.SEQUENCE)
    assert der.object_name(derivation[0]) == "1.3.6.1.4.1.11591.4.11"
    assert [der.whole_number(cost) for cost in derivation[1].inner()[1:]] == [16384, 8, 5]
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl: whether it reads our files was not tried")
    line = [
        openssl,
        "pkey",
        "-in",
        keys.private_path("main"),
        "-passin",
        f"pass:{SECRET.decode()}",
        "-pubout",
    ]
    assert subprocess.run(line, check=True, capture_output=True, text=True).stdout == made.public_pem


def test_the_same_passphrase_never_gives_the_same_bytes(keys: KeyStore) -> None:
    from geminids.sharing.records.key_files import private_pem

    private = ed25519.Ed25519PrivateKey.generate()
    assert private_pem(private, SECRET) != private_pem(private, SECRET)


def test_a_key_never_replaces_another(keys: KeyStore) -> None:
    made = keys.new("main")
    before = {file.name: file.read_bytes() for file in Path(keys.folder).iterdir()}
    with pytest.raises(KeyExistsError, match=r"A key 'main' already exists: .*main\.pem'"):
        keys.new("main")
    assert {file.name: file.read_bytes() for file in Path(keys.folder).iterdir()} == before
    assert keys.all() == [made]


@pytest.mark.parametrize("lonely", ["main.pem", "main.pub.pem", "main.json"])
def test_nothing_is_made_where_one_of_its_files_is(keys: KeyStore, lonely: str) -> None:
    Path(keys.folder).mkdir(parents=True)
    (Path(keys.folder) / lonely).write_text("mine")
    with pytest.raises(KeyExistsError, match=lonely):
        keys.new("main")
    assert [file.name for file in Path(keys.folder).iterdir()] == [lonely]


def test_a_full_disk_leaves_nothing(keys: KeyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        keys.new("main")
    assert not Path(keys.folder).exists()
    assert keys.all() == []


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        ".hidden",
        "-dash",
        "a/b",
        "../a",
        "a\\b",
        "a b",
        "a\n",
        "a\0",
        "ä",
        "a.pub",
        "A.PUB",
        "a.",
        "x" * 65,
        "~",
        "$HOME",
        "a:b",
    ],
)
def test_names_that_could_lead_elsewhere_are_refused(keys: KeyStore, name: str) -> None:
    with pytest.raises(KeyNameError):
        keys.new(name)
    assert not Path(keys.folder).exists()
    with pytest.raises(KeyNotFoundError):
        keys.get(name)
    with pytest.raises(KeyNotFoundError):
        keys.private(name)


@pytest.mark.parametrize("name", ["a", "A-1_b.c", "2026", "x" * 64, "a.json", "a.pem"])
def test_names_that_are_none_of_these_are_taken(keys: KeyStore, name: str) -> None:
    assert keys.new(name).name == name
    assert [key.name for key in keys.all()] == [name]
    assert keys.found().strange == []


def test_a_key_can_be_called_by_the_beginning_of_its_id(keys: KeyStore) -> None:
    made = [keys.new(f"key{number}") for number in range(3)]
    for key in made:
        assert keys.get(key.key_id) == key
        assert keys.get(key.key_id[:20]) == key
        assert keys.get(key.key_id[:20].upper()) == key
    with pytest.raises(KeyNotFoundError, match="Available: key0, key1, key2"):
        keys.get(made[0].key_id[:3])
    with pytest.raises(KeyNotFoundError):
        keys.get("")


def test_a_name_goes_before_an_id(keys: KeyStore) -> None:
    first = keys.new("main")
    named = keys.new(first.key_id[:8])
    assert keys.get(first.key_id[:8]) == named
    assert keys.get(first.key_id[:9]) == first


def test_several_keys_with_one_beginning_are_named(keys: KeyStore) -> None:
    keys.new("one")
    for suffix in (".pem", ".pub.pem"):
        shutil.copy(f"{keys.folder}/one{suffix}", f"{keys.folder}/two{suffix}")
    with pytest.raises(AmbiguousKeyError, match="could be any of one, two"):
        keys.get(keys.get("one").key_id[:8])


def test_the_first_key_is_the_default(keys: KeyStore) -> None:
    with pytest.raises(NoKeyError, match="`geminids key new --issuer NAME`") as error:
        keys.default()
    assert error.value.exit_code == 1
    keys.new("zebra", at=NOW)
    keys.new("ant", at=NOW)
    assert keys.default().name == "zebra"
    assert [(key.name, key.is_default) for key in keys.all()] == [("ant", False), ("zebra", True)]
    for suffix in (".pem", ".pub.pem", ".json"):
        Path(f"{keys.folder}/zebra{suffix}").unlink()
    assert keys.default().name == "ant"
    keys.new("bee")
    with pytest.raises(NoDefaultKeyError, match="Choose one with --key: ant, bee"):
        keys.default()


def test_facts_that_got_lost_leave_a_key_usable(keys: KeyStore) -> None:
    made = keys.new("main", "es256", "Ana", at=NOW)
    Path(f"{keys.folder}/main.json").unlink()
    os.utime(keys.private_path("main"), (1_000_000_000, 1_000_000_000))
    (found,) = keys.all()
    assert found == msgspec.structs.replace(
        made, issuer=None, created_at=datetime.fromtimestamp(1_000_000_000, UTC)
    )
    assert keys.found().strange == []
    assert keys.default() == found
    assert signs(keys.private("main"), made.public_pem)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"issuer": 1}', b'{"created_at": "soon"}', b"\xff", b"\0" * 100_000]
)
def test_facts_that_are_damaged_are_named(keys: KeyStore, content: bytes) -> None:
    made = keys.new("main", "ed25519", "Ana", at=NOW)
    Path(f"{keys.folder}/main.json").write_bytes(content)
    found = keys.found()
    assert [(key.name, key.key_id, key.issuer) for key in found.keys] == [("main", made.key_id, None)]
    assert [Path(file.file).name for file in found.strange] == ["main.json"]


def test_a_public_half_that_got_lost_comes_from_the_private_one(keys: KeyStore) -> None:
    made = keys.new("main")
    Path(f"{keys.folder}/main.pub.pem").unlink()
    assert keys.all() == [made]
    assert signs(keys.private("main"), made.public_pem)


def test_a_public_half_that_only_a_passphrase_gives_is_named_with_what_to_do(keys: KeyStore) -> None:
    keys.new("main", "ed25519", None, SECRET)
    Path(f"{keys.folder}/main.pub.pem").unlink()
    assert keys.all() == []
    (strange,) = keys.found().strange
    assert strange.file == f"{keys.folder}/main.pub.pem"
    assert (
        f"openssl pkey -in {keys.folder}/main.pem -pubout -out {keys.folder}/main.pub.pem" in strange.reason
    )
    with pytest.raises(UnusableKeyError, match="openssl pkey"):
        keys.get("main")


@pytest.mark.parametrize("half", ["main.pem", "main.pub.pem"])
@pytest.mark.parametrize("content", [b"", b"junk", b"-----BEGIN PRIVATE KEY-----\nAAAA\n", b"\0" * 70_000])
def test_a_damaged_key_is_named_and_stops_nothing(keys: KeyStore, half: str, content: bytes) -> None:
    other = keys.new("other")
    keys.new("main")
    Path(f"{keys.folder}/{half}").write_bytes(content)
    with pytest.raises(GeminidsError, match="main"):
        keys.private("main")
    assert other in keys.all()
    assert signs(keys.private("other"), other.public_pem)
    if half == "main.pub.pem" or len(content) > 64 * 1024:
        assert [Path(file.file).name for file in keys.found().strange] == [half]


def test_what_is_no_key_is_named_and_left_alone(keys: KeyStore) -> None:
    keys.new("main")
    folder = Path(keys.folder)
    (folder / "notes.txt").write_text("mine")
    (folder / "of a friend.pem").write_text("x")
    (folder / "friend.pub.pem").write_text("x")
    (folder / ".DS_Store").write_text("x")
    (folder / "folder.pem").mkdir()
    os.mkfifo(folder / "pipe.pem")
    found = keys.found()
    assert [key.name for key in found.keys] == ["main"]
    assert {Path(file.file).name for file in found.strange} == {
        "notes.txt",
        "of a friend.pem",
        "friend.pub.pem",
        "folder.pem",
        "pipe.pem",
    }
    assert {file.reason for file in found.strange} == {
        "it is no key of geminids, and is left alone",
        f"the private key, {keys.folder + '/friend.pem'!r}, is missing",
        "it is no regular file",
    }
    assert (folder / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("bits", [0o640, 0o604, 0o660, 0o666, 0o644, 0o610])
def test_a_key_that_others_can_read_is_refused_with_what_to_do(keys: KeyStore, bits: int) -> None:
    made = keys.new("main")
    path = Path(keys.private_path("main"))
    path.chmod(bits)
    with pytest.raises(UnusableKeyError, match=rf"mode {bits:o}\)\. `chmod 600 {path}` fixes that"):
        keys.private("main")
    with pytest.raises(UnusableKeyError, match="chmod 600"):
        load_private(path)
    # It still verifies, and the list says what to do.
    assert keys.all() == [made]
    assert [file.file for file in keys.found().strange] == [str(path)]
    path.chmod(0o400)
    assert signs(keys.private("main"), made.public_pem)


def test_a_folder_that_others_can_change_is_refused(keys: KeyStore) -> None:
    keys.new("main")
    Path(keys.folder).chmod(0o770)
    with pytest.raises(UnusableKeyError, match="chmod 700"):
        keys.private("main")
    with pytest.raises(UnusableKeyError, match="chmod 700"):
        keys.new("other")
    Path(keys.folder).chmod(0o755)
    assert keys.private("main")


def test_halves_of_two_keys_are_no_key(keys: KeyStore) -> None:
    keys.new("one")
    keys.new("two")
    shutil.copy(f"{keys.folder}/two.pub.pem", f"{keys.folder}/one.pub.pem")
    with pytest.raises(UnusableKeyError, match="is that of another key"):
        keys.private("one")


def test_a_folder_that_is_none_or_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("")
    keys = KeyStore(str(tmp_path / "keys"))
    with pytest.raises(UnusableKeyError, match="Not a directory"):
        keys.all()
    with pytest.raises(UnusableKeyError, match="it is not a folder"):
        keys.new("main")
    assert KeyStore(str(tmp_path / "nowhere")).all() == []


def test_without_anybody_to_ask_a_passphrase_is_needed(keys: KeyStore) -> None:
    keys.new("main", "ed25519", None, SECRET)
    with pytest.raises(PassphraseNeededError, match=r"'main' needs a passphrase.*GEMINIDS_KEY_PASSPHRASE"):
        keys.private("main")


@pytest.mark.parametrize("wrong", [b"", b"wrong horse", SECRET + b"\n"])
def test_a_wrong_passphrase_is_told_and_never_shown(keys: KeyStore, wrong: bytes) -> None:
    keys.new("main", "ed25519", None, SECRET)
    with pytest.raises(UnusableKeyError, match="wrong passphrase") as error:
        keys.private("main", typed(wrong))
    shown = "".join(traceback.format_exception(error.value))
    assert not wrong or wrong.decode() not in shown


def test_no_message_holds_anything_of_a_private_key(keys: KeyStore) -> None:
    keys.new("main")
    path = Path(keys.private_path("main"))
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1][:-8], lines[2]]))
    with pytest.raises(UnusableKeyError) as error:
        keys.private("main")
    assert lines[1][:20] not in "".join(traceback.format_exception(error.value))


def test_an_empty_passphrase_an_odd_issuer_and_an_unknown_algorithm_are_refused(keys: KeyStore) -> None:
    with pytest.raises(EmptyPassphraseError):
        keys.new("main", "ed25519", None, b"")
    for issuer in ("", " ", "two\nlines", "x" * 301, "\x1b[31m"):
        with pytest.raises(IssuerError):
            keys.new("main", "ed25519", issuer)
    with pytest.raises(KeyAlgorithmError, match="Available: ed25519, es256"):
        keys.new("main", "rsa")
    assert not Path(keys.folder).exists()


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    path.chmod(0o600)
    return path


FORMS = [
    (ed25519.Ed25519PrivateKey.generate, PrivateFormat.PKCS8, True),
    (lambda: ec.generate_private_key(ec.SECP256R1()), PrivateFormat.PKCS8, True),
    (lambda: ec.generate_private_key(ec.SECP256R1()), PrivateFormat.TraditionalOpenSSL, True),
    (ed25519.Ed25519PrivateKey.generate, PrivateFormat.OpenSSH, False),
    (lambda: ec.generate_private_key(ec.SECP256R1()), PrivateFormat.OpenSSH, False),
]


@pytest.mark.parametrize(
    ("make", "form", "can_be_locked"), FORMS, ids=["pkcs8-ed", "pkcs8-ec", "sec1", "openssh-ed", "openssh-ec"]
)
def test_a_key_of_another_program_is_taken(
    tmp_path: Path, make: Callable[[], PrivateKey], form: PrivateFormat, can_be_locked: bool
) -> None:
    private = make()
    path = written(tmp_path / "a key.pem", private.private_bytes(Encoding.PEM, form, NoEncryption()))
    assert load_private(path).public_key() == private.public_key()
    assert load_private(str(path)).public_key() == private.public_key()
    if not can_be_locked:
        return
    written(path, private.private_bytes(Encoding.PEM, form, BestAvailableEncryption(SECRET)))
    with pytest.raises(PassphraseNeededError):
        load_private(path)
    with pytest.raises(UnusableKeyError, match="wrong passphrase"):
        load_private(path, typed(b"wrong"))
    asked: list[str] = []
    assert load_private(path, tell(asked)).public_key() == private.public_key()
    assert asked == [f"Passphrase of {str(path)!r}"]


def test_a_key_of_ssh_keygen_is_taken(tmp_path: Path) -> None:
    program = shutil.which("ssh-keygen")
    if program is None:
        pytest.skip("no ssh-keygen: its keys were not tried")
    line = [program, "-q", "-t", "ed25519", "-C", "", "-f", str(tmp_path / "key")]
    subprocess.run([*line, "-N", ""], check=True)
    assert isinstance(load_private(tmp_path / "key"), ed25519.Ed25519PrivateKey)
    (tmp_path / "key").unlink()
    subprocess.run([*line, "-N", "secret"], check=True)
    with pytest.raises(PassphraseNeededError):
        load_private(tmp_path / "key")
    try:
        assert isinstance(load_private(tmp_path / "key", typed(b"secret")), ed25519.Ed25519PrivateKey)
    except UnusableKeyError as error:
        # What opens these is one more package, which need not be there.
        assert "ssh-keygen -p" in str(error)  # noqa: PT017


def test_a_key_from_a_pipe_is_taken(tmp_path: Path) -> None:
    private = ed25519.Ed25519PrivateKey.generate()
    reader, writer = os.pipe()
    os.write(writer, private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    os.close(writer)
    try:
        assert load_private(f"/dev/fd/{reader}").public_key() == private.public_key()
    finally:
        os.close(reader)


@pytest.mark.parametrize(
    "private",
    [
        rsa.generate_private_key(public_exponent=65537, key_size=1024),
        ec.generate_private_key(ec.SECP384R1()),
        ec.generate_private_key(ec.SECP256K1()),
    ],
    ids=["rsa", "p384", "k256"],
)
def test_a_key_of_another_kind_is_refused(
    tmp_path: Path, private: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey
) -> None:
    content = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with pytest.raises(UnusableKeyError, match="only Ed25519 and P-256 keys can sign records"):
        load_private(written(tmp_path / "key.pem", content))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is not a PEM file"),
        (b"hello", "it is not a PEM file"),
        (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "no readable private key"),
        (b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "no readable private key"),
        (b"-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n", "no readable private key"),
        (
            b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
            "no readable private key",
        ),
        (b"x" * 100_000, "longer than"),
    ],
)
def test_a_file_that_holds_no_key_is_told(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(UnusableKeyError, match=reason):
        load_private(written(tmp_path / "key.pem", content), typed())


def test_a_public_key_does_not_sign(tmp_path: Path, keys: KeyStore) -> None:
    path = written(tmp_path / "key.pem", keys.new("main").public_pem.encode())
    with pytest.raises(UnusableKeyError, match="it is a public key; signing needs the private key"):
        load_private(path)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnusableKeyError, match="No such file"):
        load_private(tmp_path / "key.pem")
    with pytest.raises(UnusableKeyError, match="Is a directory"):
        load_private(tmp_path)


def test_facts_say_nothing_secret(keys: KeyStore) -> None:
    keys.new("main", "ed25519", "Ana", SECRET, NOW)
    facts = json.loads(Path(f"{keys.folder}/main.json").read_text())
    assert facts == {"issuer": "Ana", "created_at": "2026-06-15T12:00:00Z", "default": True}


@pytest.mark.parametrize("number", [0, 1, 127, 128, 255, 256, 16384, 1 << 64])
def test_der_numbers_are_read_as_they_were_written(number: int) -> None:
    assert der.whole_number(der.single(der.written_number(number))) == number


@pytest.mark.parametrize("name", ["1.2.840.113549.1.7.2", "2.16.840.1.101.3.4.2.1", "0.0", "2.999.128"])
def test_der_names_are_read_as_they_were_written(name: str) -> None:
    assert der.object_name(der.single(der.written_object(name))) == name


@pytest.mark.parametrize("length", [0, 127, 128, 255, 256, 65536])
def test_der_lengths_have_one_form(length: int) -> None:
    content = der.written(der.OCTETS, b"x" * length)
    assert der.single(content) == der.Element(der.OCTETS, b"x" * length, content)


@pytest.mark.parametrize(
    "content", ["", "04", "0401", "048100", "04810178", "0482000178", "0480780000", "0401780500", "1f0100"]
)
def test_what_is_no_der_is_refused(content: str) -> None:
    with pytest.raises(der.DerError):
        der.single(bytes.fromhex(content))
