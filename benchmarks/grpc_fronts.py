"""What a call costs in Python's two gRPC servers and in ours, when calls are answered in batches.

    .venv/bin/python benchmarks/grpc_fronts.py

Each server answers the same small `Predict` 12 ms after the first of a batch has come, and computes
nothing. 64 clients of ghz (`make load-tools`) ask it; what counts is the server's CPU time a call.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from tensorflow_serving.apis import predict_pb2, prediction_service_pb2

from pairloom.serving.server.grpc_core import CoreServer, Rpc

SERVICE = "tensorflow.serving.PredictionService"
BATCH_SECONDS = 0.012
KINDS = ("grpc.server", "grpc.aio", "grpc_core")


def main() -> None:
    """Prints a line for each server and round."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--ghz", default=".tools/ghz")
    parser.add_argument("--serve", choices=KINDS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(args.serve)
        return
    with tempfile.TemporaryDirectory() as folder:
        protoset = write_protoset(Path(folder) / "messages")
        for _ in range(args.rounds):
            for kind in KINDS:
                rate, milliseconds = measure(args, kind, protoset)
                print(
                    f"{kind}: {rate:.0f} calls/s, {milliseconds:.3f} ms of CPU a call", flush=True
                )


def measure(args: argparse.Namespace, kind: str, protoset: Path) -> tuple[float, float]:
    """Calls a second, and the server's milliseconds of CPU time for each."""
    command = [sys.executable, __file__, "--serve", kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        before = cpu_seconds(process.pid)
        load = [args.ghz, "--insecure", "--protoset", protoset, "--call", f"{SERVICE}/Predict"]
        load += ["--data", '{"model_spec": {"name": "m"}}', "--concurrency", 64, "--format", "json"]
        load += ["--duration", f"{args.seconds}s", "--duration-stop", "wait", f"127.0.0.1:{port}"]
        printed = subprocess.run([str(x) for x in load], capture_output=True, text=True, check=True)
        used = cpu_seconds(process.pid) - before
        process.terminate()
    found = json.loads(printed.stdout)
    assert set(found["statusCodeDistribution"]) == {"OK"}, found["statusCodeDistribution"]
    return found["rps"], 1e3 * used / found["count"]


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def write_protoset(path: Path) -> Path:
    """The service's messages, for ghz: these servers have no reflection."""
    messages = FileDescriptorSet()

    def add(file: Any) -> None:
        for needed in file.dependencies:
            add(needed)
        if file.name not in {known.name for known in messages.file}:
            file.CopyToProto(messages.file.add())

    add(prediction_service_pb2.DESCRIPTOR)
    path.write_bytes(messages.SerializeToString())
    return path


def respond(raw: bytes) -> bytes:
    """A small answer to a small request."""
    request = predict_pb2.PredictRequest.FromString(raw)
    response = predict_pb2.PredictResponse(model_spec=request.model_spec)
    for name in ("target", "score"):
        response.outputs[name].string_val.append(b"an answer")
    return response.SerializeToString()


def batches(answer: Callable[[list], None]) -> Callable[[Any], None]:
    """A function that takes waiting calls; `answer` gets those of a batch."""
    changed, waiting = threading.Condition(), []

    def work() -> None:
        while True:
            with changed:
                changed.wait_for(lambda: waiting)
            time.sleep(BATCH_SECONDS)
            with changed:
                batch = waiting.copy()
                waiting.clear()
            answer(batch)

    def wait(call: Any) -> None:
        with changed:
            waiting.append(call)
            changed.notify()

    threading.Thread(target=work, daemon=True).start()
    return wait


def serve(kind: str) -> None:
    """Serves until it is ended; prints its port first."""
    {"grpc.server": _threads, "grpc.aio": _loop, "grpc_core": _core}[kind]()


def _handlers(handle: Callable) -> tuple[grpc.GenericRpcHandler]:
    method = grpc.unary_unary_rpc_method_handler(handle)
    return (grpc.method_handlers_generic_handler(SERVICE, {"Predict": method}),)


def _threads() -> None:
    wait = batches(lambda batch: [future.set_result(None) for future in batch])

    def handle(raw: bytes, context: grpc.ServicerContext) -> bytes:
        future: Future[None] = Future()
        wait(future)
        future.result()
        return respond(raw)

    server = grpc.server(ThreadPoolExecutor(512), handlers=_handlers(handle))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    server.wait_for_termination()


def _loop() -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()

        def wake(batch: list[asyncio.Future]) -> None:
            for future in batch:
                if not future.done():
                    future.set_result(None)

        wait = batches(lambda batch: loop.call_soon_threadsafe(wake, batch))

        async def handle(raw: bytes, context: grpc.aio.ServicerContext) -> bytes:
            future = loop.create_future()
            wait(future)
            await future
            return respond(raw)

        server = grpc.aio.server(handlers=_handlers(handle))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        print(port, flush=True)
        await server.wait_for_termination()

    asyncio.run(run())


def _core() -> None:
    def answer(batch: list[tuple[Rpc, bytes]]) -> None:
        for rpc, raw in batch:
            if rpc.claim():
                rpc.finish(respond(raw))

    wait = batches(answer)
    server = CoreServer({f"/{SERVICE}/Predict": lambda rpc, raw: wait((rpc, raw))}, [], 512)
    port = server.listen("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
