"""The package as it is installed: python -m unittest test_plimsoll, in an environment that has the wheel."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import unittest
from pathlib import Path

import plimsoll


class Installed(unittest.TestCase):
    def test_command(self) -> None:
        want = subprocess.check_output([plimsoll.binary(), "version"], encoding="utf-8")
        self.assertIn("plimsoll v", want)
        got = subprocess.check_output([sys.executable, "-m", "plimsoll", "version"], encoding="utf-8")
        self.assertEqual(want, got)
        self.assertEqual(plimsoll.version(), want.strip())

    def test_exit_status(self) -> None:
        done = subprocess.run([sys.executable, "-m", "plimsoll", "plan", "--nothing"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 2)

    def test_same_as_command(self) -> None:
        answer = plimsoll.plan(model="Qwen/Qwen3-8B", systems=["h100_sxm"], gpus=1, engines=["vllm"], modes=["agg"], workloads=[{"isl": 1024, "osl": 256}], limits={"tpot_ms": 50}, no_changes=True)
        line = [plimsoll.binary(), *shlex.split(answer["command"])[1:], "--json"]
        want = json.loads(subprocess.check_output(line, stderr=subprocess.DEVNULL))
        self.assertEqual(answer, want)
        best = (answer["contenders"] or [])[0]
        half = plimsoll.predict(deployment=best["deployment"], concurrency=max(1, best["concurrency"] // 2), input_length=1024, output_length=256)
        self.assertGreater(half["ttft_ms"]["mean"], 0)

    def test_lint(self) -> None:
        found = plimsoll.lint(command="vllm serve Qwen/Qwen3-8B --max-num-sequs 64", device="h100_sxm", static=True)
        self.assertIn("PL001", [f["code"] for f in found["findings"] or []])

    def test_mistakes(self) -> None:
        with self.assertRaises(plimsoll.InputError) as caught:
            plimsoll.plan(model="Qwen/Qwen3-8B", systems=["h200_sxm"], gpus=8, workloads=[{"isl": 1024, "osl": 256}], modes=["aggr"])  # type: ignore[list-item]
        self.assertEqual(caught.exception.fields, ["modes[0]"])
        self.assertEqual(caught.exception.mistakes[0].nearest, "agg")
        with self.assertRaises(ValueError):
            plimsoll.call("plan", {"modell": "x"})
        with self.assertRaises(plimsoll.PlimsollError):
            plimsoll.call("planning", {})

    def test_readme(self) -> None:
        """The example of the README runs."""
        text = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
        code = re.findall(r"```python\n(.*?)```", text, re.S)
        self.assertEqual(len(code), 1)
        out = subprocess.check_output([sys.executable, "-c", code[0]], encoding="utf-8")
        self.assertIn("h200_sxm serve Qwen/Qwen3-32B", out)
        self.assertIn("PL001", out)
        self.assertIn("['modes[0]'] agg", out)


if __name__ == "__main__":
    unittest.main()
