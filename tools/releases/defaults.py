"""Lists the defaults of engine flags that differ between releases, as the Go table internal/describe/engine/defaults.go.

    python3 tools/releases/defaults.py VLLM_GITDIR SGLANG_GITDIR > internal/describe/engine/defaults.go

It reads the fields of the argument classes out of the sources at the tags of the releases, which are parsed and never imported. A field whose
default is computed is left out.
"""

import ast
import re
import subprocess
import sys

ENGINES = {
    "vllm": ((0, 8, 0), r"^vllm/(engine/arg_utils|config|config/.*)\.py$", {"EngineArgs", "AsyncEngineArgs"}),
    "sglang": ((0, 4, 6), r"^python/sglang/srt/(server_args|arg_groups/fields/.*)\.py$", None),
}


def git(repository, *args):
    return subprocess.run(["git", "-C", repository, *args], capture_output=True, text=True, check=True).stdout


def number(tag):
    m = re.fullmatch(r"v(\d+)\.(\d+)\.(\d+)(?:\.post(\d+))?", tag)
    return tuple(int(x or 0) for x in m.groups()) if m else None


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


def defaults(repository, tag, pattern, wanted):
    names = [n for n in git(repository, "ls-tree", "-r", "--name-only", tag).splitlines() if re.match(pattern, n)]
    trees = [ast.parse(git(repository, "show", f"{tag}:{n}")) for n in names]
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
        if wanted is None and (name == "ServerArgs" or len(names) > 1) or wanted and name in wanted:
            out.update({"--" + k.replace("_", "-"): v for k, v in fields.items() if not k.startswith("_")})
    return out


def main(repositories):
    print("package engine\n\n// Made by tools/releases/defaults.py of the tags of the engines' repositories. DO NOT EDIT.\n")
    print("// changedDefaults are the defaults that flags declare, from the release on that has each, for flags whose default changed. \"\" is a")
    print("// release without the flag, or whose default is computed.")
    print("func changedDefaults() map[string]map[string][]declared {\n\treturn map[string]map[string][]declared{")
    newest = {}
    for (engine, (oldest, pattern, wanted)), repository in zip(ENGINES.items(), repositories):
        tags = sorted((number(t), t) for t in git(repository, "tag").split() if number(t) and number(t)[:3] >= oldest)
        history = {}
        for _, tag in tags:
            now = defaults(repository, tag, pattern, wanted)
            for flag in set(history) | set(now):
                all_ = history.setdefault(flag, [])
                value = now.get(flag, "")
                if (all_[-1][1] if all_ else "") != value:
                    all_.append((tag[1:], value))
        newest[engine] = tags[-1][1][1:]
        print(f'\t\t"{engine}": {{')
        for flag, all_ in sorted(history.items()):
            if len({v for _, v in all_ if v != ""}) > 1:
                entries = ", ".join("{%s, %s}" % (go(r), go(v)) for r, v in all_)
                print(f"\t\t\t{go(flag)}: {{{entries}}},")
        print("\t\t},")
    print("\t}\n}\n")
    print("// defaultsKnown is the newest release of an engine whose defaults were read.")
    print("func defaultsKnown() map[string]string {\n\treturn map[string]string{")
    for engine, release in newest.items():
        print(f'\t\t"{engine}": "{release}",')
    print("\t}\n}")


def go(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


if __name__ == "__main__":
    main(sys.argv[1:])
