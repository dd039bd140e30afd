"""The command `pairloom`. Nothing heavy is imported before a command needs it."""

import argparse
import importlib
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from typing import NoReturn

from pairloom.pipeline.disk import disk_trouble

# A command is a module of pairloom.pipeline.commands with add_arguments(parser) and run(args).
# Where it has TAKES_OTHER_FLAGS, flags that it does not know go there, as NAME=VALUE.
# The sentences stand here so that `pairloom --help` imports none of them.
COMMANDS = {
    "new": "write a recipe for your own files, after looking at them",
    "check": "validate a recipe and its data; trains nothing",
    "run": "run a recipe's pipeline: data in, a blessed and pushed model out",
    "compile": "write a recipe's pipeline to a file, to be run node by node by a scheduler",
    "submit": "run a recipe on a Kubeflow, now or by its schedule",
    "node": "run one node of a compiled pipeline",
    "demo": "run a recipe, serve its model, and ask it three held-out questions",
    "serve": "serve pushed models over gRPC and REST, as TF Serving does",
    "predict": "ask a served model",
    "check-servable": "list a model's ops, and say whether stock TF Serving can load it",
    "deploy": "write what stock TF Serving needs to serve a recipe's model",
    "runs": "list past runs with their scores",
    "recipes": "list the recipes that come with pairloom",
}

_USAGE = "pairloom COMMAND [ARGUMENTS]"


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point: runs a command and ends the process with its exit code."""
    code = dispatch(sys.argv[1:] if argv is None else argv)
    _flush()
    if "tensorflow" in sys.modules or "apache_beam" in sys.modules:
        # Their threads would keep an ordinary exit waiting for seconds, or for ever.
        os._exit(code)
    sys.exit(code)


def dispatch(argv: Sequence[str]) -> int:
    """Runs one command line.

    Returns:
        The exit code: 0, 1 for an error, 2 for a wrong command line, 130 after Ctrl-C.
    """
    return guarded(lambda: _answer(argv), verbose="--verbose" in argv)


def _answer(argv: Sequence[str]) -> int:
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(help_text(), flush=True)
        return 0
    if argv[0] == "--version":
        from importlib.metadata import version

        print(f"pairloom {version('pairloom')}")
        return 0
    if argv[0] not in COMMANDS:
        return _unknown_command(argv[0])
    return _run_command(argv[0], argv[1:])


def guarded(call: Callable[[], int], verbose: bool = False) -> int:
    """Calls, and turns whatever is raised into one message and an exit code."""
    try:
        return call()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1
    except KeyboardInterrupt as stop:
        message = str(stop) or "Stopped."
        print(f"\n{message}", file=sys.stderr)
        return getattr(stop, "exit_code", 130)
    except BrokenPipeError:
        # The reader of our output has gone; there is nobody left to tell.
        return 0
    except Exception as error:
        return _report(error, verbose)


def _run_command(name: str, arguments: Sequence[str]) -> int:
    command = importlib.import_module(f"pairloom.pipeline.commands.{name.replace('-', '_')}")
    parser = _Parser(
        prog=f"pairloom {name}",
        description=f"{COMMANDS[name][0].upper()}{COMMANDS[name][1:]}.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        # A slip in a long flag must not pass for another flag.
        allow_abbrev=False,
    )
    command.add_arguments(parser)
    if named := getattr(command, "TAKES_OTHER_FLAGS", ""):
        from pairloom.pipeline.commands.field_flags import with_field_flags

        arguments = with_field_flags(parser, arguments, named)
    return int(command.run(parser.parse_args(arguments)))


class _Parser(argparse.ArgumentParser):
    """Tells what is wrong in a line or two, where `argparse` would print every flag there is."""

    def error(self, message: str) -> NoReturn:
        """Ends the process with 2."""
        import difflib

        told = f"{self.prog}: {message}."
        flags = re.findall(r"--[\w-]+", message.partition("unrecognized arguments:")[2])
        for flag in flags:
            near = difflib.get_close_matches(flag, self._option_string_actions, n=1)
            told += f" For {flag}, did you mean {near[0]}?" if near else ""
        self.exit(2, f"{told}\n{self.prog} --help lists what there is.\n")


def help_text() -> str:
    """What `pairloom --help` prints."""
    width = max(map(len, COMMANDS)) + 2
    lines = [f"  {name:<{width}}{sentence}" for name, sentence in COMMANDS.items()]
    return "\n".join(
        [
            f"usage: {_USAGE}",
            "",
            "Paired data in, served attention models out.",
            "",
            *lines,
            "",
            "pairloom COMMAND --help tells more of each; pairloom --version tells the version.",
        ]
    )


def _unknown_command(name: str) -> int:
    import difflib

    near = difflib.get_close_matches(name, COMMANDS, n=1)
    kind = "option" if name.startswith("-") else "command"
    print(f"usage: {_USAGE}", file=sys.stderr)
    print(f"pairloom: there is no {kind} `{name}`.", end="", file=sys.stderr)
    print(f" Did you mean `{near[0]}`?" if near else "", file=sys.stderr)
    if not near:
        print(f"Commands: {', '.join(COMMANDS)}.", file=sys.stderr)
    return 2


def _flush() -> None:
    """Writes what is left; where the reader has gone, keeps Python from complaining of it later."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (BrokenPipeError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _report(error: Exception, verbose: bool) -> int:
    """One message for an error; the traceback only where it helps whoever must mend pairloom."""
    if type(error).__module__.split(".")[0] == "pairloom":
        print(f"pairloom: {error}", file=sys.stderr)
    elif trouble := disk_trouble([error], "the run's folder"):
        print(f"pairloom: {trouble}", file=sys.stderr)
    else:
        trace = "".join(traceback.format_exception(error))
        with tempfile.NamedTemporaryFile(
            "w", prefix="pairloom-error-", suffix=".log", delete=False
        ) as file:
            file.write(trace)
        print(
            f"pairloom: unexpected {type(error).__name__}: {error}\n"
            f"  This is a fault of pairloom, or of the machine. The traceback is in {file.name}",
            file=sys.stderr,
        )
    if verbose:
        traceback.print_exception(error)
    return 1


if __name__ == "__main__":
    main()
