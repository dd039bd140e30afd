"""Certificates for tests of TLS."""

import datetime
import ipaddress

import pytest


class Authority:
    """Makes certificates."""

    def __init__(self):
        self.key, self.certificate = _certificate("authority", None)

    def root(self):
        """Its own certificate, PEM."""
        return _pem(self.certificate)

    def issue(self, name):
        """A key and a certificate, both PEM."""
        key, certificate = _certificate(name, self)
        return _pem_key(key), _pem(certificate)


def _certificate(name, authority):
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.timezone.utc)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(authority.certificate.subject if authority else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=authority is None, path_length=None), True)
        .add_extension(x509.SubjectAlternativeName(names), False)
    )
    return key, builder.sign(authority.key if authority else key, hashes.SHA256())


def _pem(certificate):
    from cryptography.hazmat.primitives import serialization

    return certificate.public_bytes(serialization.Encoding.PEM)


def _pem_key(key):
    from cryptography.hazmat.primitives import serialization

    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


@pytest.fixture
def new_authority():
    """Makes authorities that do not know each other."""
    return Authority


@pytest.fixture
def authority(new_authority):
    return new_authority()
