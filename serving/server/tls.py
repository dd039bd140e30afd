"""TLS for REST, by the settings that gRPC has."""

import ssl
import tempfile
from pathlib import Path

from pairloom.serving.server.config_files import TlsSettings


def context_of(tls: TlsSettings) -> ssl.SSLContext:
    """What Python's own TLS needs; TLS 1.2 at least."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # Python reads a key from a file alone; this one is its owner's alone, and gone at once.
    with tempfile.TemporaryDirectory(prefix="pairloom-") as folder:
        file = Path(folder) / "pem"
        file.touch(mode=0o600)
        file.write_bytes(tls.key + b"\n" + tls.certificate)
        context.load_cert_chain(file)
    if tls.authority:
        context.load_verify_locations(cadata=tls.authority.decode())
    if tls.client_verify:
        context.verify_mode = ssl.CERT_REQUIRED
    return context
