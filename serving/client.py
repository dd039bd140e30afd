"""A client for pairloom models, behind this project's server or behind stock TF Serving.

It needs grpcio, protobuf and NumPy, not TensorFlow, so it starts in a fraction of a second.
"""

import secrets
from typing import Any

import grpc
import numpy as np

from pairloom.serving import client_answers, wire
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
    DEFAULT_MODEL,
    BadRequest,
    ClientError,
    ModelNotFound,
    ServerUnavailable,
    TooManyTexts,
    client_error,
)
from pairloom.serving.client_values import (
    Several,
    assumed_description,
    field_kind,
    named_tensor,
    rows_of,
)
from pairloom.serving.description import Description

__all__ = [
    "BadRequest",
    "Client",
    "ClientError",
    "ModelNotFound",
    "ServerUnavailable",
    "Several",
    "TooManyTexts",
]

# A name that gRPC looks up, and asks all whom it finds.
_RESOLVED = "dns:///"

# The input of `sample` beside those of the model.
_SEED = "seed"


class Client:
    """Asks a model server over gRPC.

    ```python
    with Client("localhost:8500") as client:
        client.predict("hello")[0].text
        client.predict(photo=jpeg, question="What is on the table?")[0].value
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
        model: str = DEFAULT_MODEL,
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
        self._description: Description | None = None

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection."""
        self._channel.close()

    @property
    def _told(self) -> str:
        """How a sentence about the model begins; nobody may have named it."""
        return "The model" if self.model == DEFAULT_MODEL else f"Model {self.model}"

    def predict(self, values: Any = None, /, **fields: Any) -> list[Answer]:
        """The model's best answer to each row of inputs.

        Args:
            values: One value or a list of several, for a model with one input; for one without, the
                beginning that it goes on from (none: it begins itself).
            **fields: The inputs by name, for a model with several.

        Raises:
            BadRequest: An input is left out, or not known, or its value is none of its kind.
        """
        asked = self._asked("serving_default", values, fields)
        return client_answers.answers(self._run("serving_default", asked), self.describe())

    def nbest(self, values: Any = None, /, **fields: Any) -> list[list[Answer]]:
        """The model's best few answers to each row, best first; asked as `predict`."""
        outputs = self._run("nbest", self._asked("nbest", values, fields))
        return client_answers.alternatives(outputs, self.describe())

    def sample(
        self, values: Any = None, /, *, seed: int | None = None, **fields: Any
    ) -> list[list[Answer]]:
        """Answers drawn as likely as the model finds them, some to each row; asked as `predict`.

        Args:
            values: As for `predict`.
            seed: With the same seed come the same answers; each row adds its number to it. None:
                others each time.
            **fields: As for `predict`.
        """
        asked = self._asked("sample", values, fields)
        first = secrets.randbits(31) if seed is None else seed
        count = max(map(len, asked.values()), default=0)
        asked[_SEED] = [first + row for row in range(count)]
        return client_answers.alternatives(self._run("sample", asked), self.describe())

    def explain(self, values: Any = None, /, **fields: Any) -> list[Explanation]:
        """The best answer to each row, with tokens and attention by field; asked as `predict`."""
        outputs = self._run("explain", self._asked("explain", values, fields))
        return client_answers.explanations(outputs, self.describe())

    def encode(self, values: Any = None, /, **fields: Any) -> np.ndarray:
        """What the model makes of the inputs before it answers, `(rows, units)`.

        Asked as `predict`; a model without inputs encodes values of its output.
        """
        return self._run("encode", self._asked("encode", values, fields))["summary"]

    def score(self, source: Any = None, target: Any = (), /, **fields: Any) -> list[Score]:
        """How likely the model finds each target.

        Called `score(sources, targets)`, for a model without inputs `score(targets)`, or with every
        field by name.
        """
        if source is not None:
            fields = {**self._positional(source, target), **fields}
        outputs = self._run("score", self._asked("score", None, fields))
        return client_answers.scores(outputs, self.describe())

    def describe(self) -> Description:
        """What the model reads and writes, as it tells by its signature `describe`.

        Of a model that has none: what its signatures tell.
        """
        if self._description is None:
            if "describe" in self._known():
                # One row of nothing in particular, where it takes an input: TF Serving's REST API
                # and its batches know no signature without one.
                infos = self._signature("describe").inputs
                asked = {name: [b"" if i.dtype == "string" else 0] for name, i in infos.items()}
                [told] = self._run("describe", asked)["description"].ravel()
                try:
                    self._description = Description.from_json(told)
                except ValueError as error:
                    raise ClientError(f"{self._told} does not describe itself: {error}") from None
            else:
                self._description = assumed_description(self._known())
        return self._description

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

    def _positional(self, source: Any, target: Any) -> dict[str, Any]:
        """The fields of `score(source, target)`, by name."""
        inputs = list(self._signature("score").inputs)
        named = [field.name for field in self.describe().inputs]
        given = [name for name in inputs if name not in named]
        if len(named) > 1 or len(given) != 1:
            raise BadRequest(f"Name the inputs of `score`: {', '.join(inputs)}.")
        return {named[0]: source, given[0]: target} if named else {given[0]: source}

    def _asked(self, signature: str, values: Any, fields: dict[str, Any]) -> dict[str, list[Any]]:
        """What is asked, checked: each input to its rows."""
        names = list(self._signature(signature).inputs)
        if signature == "sample":
            names.remove(_SEED)
        if values is not None:
            if len(names) != 1:
                raise BadRequest(
                    f"{self._told} takes several inputs: {', '.join(names)}. Give them by "
                    f"name, such as {signature.replace('serving_default', 'predict')}"
                    f"({names[0] if names else ''}=...)."
                )
            if names[0] in fields:
                raise BadRequest(f"{names[0]} was given twice, with its name and without.")
            fields = {names[0]: values, **fields}
        elif not fields and not self.describe().inputs and len(names) == 1:
            fields = {names[0]: ""}
        missing = [name for name in names if name not in fields]
        unknown = [name for name in fields if name not in names]
        if missing or unknown:
            told = "" if fields else "Nothing to ask. "
            told += f"{self._told} takes: {', '.join(names)}."
            told += f" Left out: {', '.join(missing)}." if missing else ""
            told += f" Not known: {', '.join(unknown)}." if unknown else ""
            raise BadRequest(told)
        description = self.describe()
        known = {field.name: field for field in (*description.inputs, description.output)}
        asked = {
            # What is named after no field is a value, or the beginning of one, of the output.
            name: rows_of(name, field_kind(field), fields[name], field.details)
            for name, field in ((name, known.get(name, description.output)) for name in names)
        }
        if len(set(map(len, asked.values()))) > 1:
            counts = ", ".join(f"{name} has {len(rows)}" for name, rows in asked.items())
            raise BadRequest(f"Every field needs as many values as the others. Received: {counts}.")
        return asked

    def _run(self, signature: str, asked: dict[str, list[Any]]) -> dict[str, np.ndarray]:
        infos = self._signature(signature).inputs
        request = wire.PredictRequest()
        self._fill(request.model_spec)
        request.model_spec.signature_name = signature
        for name, rows in asked.items():
            request.inputs.add(key=name, value=named_tensor(name, rows, infos[name]))
        response = self._call("PredictionService/Predict", request, wire.PredictResponse)
        return {entry.key: wire.array(entry.value) for entry in response.outputs}

    def _known(self) -> dict[str, Signature]:
        if self._signatures is None:
            self._signatures = self.metadata().signatures
        return self._signatures

    def _signature(self, name: str) -> Signature:
        known = self._known()
        if name not in known:
            raise BadRequest(
                f"{self._told} has no signature {name!r}. It has: {', '.join(sorted(known))}."
            )
        return known[name]

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


def _infos(entries: Any) -> dict[str, TensorInfo]:
    infos = {}
    for entry in sorted(entries, key=lambda entry: entry.key):
        shape = entry.value.tensor_shape
        sizes = None if shape.unknown_rank else tuple(dim.size for dim in shape.dim)
        infos[entry.key] = TensorInfo(wire.type_name(entry.value.dtype), sizes)
    return infos
