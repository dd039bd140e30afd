"""What the server tells: sentences for people, or JSON lines for machines."""

import datetime
import json
import logging
import os
import sys

logger = logging.getLogger("pairloom.serving")


class JsonLines(logging.Formatter):
    """One JSON object a record."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.datetime.fromtimestamp(record.created, datetime.timezone.utc)
        line = {
            "time": moment.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "details", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        # Names come from requests, and may hold what is no text; `\\udcff` is JSON for it.
        return json.dumps(line, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


def log_to_terminal(json_lines: bool = False) -> None:
    """News on standard output, trouble on standard error; call it before gRPC is imported."""
    if logger.handlers:
        return
    logger.setLevel(logging.INFO)
    logger.propagate = False
    news = logging.StreamHandler(sys.stdout)
    news.addFilter(lambda record: record.levelno < logging.WARNING)
    trouble = logging.StreamHandler(sys.stderr)
    trouble.setLevel(logging.WARNING)
    for handler in (news, trouble):
        if json_lines:
            handler.setFormatter(JsonLines())
        logger.addHandler(handler)
    if json_lines:
        # Whoever reads JSON lines can read no others: those of libraries become such, and gRPC's
        # core, which writes past Python, says nothing unless somebody asked it to.
        logging.getLogger().addHandler(trouble)
        logging.captureWarnings(True)
        os.environ.setdefault("GRPC_VERBOSITY", "NONE")
