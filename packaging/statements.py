# SPDX-License-Identifier: Apache-2.0
"""What a release says about its files: checksums, a bill of materials (CycloneDX 1.6), and where they come from (an in-toto
statement with SLSA's provenance). None names a person, a machine or a time other than the commit's.

The provenance is unsigned: whoever publishes signs it with their own key (docs/release.md).
"""

import json
import pathlib
import platform
import subprocess
import time

import archives
import sources
import targets
import wheels

ROOT = pathlib.Path(__file__).resolve().parent.parent


def _when() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(archives.epoch()))


def bill_of_materials() -> "dict[str, object]":
    component = {"type": "application", "bom-ref": "stoker", "name": "stoker", "version": wheels.version(),
                 "licenses": [{"expression": "Apache-2.0"}]}  # fmt: skip
    parts = []
    for s in sources.table():
        parts.append({"type": "library", "bom-ref": s.name, "name": s.name, "version": s.version,
                      "licenses": [{"expression": s.license}],
                      "hashes": [{"alg": "SHA-256", "content": s.sha256}],
                      "externalReferences": [{"type": "website", "url": s.homepage}],
                      "properties": [{"name": "stoker:how", "value": s.how}, {"name": "stoker:archive", "value": s.file}]})  # fmt: skip
    return {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
            "metadata": {"timestamp": _when(), "component": component}, "components": parts,
            "dependencies": [{"ref": "stoker", "dependsOn": [s.name for s in sources.table()]}]}  # fmt: skip


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def provenance(artifacts: "list[pathlib.Path]", names: "list[str]", found: "dict[str, str]") -> "dict[str, object]":
    """What the files are, from which commit and materials, and by which command."""
    materials = [{"name": "stoker", "digest": {"gitCommit": _git("rev-parse", "HEAD")}}]
    materials += [{"name": s.file, "digest": {"sha256": s.sha256}} for s in sources.table()]
    tools = {"zig": subprocess.run([targets.zig_program(), "version"], capture_output=True, text=True, check=True).stdout.strip(),
             "python": platform.python_version(), "zlib": archives.says_zlib()}  # fmt: skip
    build = {"buildType": "https://slsa.dev/provenance/v1", "externalParameters": {"command": "./dev release", "targets": names,
             "pythons": sorted(found)}, "internalParameters": {"tools": tools, "SOURCE_DATE_EPOCH": archives.epoch(),
             "changed": bool(_git("status", "--porcelain"))}, "resolvedDependencies": materials}  # fmt: skip
    subjects = [{"name": path.name, "digest": {"sha256": sources.digest(path)}} for path in artifacts]
    return {"_type": "https://in-toto.io/Statement/v1", "subject": subjects,
            "predicateType": "https://slsa.dev/provenance/v1",
            "predicate": {"buildDefinition": build, "runDetails": {"builder": {"id": "packaging/release.py"}}}}  # fmt: skip


def write(into: pathlib.Path, names: "list[str]", found: "dict[str, str]") -> None:
    artifacts = sorted(path for path in into.iterdir() if path.is_file())
    (into / f"stoker-{wheels.version()}.cdx.json").write_text(json.dumps(bill_of_materials(), indent=1) + "\n")
    text = json.dumps(provenance(artifacts, names, found), indent=1) + "\n"
    (into / f"stoker-{wheels.version()}.provenance.json").write_text(text)
    rows = [f"{sources.digest(path)}  {path.name}\n" for path in sorted(into.iterdir()) if path.name != "SHA256SUMS"]
    (into / "SHA256SUMS").write_text("".join(rows))
