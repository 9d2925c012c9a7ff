#!/usr/bin/env python3
"""Feeds generated launch commands to the engines' own argument parsers.

usage: flagcheck.py {vllm,sglang} SCRIPT_OR_DIRECTORY...
       flagcheck.py {vllm,sglang} --list

Run it with a Python that can import the engine; no GPU is needed. It reads the
commands of plain/node_*.sh in generated trees and prints one line for each
different command, "ok" or what the parser says. It exits with 1 if one fails.
--list prints the engine's flags instead: the table of releases (tools/releases) has the same.
docs/deploy.md says how to make the environment, and what was found.
"""

import argparse
import contextlib
import io
import pathlib
import re
import shlex
import sys

STARTS = {"vllm": ["vllm", "serve"], "sglang": ["-m", "sglang.launch_server"]}


def commands(paths, start):
    """The argument lists of the commands that begin with start, each once."""
    seen = {}
    for path in paths:
        path = pathlib.Path(path)
        files = [path] if path.is_file() else sorted(path.rglob("plain/node_*.sh"))
        for file in files:
            text = file.read_text().replace("\\\n", " ")
            for line in text.splitlines():
                if line.lstrip().startswith("#") or start[-1] not in line:
                    continue
                line = re.sub(r"\$\{?\w+\}?", "10.0.0.1", line.rstrip(" &"))
                words = shlex.split(line)
                for i in range(len(words) - 1):
                    if words[i : i + 2] == start:
                        seen.setdefault(tuple(words[i + 2 :]), file)
    return seen


def tolerate_newer_transformers():
    """Engines register model configs that later releases of transformers bring
    themselves, and refuse to start; for parsing flags it does not matter."""
    from transformers.models.auto import configuration_auto

    mapping = type(configuration_auto.CONFIG_MAPPING)
    register = mapping.register
    mapping.register = lambda self, key, value, exist_ok=False: register(self, key, value, exist_ok=True)


def vllm_parser():
    """The parser of "vllm serve". Without a GPU vLLM knows no platform, and its
    defaults ask for one: the CPU's stands in."""
    import vllm.platforms
    from vllm.platforms.cpu import CpuPlatform

    vllm.platforms._current_platform = vllm.platforms.current_platform = CpuPlatform()
    try:
        from vllm.utils.argparse_utils import FlexibleArgumentParser
    except ImportError:
        from vllm.utils import FlexibleArgumentParser
    from vllm.entrypoints.openai.cli_args import make_arg_parser

    parser = make_arg_parser(FlexibleArgumentParser())
    if not any(a.dest == "model_tag" for a in parser._actions):
        parser.add_argument("model_tag", nargs="?")  # the command adds it before 0.10
    return parser


def sglang_parser():
    """The parser of sglang.launch_server."""
    from sglang.srt.server_args import ServerArgs

    parser = argparse.ArgumentParser()
    ServerArgs.add_cli_args(parser)
    return parser


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in STARTS:
        sys.exit(__doc__)
    engine, paths = sys.argv[1], sys.argv[2:]
    tolerate_newer_transformers()
    parser = {"vllm": vllm_parser, "sglang": sglang_parser}[engine]()
    if paths == ["--list"]:
        print("\n".join(sorted(o for a in parser._actions for o in a.option_strings if o.startswith("--"))))
        return
    found = commands(paths, STARTS[engine])
    failed = 0
    for words, file in found.items():
        message = io.StringIO()
        try:
            with contextlib.redirect_stderr(message):
                parser.parse_args(list(words))
            print("ok  ", file)
        except (SystemExit, ValueError) as e:
            failed += 1
            said = message.getvalue().strip().splitlines()
            print("FAIL", file, said[-1] if said else e)
    print(f"{len(found)} commands, {failed} refused")
    sys.exit(1 if failed or not found else 0)


main()
