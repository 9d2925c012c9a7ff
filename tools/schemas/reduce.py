"""Reduces published schemas of deployment files to what tests need, and writes them to
internal/launch/files/testdata/schemas, or to the folder that a source names.

    python3 tools/schemas/reduce.py MIRROR [NAME ...]

MIRROR holds a git repository of each source in sources.json as OWNER+NAME/repo. Texts for people, defaults, status and rules that a
JSON Schema cannot hold are left out; equal parts stand once; an object with listed properties takes no others, as an unknown field is
dropped by the API server without an error. Needs PyYAML.
"""

import json
import pathlib
import subprocess
import sys

import yaml

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
OUT = "internal/launch/files/testdata/schemas"
DROPPED = {"description", "example", "default", "title", "deprecated"}
SHORTEST = 60  # characters of a part that is worth a definition


def git(mirror, source, *args):
    repository = mirror / source["repository"].replace("/", "+") / "repo"
    return subprocess.check_output(["git", "-C", str(repository), *args]).decode()


def strip(n):
    """What of a schema decides whether a document fits."""
    if isinstance(n, list):
        return [strip(x) for x in n]
    if not isinstance(n, dict):
        return n
    out = {}
    for k, v in n.items():
        if k == "properties" or k == "$defs" or k == "definitions" or k == "patternProperties":
            out[k] = {name: strip(v[name]) for name in sorted(v)}
        elif k not in DROPPED and not k.startswith("x-kubernetes-") and k != "nullable" and v != []:
            out[k] = strip(v)
    if n.get("x-kubernetes-int-or-string") and "anyOf" not in out:
        out = {"anyOf": [{"type": "integer"}, {"type": "string"}]}
    if "properties" in out and "additionalProperties" not in out and not n.get("x-kubernetes-preserve-unknown-fields"):
        out["additionalProperties"] = False
    if n.get("nullable") and isinstance(out.get("type"), str):
        out["type"] = [out["type"], "null"]
    if len(out.get("allOf", [])) == 1 and len(out) == 1:  # a reference with a description beside it
        return out["allOf"][0]
    return out


def shared(n, definitions):
    """A schema whose larger parts are references to definitions, each of which stands once."""
    if isinstance(n, list):
        return [shared(x, definitions) for x in n]
    if not isinstance(n, dict):
        return n
    out = {k: {a: shared(b, definitions) for a, b in v.items()} if k == "properties" else shared(v, definitions) for k, v in n.items()}
    text = json.dumps(out, sort_keys=True)
    if len(text) < SHORTEST or set(out) == {"$ref"}:
        return out
    if text not in definitions:
        definitions[text] = (f"d{len(definitions)}", out)
    return {"$ref": "#/$defs/" + definitions[text][0]}


def crd(text, versions):
    """The kinds of a CustomResourceDefinition."""
    kinds = {}
    for document in yaml.load_all(text, Loader=yaml.CSafeLoader):
        if not document or document.get("kind") != "CustomResourceDefinition":
            continue
        spec = document["spec"]
        for v in spec["versions"]:
            if v["name"] in versions:
                schema = strip(v["schema"]["openAPIV3Schema"])
                schema["properties"].pop("status", None)
                kinds[f"{spec['group']}/{v['name']}/{spec['names']['kind']}"] = schema
    return kinds


def openapi(text, wanted):
    """Kinds of an OpenAPI document, with everything they refer to in place."""
    schemas = json.loads(text)["components"]["schemas"]

    def resolve(n, above):
        if isinstance(n, list):
            return [resolve(x, above) for x in n]
        if not isinstance(n, dict):
            return n
        if "$ref" in n:
            name = n["$ref"].rsplit("/", 1)[1]
            return {} if name in above else resolve(schemas[name], above | {name})
        return {k: resolve(v, above) for k, v in n.items()}

    kinds = {}
    for name, s in schemas.items():
        for g in s.get("x-kubernetes-group-version-kind", []):
            if g["kind"] in wanted and len(s["x-kubernetes-group-version-kind"]) == 1:
                version = "/".join(filter(None, (g["group"], g["version"])))
                schema = strip(resolve(s, frozenset()))
                schema["properties"].pop("status", None)
                kinds[f"{version}/{g['kind']}"] = schema
    return kinds


def main():
    mirror = pathlib.Path(sys.argv[1])
    sources = json.loads((HERE / "sources.json").read_text())
    for name in sys.argv[2:] or sources:
        s = sources[name]
        commit = git(mirror, s, "rev-parse", s["revision"] + "^{commit}").strip()
        out = {"$comment": f"Reduced by tools/schemas from {s['licence']} files of https://github.com/{s['repository']} at {s['revision']} ({commit})"}
        kinds, definitions = {}, {}
        for path in s["files"]:
            text = git(mirror, s, "show", f"{commit}:{path}")
            if "json_schema" in s:
                schema = strip(json.loads(text))
                schema.pop("$id", None)
                if s.get("share"):
                    schema["properties"] = {k: shared(v, definitions) for k, v in schema["properties"].items()}
                    schema["$defs"] = {k: v for k, v in definitions.values()}
                out |= schema
            elif path.endswith(".json"):
                kinds |= openapi(text, s["kinds"])
            else:
                kinds |= crd(text, s["versions"])
        if kinds:
            kinds = {k: shared(kinds[k], definitions) for k in sorted(kinds)}
            out |= {"$defs": kinds | {k: v for k, v in definitions.values()}}
        file = ROOT / s.get("out", OUT) / f"{name}.json"
        file.write_text(json.dumps(out, separators=(",", ":")) + "\n")
        print(name, len(kinds), file.stat().st_size)


main()
