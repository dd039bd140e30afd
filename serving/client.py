"""A client for pairloom models, behind this project's server or behind stock TF Serving.

It needs grpcio, protobuf and NumPy, not TensorFlow, so it starts in a fraction of a second.
"""

from collections.abc import Sequence
from typing import Any

import grpc
import numpy as np

from pairloom.serving import wire
from pairloom.serving.answers import (
    Answer,
    Explanation,
    Metadata,
    Score,
    Signature,
    TensorInfo,
    VersionStatus,
)
from pairloom.serving.client_errors import (
    BadRequest,
    ClientError,
    ModelNotFound,
    ServerUnavailable,
    TooManyTexts,
    client_error,
)

__all__ = [
    "BadRequest",
    "Client",
    "ClientError",
    "ModelNotFound",
    "ServerUnavailable",
    "TooManyTexts",
]

# A name that gRPC looks up, and asks all whom it finds.
_RESOLVED = "dns:///"

Text = str | bytes
Texts = Text | Sequence[Text]


class Client:
    """Asks a model server over gRPC.

    ```python
    with Client("localhost:8500") as client:
        client.predict("hello")[0].text
        client.predict(source=["a photo"], question=["of what?"])
    ```

    Args:
        address: `host:port` of the server's gRPC port; the port defaults to 8500, the host to
            this one. Or `unix:PATH` of its `--grpc_socket_path`, or `dns:///host:port` where a name
            stands for several servers, which are then asked in turns.
        model: The model's name. `default` is the only model of a pairloom server; stock TF
            Serving wants the name it was started with.
        version: A version, or None for the newest.
        timeout: Seconds to wait for an answer.
        label: A version's label, in place of `version`.
        token: What a server with a token wants to see.
        credentials: For a server with TLS, `grpc.ssl_channel_credentials(...)`.
    """

    def __init__(
        self,
        address: str = "localhost:8500",
        model: str = "default",
        version: int | None = None,
        timeout: float = 30.0,
        label: str = "",
        token: str = "",
        credentials: grpc.ChannelCredentials | None = None,
    ):
        if version is not None and label:
            raise ValueError(
                "Expected a `version` or a `label`, not both. "
                f"Received: version={version}, label={label!r}."
            )
        if version is not None and not 0 <= version < 2**63:
            raise ValueError(f"`version` must be a number in [0, 2**63). Received: {version}.")
        if "://" in address and not address.startswith(_RESOLVED):
            raise ValueError(
                f"`address` must be host:port of the gRPC port, such as localhost:8500. "
                f"Received: {address!r}."
            )
        self.address = _host_and_port(address)
        self.model = model
        self.version = version
        self.label = label
        self.timeout = timeout
        self._metadata = [("authorization", f"Bearer {token}")] if token else []
        options: list[tuple[str, int | str]] = [
            ("grpc.max_receive_message_length", -1),
            ("grpc.max_send_message_length", -1),
        ]
        if self.address.startswith(_RESOLVED):
            # The name stands for several servers, which take turns.
            options.append(("grpc.lb_policy_name", "round_robin"))
        if self.address.startswith(("localhost:", "127.", "[::1]:")):
            # A proxy set for the outside world must not carry requests to this machine.
            options.append(("grpc.enable_http_proxy", 0))
        if credentials is None:
            self._channel = grpc.insecure_channel(self.address, options=options)
        else:
            self._channel = grpc.secure_channel(self.address, credentials, options=options)
        self._signatures: dict[str, Signature] | None = None

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection."""
        self._channel.close()

    def predict(self, texts: Texts | None = None, /, **fields: Texts) -> list[Answer]:
        """The model's best answer to each input.

        Args:
            texts: One text or several, for a model with one input.
            **fields: The inputs by name, for a model with several.
        """
        outputs = self._run("serving_default", texts, fields)
        texts_out = _strings(outputs[_answer_name(outputs)])
        scores = _scores(outputs, len(texts_out))
        return [Answer(text, float(s)) for text, s in zip(texts_out, scores, strict=True)]

    def nbest(self, texts: Texts | None = None, /, **fields: Texts) -> list[list[Answer]]:
        """The model's best few answers to each input, best first."""
        outputs = self._run("nbest", texts, fields)
        rows = outputs[_answer_name(outputs)]
        return [
            [Answer(text, float(s)) for text, s in zip(_strings(row), scores, strict=True)]
            for row, scores in zip(rows, outputs["score"], strict=True)
        ]

    def explain(self, texts: Texts | None = None, /, **fields: Texts) -> list[Explanation]:
        """The best answer to each input, with tokens and attention."""
        outputs = self._run("explain", texts, fields)
        answers = _strings(outputs[_answer_name(outputs)])
        explained = []
        for row, text in enumerate(answers):
            source, target, attention = _alignment(outputs, row)
            score = float(outputs["score"][row])
            explained.append(Explanation(text, score, source, target, attention))
        return explained

    def score(
        self, source: Texts | None = None, target: Texts = (), /, **fields: Texts
    ) -> list[Score]:
        """How likely the model finds each target.

        Called `score(sources, targets)`, or with every field by name.
        """
        if source is not None:
            fields = {**self._named("serving_default", source), **fields}
            extra = set(self._signature("score").inputs) - set(fields)
            if len(extra) != 1:
                raise BadRequest(
                    f"Name the inputs of `score`: {', '.join(self._signature('score').inputs)}."
                )
            fields[extra.pop()] = target
        outputs = self._run("score", None, fields)
        scored = []
        for row, log_probability in enumerate(outputs["log_probability"]):
            tokens, target_tokens, attention = _alignment(outputs, row)
            scores = outputs["token_scores"][row, : len(target_tokens)]
            scored.append(Score(float(log_probability), scores, tokens, target_tokens, attention))
        return scored

    def status(self) -> list[VersionStatus]:
        """The model's versions on the server, newest first."""
        request = wire.StatusRequest()
        self._fill(request.model_spec)
        response = self._call("ModelService/GetModelStatus", request, wire.StatusResponse)
        rows = sorted(response.model_version_status, key=lambda row: -row.version)
        return [
            VersionStatus(row.version, _STATES.get(row.state, "UNKNOWN"), row.status.error_message)
            for row in rows
        ]

    def metadata(self) -> Metadata:
        """The model's signatures with their inputs and outputs."""
        request = wire.MetadataRequest(metadata_field=["signature_def"])
        self._fill(request.model_spec)
        response = self._call("PredictionService/GetModelMetadata", request, wire.MetadataResponse)
        packed = {entry.key: entry.value.value for entry in response.metadata}
        signatures = wire.SignatureMap.FromString(packed["signature_def"])
        return Metadata(
            response.model_spec.name,
            response.model_spec.version.value,
            {
                entry.key: Signature(_infos(entry.value.inputs), _infos(entry.value.outputs))
                for entry in signatures.signature_def
                # What TensorFlow keeps for itself, such as the initialiser.
                if not entry.key.startswith("__")
            },
        )

    def _run(
        self, signature: str, texts: Texts | None, fields: dict[str, Texts]
    ) -> dict[str, np.ndarray]:
        if texts is not None:
            fields = {**self._named(signature, texts), **fields}
        if not fields:
            raise BadRequest("Nothing to ask: give a text, a list of texts, or fields by name.")
        request = wire.PredictRequest()
        self._fill(request.model_spec)
        request.model_spec.signature_name = signature
        lengths = {}
        for name, values in fields.items():
            encoded = _encoded(name, values)
            lengths[name] = len(encoded)
            request.inputs.add(key=name, value=wire.string_tensor(encoded))
        if len(set(lengths.values())) > 1:
            counts = ", ".join(f"{name} has {count}" for name, count in lengths.items())
            raise BadRequest(f"Every field needs as many texts as the others. Received: {counts}.")
        response = self._call("PredictionService/Predict", request, wire.PredictResponse)
        return {entry.key: wire.array(entry.value) for entry in response.outputs}

    def _named(self, signature: str, texts: Texts) -> dict[str, Texts]:
        names = list(self._signature(signature).inputs)
        if len(names) != 1:
            raise BadRequest(
                f"Model {self.model} takes several inputs: {', '.join(names)}. Give them by name, "
                f"such as predict({names[0]}=...)."
            )
        return {names[0]: texts}

    def _signature(self, name: str) -> Signature:
        if self._signatures is None:
            self._signatures = self.metadata().signatures
        if name not in self._signatures:
            raise BadRequest(
                f"Model {self.model} has no signature {name!r}. It has: "
                f"{', '.join(sorted(self._signatures))}."
            )
        return self._signatures[name]

    def _fill(self, spec: Any) -> None:
        spec.name = self.model
        if self.version is not None:
            spec.version.value = self.version
        if self.label:
            spec.version_label = self.label

    def _call(self, method: str, request: Any, response: Any) -> Any:
        call = self._channel.unary_unary(
            f"/tensorflow.serving.{method}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=response.FromString,
        )
        try:
            return call(request, timeout=self.timeout, metadata=self._metadata)
        except grpc.RpcError as error:
            raise client_error(
                error, self.address, self.model, self.version, self.timeout
            ) from None


