"""Reads the flags and keys of a release out of its Python sources, which are parsed and never imported.

stdin: {"files": {path: text}, "classes": [names of dataclasses whose fields are flags],
        "valued": [flags and keys whose allowed values count], "roots": [names of pydantic classes whose fields are keys]}
stdout: {"flags": [...], "keys": [...]}, sorted; "--flag=value" and "key=value" are allowed values.
"""

import ast
import json
import re
import sys

# Names in types that have no keys below them.
PLAIN = set(
    "Optional Union List Literal Tuple Set Sequence Annotated Type None int float str bool bytes Path StrictInt PositiveInt "
    "NonNegativeInt PositiveFloat NonNegativeFloat Field PydanticField tuple list set min max ge gt le lt".split()
)


def constants(node):
    """The words in an expression."""
    return [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def names(annotation):
    """The names in a type, also in a quoted one; not the words of a Literal."""
    if isinstance(annotation, ast.Subscript) and getattr(annotation.value, "id", "") == "Literal":
        yield "Literal"
        return
    if isinstance(annotation, ast.Name):
        yield annotation.id
    elif isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        yield from re.findall(r"\w+", annotation.value)
    for node in ast.iter_child_nodes(annotation):
        yield from names(node)


def fields(node):
    """The fields of a class: (name, annotation, value)."""
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and not item.target.id.startswith("_"):
            yield item.target.id, item.annotation, item.value


class Sources:
    def __init__(self, files, valued):
        self.trees = [ast.parse(text) for path, text in sorted(files.items()) if path.endswith(".py")]
        self.valued = set(valued)
        self.classes, self.assigned, self.types = {}, {}, {}
        for tree in self.trees:
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    self.classes.setdefault(node.name, node)
                    for name, annotation, _ in fields(node):
                        self.types.setdefault(name, []).append(annotation)
            for node in tree.body:
                if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                        if isinstance(target, ast.Name):
                            self.assigned[target.id] = node.value

    def words(self, node, seen=()):
        """The words that an expression of choices, or a type, allows."""
        if isinstance(node, ast.Name):
            if node.id in seen:
                return []
            if node.id in self.assigned:
                return self.words(self.assigned[node.id], (*seen, node.id))
            if node.id in self.classes:  # an enumeration
                return [w for item in self.classes[node.id].body if isinstance(item, ast.Assign) for w in constants(item.value)]
            return []
        if isinstance(node, ast.Subscript):
            if getattr(node.value, "id", "") == "Literal":
                return constants(node.slice)
            return self.words(node.slice, seen)
        if isinstance(node, ast.Call):  # get_args(Alias), list(X)
            return [w for a in node.args for w in self.words(a, seen)]
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return [w for e in node.elts for w in ([e.value] if isinstance(e, ast.Constant) and isinstance(e.value, str) else self.words(e, seen))]
        if isinstance(node, ast.BinOp):
            return self.words(node.left, seen) + self.words(node.right, seen)
        return []

    def flags(self, dataclasses):
        out = set()

        def add(flag, negatable=False, choices=()):
            flag = flag.replace("_", "-")
            out.add(flag)
            if negatable:
                out.add("--no-" + flag[2:])
            if flag in self.valued:
                out.update(f"{flag}={w}" for w in choices)

        text = "".join(ast.dump(t) for t in self.trees)
        derived = "kwargs" in text and "attr='BooleanOptionalAction'" in text

        def is_bool(annotation):
            return set(names(annotation)) <= {"bool", "Optional", "None"} and "bool" in set(names(annotation))

        for tree in self.trees:
            for node in ast.walk(tree):
                if isinstance(node, ast.Call):
                    self.called(node, add, derived, is_bool)
                elif isinstance(node, ast.For) and "attr='add_argument'" in ast.dump(node):
                    for word in constants(node.iter):  # for flag, type in [("--old", str)]
                        if word.startswith("--"):
                            add(word)
                elif isinstance(node, ast.ClassDef):
                    for name, annotation, _ in fields(node):
                        if node.name in dataclasses:
                            add("--" + name, is_bool(annotation))
                        elif isinstance(annotation, ast.Subscript) and getattr(annotation.value, "id", "") in ("A", "Annotated"):
                            self.annotated(name, annotation, add)
        return sorted(out)

    def called(self, node, add, derived, is_bool):
        """A call that makes a flag: argparse, click, and helpers of Dynamo."""
        call = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if call not in ("add_argument", "add_negatable_bool_argument", "option", "stability_option"):
            return
        keywords = {k.arg: k.value for k in node.keywords if k.arg}
        flags = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        for word in ("flag_name", "obsolete_flag"):
            if isinstance(keywords.get(word), ast.Constant):
                flags.append(str(keywords[word].value))
        flags = [f for joined in flags for f in joined.split("/") if f.startswith("--")]
        negatable = call == "add_negatable_bool_argument" or "BooleanOptionalAction" in ast.dump(keywords.get("action", ast.Pass()))
        choices = self.words(keywords["choices"]) if "choices" in keywords else []
        for k in node.keywords:  # **model_kwargs["dtype"], or **{**model_kwargs["dtype"], "default": None}
            for n in ast.walk(k.value) if k.arg is None else []:
                if isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Constant):
                    of = self.types.get(n.slice.value, [])
                    negatable = negatable or derived and any(is_bool(a) for a in of)
                    choices = choices + [w for a in of for w in self.words(a)]
        for f in flags:
            add(f, negatable, choices)

    def annotated(self, name, annotation, add):
        """A field that SGLang makes a flag of: A[type, "help"] or A[type, Arg(...)]."""
        flags, of = ["--" + name], annotation.slice.elts[0] if isinstance(annotation.slice, ast.Tuple) else annotation.slice
        for node in ast.walk(annotation):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Arg":
                keywords = {k.arg: k.value for k in node.keywords}
                if getattr(keywords.get("no_cli"), "value", False):
                    return
                if isinstance(keywords.get("cli_name"), ast.Constant) and keywords["cli_name"].value:
                    flags = [keywords["cli_name"].value]
                if "aliases" in keywords:
                    flags += constants(keywords["aliases"])
                negatable = "BooleanOptionalAction" in ast.dump(keywords.get("action", ast.Pass()))
                choices = self.words(keywords["choices"]) if "choices" in keywords else self.words(of)
                for f in flags:
                    add("--" + f.lstrip("-"), negatable, choices)
                return
        add(flags[0], choices=self.words(of))

    def keys(self, roots):
        """The keys of a settings file as paths. One that ends with ".*" takes anything."""
        out = set()

        def aliases(value):
            for k in value.keywords if isinstance(value, ast.Call) else []:
                if k.arg in ("alias", "validation_alias"):
                    yield from constants(k.value)

        def of(name, seen=()):
            node = self.classes.get(name)
            if node is None or name in seen:
                return {}
            all_fields = {}
            for base in node.bases:
                if isinstance(base, ast.Name):
                    all_fields |= of(base.id, (*seen, name))
            for field, annotation, value in fields(node):
                said = set(names(annotation))
                if value is not None and "PrivateAttr" in ast.dump(value) or "ClassVar" in said and field != "decoding_type":
                    continue  # decoding_type chooses the class, and is taken off before it is made
                for alias in [field, *aliases(value)]:
                    all_fields[alias] = (annotation, value)
            return all_fields

        def meant(types, seen=()):
            for name in sorted(types):
                if name in self.classes and of(name):
                    yield name
                elif name in self.assigned and name not in seen:
                    yield from meant(set(names(self.assigned[name])), (*seen, name))

        def plain(name):
            if name in PLAIN:
                return True
            if name in self.classes:
                return any("Enum" in ast.dump(b) for b in self.classes[name].bases)
            return name in self.assigned and all(plain(n) for n in set(names(self.assigned[name])) if n != name)

        def walk(name, prefix, seen):
            for field, (annotation, value) in sorted(of(name).items()):
                path, types = prefix + field, set(names(annotation))
                out.add(path)
                if path in self.valued:
                    out.update(f"{path}={w}" for w in self.words(annotation) + (constants(value) if "ClassVar" in types else []))
                inner = [n for n in meant(types) if n not in seen]
                for n in inner:
                    walk(n, path + ".", (*seen, n))
                if not inner and not all(plain(n) for n in types):
                    out.add(path + ".*")

        for root, prefix in roots.items():
            if root in self.classes:
                walk(root, prefix, (root,))
                if prefix:
                    out.add(prefix.rstrip("."))
        return sorted(out)


asked = json.load(sys.stdin)
sources = Sources(asked["files"], asked["valued"] or [])
json.dump({"flags": sources.flags(asked["classes"] or []), "keys": sources.keys(asked["roots"])}, sys.stdout)
