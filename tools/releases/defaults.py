"""Lists the defaults of engine flags that differ between releases, as internal/describe/engine/defaults.json.

    python3 tools/releases/defaults.py CACHE TRTLLM_GITDIR > internal/describe/engine/defaults.json

It reads the fields of the argument classes out of the sources of the releases, which are parsed and never imported. CACHE is the folder in which
tools/releases keeps those of vLLM and SGLang. A field whose default is computed is left out. Of TensorRT-LLM it reads the last commit of each version
on the main branch (HEAD), which its candidates are made of; what a release's branch takes over later is not seen.
"""

import ast
import json
import pathlib
import re
import subprocess
import sys

# The classes whose fields are flags; None stands for the class ServerArgs and those in files of their own.
CLASSES = {"vllm": {"EngineArgs", "AsyncEngineArgs"}, "sglang": None}
TRTLLM = ("0.20.0", r"^tensorrt_llm/(llmapi/llm_args|builder|commands/serve|_torch/pyexecutor/config)\.py$", "TorchLlmArgs")
VERSION = "tensorrt_llm/version.py"
SOURCES = r"^vllm/(engine/arg_utils|config|config/.*)\.py$|^sglang/srt/(server_args|arg_groups/fields/.*)\.py$"


def git(repository, *args):
    return subprocess.run(["git", "-C", repository, *args], capture_output=True, text=True, check=True).stdout


def cached(folder):
    """The releases in a folder with the syntax trees of their sources, oldest first."""
    found = {}
    for file in pathlib.Path(folder).glob("*.json"):
        if m := re.fullmatch(r"(\d+)\.(\d+)\.(\d+)(?:\.post(\d+))?", file.stem):
            found[tuple(int(x or 0) for x in m.groups())] = file
    for _, file in sorted(found.items()):
        sources = json.loads(file.read_text())
        yield file.stem, [ast.parse(text) for name, text in sorted(sources.items()) if re.search(SOURCES, name)]


def versions(repository, oldest):
    """The versions of TensorRT-LLM with the last commit of each; the one that HEAD has is in the making."""
    out, last = [], None
    for bump in git(repository, "log", "--first-parent", "--format=%H", "--", VERSION).split():
        version = re.search(r'__version__ = "([^"]+)"', git(repository, "show", f"{bump}:{VERSION}")).group(1)
        if last:
            out.insert(0, (version, last))
        if version.startswith(oldest):
            break
        last = bump + "~1"
    return out


def literal(node, classes):
    """The default that an expression is, None if it is computed."""
    if isinstance(node, ast.Constant):
        return repr(node.value) if not isinstance(node.value, str) else node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return ast.unparse(node)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):  # CacheConfig.block_size
        return classes.get(node.value.id, {}).get(node.attr)
    if isinstance(node, ast.Call):
        for k in node.keywords:
            if k.arg == "default":
                return literal(k.value, classes)
    return None


def read(repository, commit, pattern):
    names = [n for n in git(repository, "ls-tree", "-r", "--name-only", commit).splitlines() if re.match(pattern, n)]
    return [ast.parse(git(repository, "show", f"{commit}:{n}")) for n in names]


def settings(trees, root):
    """The defaults of TensorRT-LLM's keys as paths below a class, and of the flags of its command "serve"."""
    classes = {n.name: n for t in trees for n in ast.walk(t) if isinstance(n, ast.ClassDef)}
    out = {}

    def fields(node):
        all_ = {}
        for base in node.bases:
            if isinstance(base, ast.Name) and base.id in classes:
                all_ |= fields(classes[base.id])
        for item in node.body:
            if isinstance(item, ast.AnnAssign) and item.value is not None and not item.target.id.startswith("_"):
                all_[item.target.id] = (item.annotation, item.value)
        return all_

    def value(node):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in classes:
            of = fields(classes[node.value.id]).get(node.attr)  # BuildConfig.max_batch_size, or a member of an enumeration
            return value(of[1]) if of else node.attr
        for k in node.keywords if isinstance(node, ast.Call) else []:
            if k.arg == "default":
                return value(k.value)
            if k.arg == "default_factory" and isinstance(k.value, ast.Name) and k.value.id in classes:
                return k.value.id + "()"
        return None if isinstance(node, ast.Constant) and node.value is ... else literal(node, {})

    def words(annotation):
        for n in ast.walk(annotation):
            if isinstance(n, ast.Name):
                yield n.id
            elif isinstance(n, ast.Constant) and isinstance(n.value, str):
                yield from re.findall(r"\w+", n.value)

    def walk(name, prefix, seen):
        for field, (annotation, node) in fields(classes[name]).items():
            path, was = prefix + field, value(node)
            if was is not None:
                out[path] = was if out.get(path, was) == was else ""  # classes of a union differ
            for n in sorted(set(words(annotation)) & set(classes) - set(seen)):
                walk(n, path + ".", (*seen, n))

    if root in classes:
        walk(root, "", (root,))
    flags = {}
    for call in (d for t in trees for f in ast.walk(t) if isinstance(f, ast.FunctionDef) and f.name == "serve" for d in f.decorator_list):
        for flag in (a.value for a in getattr(call, "args", []) if isinstance(a, ast.Constant) and str(a.value).startswith("--")):
            flags[flag.replace("_", "-")] = value(call) or ""
    for key in list(out):  # a key that the command has a flag for takes the flag's default
        if "--" + key.replace("_config.", "_").replace("_", "-") in flags:
            del out[key]
    return {k: v for k, v in (out | flags).items() if v != ""}


def defaults(trees, wanted):
    found = [n for t in trees for n in ast.walk(t) if isinstance(n, ast.ClassDef)]
    classes = {}
    for _ in range(2):  # a class may take a default of one that comes later
        for c in found:
            fields = classes.setdefault(c.name, {})
            for item in c.body:
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.value is not None:
                    value = literal(item.value, classes)
                    if value is not None:
                        fields[item.target.id] = value
    out = {}
    for name, fields in classes.items():
        if wanted is None and (name == "ServerArgs" or len(trees) > 1) or wanted and name in wanted:
            out.update({"--" + k.replace("_", "-"): v for k, v in fields.items() if not k.startswith("_")})
    return out


def changes(releases):
    """The defaults that differ between releases, by flag, and the newest release."""
    history, release = {}, None
    for release, now in releases:
        for flag in set(history) | set(now):
            all_ = history.setdefault(flag, [])
            value = now.get(flag, "")
            if (all_[-1][1] if all_ else "") != value:
                all_.append((release, value))
    return {k: v for k, v in sorted(history.items()) if len({x for _, x in v if x != ""}) > 1}, release


def main(cache, trtllm):
    engines = {e: changes((r, defaults(t, wanted)) for r, t in cached(pathlib.Path(cache) / e)) for e, wanted in CLASSES.items()}
    oldest, pattern, root = TRTLLM
    engines["trtllm"] = changes((r, settings(read(trtllm, c, pattern), root)) for r, c in versions(trtllm, oldest))
    text = ",\n".join(
        ' %s: {"known": %s, "changed": {\n%s\n }}'
        % (json.dumps(e), json.dumps(known), ",\n".join(f"  {json.dumps(flag)}: {json.dumps(all_)}" for flag, all_ in history.items()))
        for e, (history, known) in engines.items()
    )
    print("{\n" + text + "\n}")


if __name__ == "__main__":
    main(*sys.argv[1:])