_STATES = {10: "START", 20: "LOADING", 30: "AVAILABLE", 40: "UNLOADING", 50: "END"}


def _host_and_port(address: str) -> str:
    """An address with what it leaves out: this machine, or port 8500."""
    if address.startswith(("unix:", _RESOLVED)):
        return address
    if address.removeprefix(":").isdigit():
        return f"localhost:{address.removeprefix(':')}"
    if address.count(":") > 1 and not address.startswith("["):
        address = f"[{address}]"
    has_port = address.rpartition("]")[2].rpartition(":")[2].isdigit() and ":" in address
    return address if has_port else f"{address}:8500"


def _encoded(name: str, values: Texts) -> list[bytes]:
    if isinstance(values, (str, bytes)):
        values = [values]
    encoded = []
    for value in values:
        if isinstance(value, str):
            try:
                encoded.append(value.encode("utf-8"))
            except UnicodeEncodeError:
                raise BadRequest(f"{name} holds a text that is not Unicode: {value!r}.") from None
        elif isinstance(value, bytes):
            encoded.append(value)
        else:
            raise BadRequest(f"{name} must hold texts. Received: {value!r}.")
    return encoded


def _answer_name(outputs: dict[str, np.ndarray]) -> str:
    if "target" in outputs:
        return "target"
    tokens = ("source_tokens", "target_tokens")
    names = [n for n, a in outputs.items() if a.dtype == np.object_ and n not in tokens]
    if len(names) != 1:
        raise BadRequest(
            f"The answer is not clear: expected an output `target`. Received: {', '.join(outputs)}."
        )
    return names[0]


def _scores(outputs: dict[str, np.ndarray], count: int) -> np.ndarray:
    return outputs["score"] if "score" in outputs else np.full(count, np.nan)


def _strings(values: np.ndarray) -> list[str]:
    return [value.decode("utf-8", "replace") for value in values]


def _alignment(
    outputs: dict[str, np.ndarray], row: int
) -> tuple[tuple[str, ...], tuple[str, ...], np.ndarray]:
    source = _tokens(outputs["source_tokens"][row])
    target = _tokens(outputs["target_tokens"][row])
    return source, target, outputs["attention"][row, : len(target), : len(source)]


def _tokens(row: np.ndarray) -> tuple[str, ...]:
    tokens = _strings(row)
    while tokens and not tokens[-1]:
        tokens.pop()
    return tuple(tokens)


def _infos(entries: Any) -> dict[str, TensorInfo]:
    infos = {}
    for entry in sorted(entries, key=lambda entry: entry.key):
        shape = entry.value.tensor_shape
        sizes = None if shape.unknown_rank else tuple(dim.size for dim in shape.dim)
        infos[entry.key] = TensorInfo(wire.type_name(entry.value.dtype), sizes)
    return infos
