"""Sign evidence with a steward's key (Ed25519), and verify it anywhere, without the data.

What is signed are the hashes of all files of the evidence, who signed, and when. The signature file is read strictly:
it must be, byte by byte, what would be written for its content, so that no byte of it can change unseen.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.common.extras import needing_extra
from incrowd.common.records import dataclass
from incrowd.common.writing import write_secret, write_text
from incrowd.errors import OutputError, SourceError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

SIGNATURE = "evidence.sig"
PASSPHRASE = "INCROWD_KEY_PASSPHRASE"
"""What opens the steward's key, if it is locked."""
_FILES = ("evidence.html", "evidence.json")
_KEYS = {"format", "files", "signed by", "signed at", "public key", "signature"}


@dataclass(frozen=True)
class Signed:
    """Who signed evidence, and when; `faults` is empty if every byte is as it was signed."""

    signed_by: str
    signed_at: str
    fingerprint: str
    faults: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether nothing was changed."""
        return not self.faults

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "holds": self.holds,
            "signed by": self.signed_by,
            "signed at": self.signed_at,
            "fingerprint of the key": self.fingerprint,
            "faults": list(self.faults),
        }


def new_key(path: str | Path) -> tuple[Path, Path, str]:
    """Make a key: `path` is secret (mode 0600), `path.pub` is for everybody; return both, and the fingerprint.

    If the environment has `INCROWD_KEY_PASSPHRASE`, the secret one is locked with it.
    """
    with needing_extra("evidence", "signing"):
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    secret, public = Path(path), Path(f"{path}.pub")
    for one in (secret, public):
        if os.path.lexists(one):
            raise OutputError(f"{one} is there already.  Hint: name another file; a key is never replaced.")
    key = Ed25519PrivateKey.generate()
    phrase = _passphrase()
    lock = serialization.BestAvailableEncryption(phrase) if phrase else serialization.NoEncryption()
    write_secret(secret, key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, lock))
    pem = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    write_text(public, pem.decode("ascii"), force=False)
    return secret, public, _fingerprint(_raw(key.public_key()))


def sign(directory: str | Path, key: str | Path, *, signed_by: str) -> Path:
    """Sign the files of evidence in a directory; return the signature's file."""
    secret = _private_key(Path(key))
    told = {
        "format": 1,
        "files": _hashes(Path(directory)),
        "signed by": signed_by,
        "signed at": datetime.now(UTC).isoformat(timespec="seconds"),
        "public key": _raw(secret.public_key()).hex(),
    }
    path = Path(directory) / SIGNATURE
    write_text(path, _written({**told, "signature": secret.sign(_signed_bytes(told)).hex()}))
    return path


def verify(directory: str | Path, *, public_key: str | Path | None = None) -> Signed:
    """Check the signature of evidence: that all is as it was signed, and, with a key, that this one signed it."""
    with needing_extra("evidence", "verifying a signature"):
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    path = Path(directory) / SIGNATURE
    text = _read(path)
    told = _parsed(text)
    if told is None:
        return Signed("nobody", "", "", (f"{SIGNATURE} is not a signature, or was changed.",))
    faults = []
    raw, signature = bytes.fromhex(told["public key"]), bytes.fromhex(told["signature"])
    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(signature, _signed_bytes(told))
    except (InvalidSignature, ValueError):
        faults.append(f"{SIGNATURE} was changed: the signature does not fit what it says.")
    found = _hashes(Path(directory), missing_ok=True)
    faults += [
        f"{name} was changed, or is missing." for name, digest in told["files"].items() if found.get(name) != digest
    ]
    faults += [f"{name} is not among what was signed." for name in _FILES if name not in told["files"]]
    if public_key is not None and _raw(_public_key(Path(public_key))) != raw:
        faults.append("another key than the one that you named signed it.")
    return Signed(told["signed by"], told["signed at"], _fingerprint(raw), tuple(faults))


def _hashes(directory: Path, *, missing_ok: bool = False) -> dict[str, str]:
    found = {}
    for name in _FILES:
        try:
            found[name] = hashlib.sha256((directory / name).read_bytes()).hexdigest()
        except OSError as error:
            if not missing_ok:
                raise SourceError(f"{directory / name} cannot be read: {error.strerror}.") from error
    return found


def _signed_bytes(told: Mapping[str, Any]) -> bytes:
    """Return what is signed, as bytes that depend on nothing but what it says."""
    content = {key: value for key, value in told.items() if key != "signature"}
    return b"incrowd evidence 1\0" + json.dumps(content, sort_keys=True, ensure_ascii=True).encode("ascii")


def _written(told: Mapping[str, Any]) -> str:
    return json.dumps(told, indent=2, sort_keys=True, ensure_ascii=True) + "\n"


def _parsed(text: str) -> dict[str, Any] | None:
    """Read a signature's file; None where it is not, byte by byte, one that was written here."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or set(told) != _KEYS or _written(told) != text:
        return None
    texts = [told[key] for key in ("signed by", "signed at", "public key", "signature")]
    files = told["files"]
    if told["format"] != 1 or not isinstance(files, dict) or not all(isinstance(one, str) for one in texts):
        return None
    if not all(isinstance(one, str) for one in files.values()):
        return None
    try:
        raw = [bytes.fromhex(told[key]) for key in ("public key", "signature")]
    except ValueError:
        return None
    as_written = [one.hex() for one in raw] == [told["public key"], told["signature"]]  # and not in capitals
    return told if as_written and [len(one) for one in raw] == [32, 64] else None


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.  Hint: is the evidence signed?") from error
    except UnicodeDecodeError:
        return ""


def _private_key(path: Path) -> Ed25519PrivateKey:
    with needing_extra("evidence", "signing"):
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    try:
        key = load_pem_private_key(path.read_bytes(), _passphrase())
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.") from error
    except TypeError:
        raise SourceError(
            f"{path} does not open.  Hint: {PASSPHRASE} in the environment must be its passphrase, or unset."
        ) from None
    except ValueError:
        raise SourceError(f"{path} is not a key, or its passphrase is another one.") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise SourceError(f"{path} is another kind of key.  Hint: `incrowd evidence --new-key FILE` makes one.")
    return key


def _public_key(path: Path) -> Ed25519PublicKey:
    with needing_extra("evidence", "verifying a signature"):
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
    try:
        key = load_pem_public_key(path.read_bytes())
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError:
        raise SourceError(f"{path} is not a public key.  Hint: it is the file that ends in .pub.") from None
    if not isinstance(key, Ed25519PublicKey):
        raise SourceError(f"{path} is another kind of key.")
    return key


def _raw(key: Ed25519PublicKey) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def _fingerprint(raw: bytes) -> str:
    """Return what people compare: the first bytes of the key's hash, in groups."""
    digest = hashlib.sha256(raw).hexdigest()[:32]
    return " ".join(digest[place : place + 4] for place in range(0, 32, 4))


def _passphrase() -> bytes | None:
    return os.environ.get(PASSPHRASE, "").encode("utf-8") or None
