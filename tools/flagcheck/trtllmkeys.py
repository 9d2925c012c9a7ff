#!/usr/bin/env python3
"""Checks generated TensorRT-LLM settings against the fields of its own classes.

usage: trtllmkeys.py LLM_ARGS.PY FILE_OR_DIRECTORY...
       trtllmkeys.py LLM_ARGS.PY --list
       trtllmkeys.py --merge VERSION=LLM_ARGS.PY...

LLM_ARGS.PY is tensorrt_llm/llmapi/llm_args.py of a release. It is parsed, not
imported: TensorRT-LLM need not be installed. The keys of every *_config.yaml
(agg, prefill, decode) below a directory are looked for among the fields of
TorchLlmArgs and of the classes those fields have. It prints what is unknown and
exits with 1. --list prints all keys as paths; --merge prints them with the first
of the releases given that has each, and the first that no longer does, from which
internal/describe/engine/flags/trtllm-keys.txt is made. docs/deploy.md says what was found.
"""

import ast
import pathlib
import re
import sys

ROOT = "TorchLlmArgs"

# Names in types that are no classes with fields.
PLAIN = set(
    "Optional Union List Literal Tuple Set Sequence Annotated Type None int float str bool bytes Path StrictInt PositiveInt "
    "NonNegativeInt PositiveFloat NonNegativeFloat Field PydanticField tuple list set min max ge gt le lt".split()
)


def names(annotation):
    """The names in a type annotation, also in quoted ones; not the words of a Literal."""
    if isinstance(annotation, ast.Subscript) and getattr(annotation.value, "id", "") == "Literal":
        yield "Literal"
        return
    if isinstance(annotation, ast.Name):
        yield annotation.id
    elif isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        yield from re.findall(r"\w+", annotation.value)
    for node in ast.iter_child_nodes(annotation):
        yield from names(node)


def aliases(value):
    """Other names of a field: alias= and validation_alias=, and those in AliasChoices."""
    if not isinstance(value, ast.Call):
        return
    for word in value.keywords:
        if word.arg in ("alias", "validation_alias"):
            for node in ast.walk(word.value):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value


def classes(tree):
    """Every class with its bases, and the fields of it: name, classes of its type."""
    found, types = {}, {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            fields = {}
            for item in node.body:
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and not item.target.id.startswith("_"):
                    of = set(names(item.annotation))
                    if "PrivateAttr" in ast.dump(item) or "ClassVar" in of and item.target.id != "decoding_type":
                        continue  # decoding_type chooses the class, and is taken off before it is made
                    for name in [item.target.id, *aliases(item.value)]:
                        fields[name] = of
            found[node.name] = ([b.id for b in node.bases if isinstance(b, ast.Name)], fields)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    types[target.id] = set(names(node.value))
    return found, types


def keys(path):
    """All keys of a settings file as paths, "kv_cache_config.dtype". A path that
    ends with ".*" stands for what the classes do not say."""
    found, types = classes(ast.parse(pathlib.Path(path).read_text()))

    def fields(name, seen=()):
        if name not in found or name in seen:
            return {}
        bases, own = found[name]
        out = {}
        for base in bases:
            out |= fields(base, (*seen, name))
        return out | own

    def meant(of, seen=()):
        """The classes that type names stand for, with subclasses of a union's base."""
        for name in sorted(of):
            if name in found and fields(name):
                yield name
            elif name in types and name not in seen:
                yield from meant(types[name], (*seen, name))

    def known_plain(name):
        """Whether a type has no keys below it: a scalar, a list of them, an enumeration."""
        if name in PLAIN:
            return True
        if name in found:
            return any("Enum" in base for base in found[name][0])
        return name in types and all(known_plain(n) for n in types[name] if n != name)

    def walk(name, prefix, seen):
        for field, of in sorted(fields(name).items()):
            yield prefix + field
            inner = [n for n in meant(of) if n not in seen]
            for n in inner:
                yield from walk(n, prefix + field + ".", (*seen, n))
            if not inner and not all(known_plain(n) for n in of):
                yield prefix + field + ".*"

    return sorted(set(walk(ROOT, "", (ROOT,))))


def known(path, all_keys):
    """Whether a path is a key, or below one that takes anything."""
    if path in all_keys:
        return True
    parts = path.split(".")
    return any(".".join(parts[:i]) + ".*" in all_keys for i in range(1, len(parts)))


def written(path):
    """The keys of a settings file as we write it: block mappings, two spaces deep."""
    stack = []
    for line in pathlib.Path(path).read_text().splitlines():
        match = re.match(r"^( *)([A-Za-z_]\w*):", line)
        if not match:
            continue
        depth = len(match[1]) // 2
        stack = stack[:depth] + [match[2]]
        yield ".".join(stack)


def merge(releases):
    seen = {}
    order = [version for version, _ in releases]
    for version, path in releases:
        for key in keys(path):
            seen.setdefault(key, []).append(version)
    for key, at in sorted(seen.items()):
        since = "-" if at[0] == order[0] else at[0]
        until = "" if at[-1] == order[-1] else " " + order[order.index(at[-1]) + 1]
        print(key if since == "-" and not until else f"{key} {since}{until}")


def main():
    args = sys.argv[1:]
    if len(args) < 2:
        sys.exit(__doc__)
    if args[0] == "--merge":
        return merge([a.split("=", 1) for a in args[1:]])
    all_keys = set(keys(args[0]))
    if args[1] == "--list":
        print("\n".join(sorted(all_keys)))
        return
    files = []
    for path in map(pathlib.Path, args[1:]):
        files += [path] if path.is_file() else sorted(path.rglob("*_config.yaml"))
    wrong, count = 0, 0
    for file in files:
        if file.name in ("generator_config.yaml", "disagg_config.yaml"):
            continue
        for key in written(file):
            count += 1
            if not known(key, all_keys):
                wrong += 1
                print(f"{file}: {key} is no key")
    print(f"{count} keys, {wrong} unknown")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
