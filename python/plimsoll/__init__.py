"""Plimsoll from Python: which deployment of a language model carries the most load within latency limits.

    >>> import plimsoll
    >>> answer = plimsoll.plan(
    ...     model="Qwen/Qwen3-32B", systems=["h200_sxm"], gpus=8, engines=["vllm"], modes=["agg"],
    ...     workloads=[{"isl": 1024, "osl": 256}],
    ... )
    >>> print(answer["answer"]["sentence"])

Requests and answers are the JSON of the command line, the HTTP API and MCP, as dictionaries with types. The work is done by the
program that this package brings with it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from typing import TYPE_CHECKING, Any, List, Mapping, Optional, cast

from .types import LintResponse, PlanResponse, SimulateResponse

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .types import LintRequest, PlanRequest, SimulateRequest

__all__ = ["InputError", "Mistake", "PlimsollError", "binary", "call", "lint", "plan", "predict", "version"]


class PlimsollError(Exception):
    """The program failed; the text is what it says."""


class Mistake:
    """One thing wrong with a request."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.detail: str = raw["detail"]
        self.fields: List[str] = list(raw.get("fields") or [])
        self.value: Optional[str] = raw.get("value")
        self.allowed: List[str] = list(raw.get("allowed") or [])
        self.nearest: Optional[str] = raw.get("nearest")

    def __repr__(self) -> str:
        return f"Mistake({self.detail!r})"


class InputError(PlimsollError, ValueError):
    """The request is wrong: `mistakes` one by one, `fields` all the fields they name."""

    def __init__(self, mistakes: List[Mistake]) -> None:
        super().__init__("\n".join(m.detail for m in mistakes))
        self.mistakes = mistakes
        self.fields: List[str] = list(dict.fromkeys(f for m in mistakes for f in m.fields))


def binary() -> str:
    """The program: the one installed with this package, or else the one on the PATH."""
    name = "plimsoll.exe" if sys.platform == "win32" else "plimsoll"
    user = "nt_user" if os.name == "nt" else "osx_framework_user" if sys.platform == "darwin" and sys.prefix == "/Library" else "posix_user"
    places = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable), sysconfig.get_path("scripts", user)]
    # pip install --target puts scripts into bin beside the packages.
    places.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin"))
    for place in places:
        path = os.path.join(place, name)
        if os.path.isfile(path):
            return path
    found = shutil.which(name)
    if found is None:
        raise PlimsollError("the program plimsoll is not installed: pip install plimsoll")
    return found


def call(operation: str, request: Mapping[str, object]) -> Any:
    """Answers a request of any operation that `plimsoll call` knows."""
    done = subprocess.run([binary(), "call", operation], input=json.dumps(request), stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    if done.returncode == 0:
        return json.loads(done.stdout)
    if done.stdout:
        raise InputError([Mistake(m) for m in json.loads(done.stdout)["errors"]])
    raise PlimsollError(done.stderr.strip() or f"plimsoll exits with {done.returncode}")


def plan(**request: Unpack[PlanRequest]) -> PlanResponse:
    """Finds the best deployment of a model: `plimsoll plan`."""
    return cast(PlanResponse, call("plan", request))


def predict(**request: Unpack[SimulateRequest]) -> SimulateResponse:
    """Predicts a deployment under traffic: `plimsoll simulate`."""
    return cast(SimulateResponse, call("simulate", request))


def lint(**request: Unpack[LintRequest]) -> LintResponse:
    """Checks how an engine is launched: `plimsoll lint`."""
    return cast(LintResponse, call("lint", request))


def version() -> str:
    """The version of the program, in one line."""
    done = subprocess.run([binary(), "version"], stdout=subprocess.PIPE, check=True, encoding="utf-8")
    return done.stdout.strip()
