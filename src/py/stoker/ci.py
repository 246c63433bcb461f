# SPDX-License-Identifier: Apache-2.0
"""Run by the GitHub Action and the GitLab template: `python -m stoker.ci github|gitlab`. It needs the program on PATH,
and only Python's standard library: the action runs it as a file.

Inputs are environment variables, listed in action.yml: STOKER_PROFILE, STOKER_BASE, STOKER_FAIL_ON,
STOKER_FAIL_ON_CHANGE, STOKER_CANNOT_TELL, STOKER_PROVE, STOKER_PROVE_AGAINST. The report is written to stoker-report.md and
stoker-report.json in STOKER_OUT (the runner's temporary folder, or the working folder). Exit codes are the program's:
the first nonzero one of the report, the comparison and the proof.
"""

import json
import os
import pathlib
import shlex
import subprocess
import sys

CANNOT_TELL = 4


def given(name: str, default: str = "") -> str:
    return os.environ.get(f"STOKER_{name}") or default


def out() -> pathlib.Path:
    folder = pathlib.Path(given("OUT") or os.environ.get("RUNNER_TEMP") or ".")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def stoker(*words: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["stoker", *map(str, words)], stdout=subprocess.PIPE, text=True, check=False)


def fail_on() -> "list[str]":
    level = given("FAIL_ON", "never")
    return [] if level == "never" else ["--fail-on", level]


def severity(finding: "dict[str, object]") -> str:
    return str(finding["severity"])


# A message must stay on its line, and must not start a runner command.
def escaped(text: object, is_property: bool = False) -> str:
    said = str(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return said.replace(":", "%3A").replace(",", "%2C") if is_property else said


def place(finding: "dict[str, object]") -> "tuple[str, int] | None":
    """The finding's file, within the working folder, and line."""
    source = finding.get("source")
    if not isinstance(source, dict):
        return None
    file = pathlib.PurePosixPath(str(source["file"]))
    here = pathlib.PurePosixPath(os.getcwd())
    name = str(file.relative_to(here)) if file.is_relative_to(here) else str(file)
    return name, int(source["line"])


def annotate(findings: "list[dict[str, object]]") -> None:
    """GitHub workflow commands, which GitHub shows at file and line."""
    kinds = {"high": "error", "medium": "warning"}
    for finding in findings:
        at = place(finding)
        if at:
            where = f"file={escaped(at[0], True)},line={at[1]},title={escaped('stoker: ' + str(finding['id']), True)}"
            print(f"::{kinds.get(severity(finding), 'notice')} {where}::{escaped(finding['title'])}")


def github(report: "dict[str, object] | None", markdown: pathlib.Path, document: pathlib.Path) -> None:
    findings = list(report.get("findings", [])) if report else []  # type: ignore[call-overload]
    annotate(findings)
    if os.environ.get("GITHUB_STEP_SUMMARY") and markdown.exists():
        with open(os.environ["GITHUB_STEP_SUMMARY"], "a", encoding="utf-8") as f:
            f.write(markdown.read_text(encoding="utf-8"))
    if os.environ.get("GITHUB_OUTPUT"):
        verdict = report["verdict"]["kind"] if report and "verdict" in report else "several-jobs" if report else ""  # type: ignore[index]
        with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as f:
            f.write(f"verdict={verdict}\nfindings={len(findings)}\nreport={markdown}\njson={document}\n")


def gitlab(report: "dict[str, object] | None") -> None:
    """gl-code-quality-report.json: findings with a place, for merge requests."""
    levels = {"high": "critical", "medium": "major", "low": "minor"}
    rows = []
    for finding in list(report.get("findings", [])) if report else []:  # type: ignore[call-overload]
        at = place(finding)
        if at:
            rows.append({"description": finding["title"], "check_name": finding["id"], "severity": levels.get(severity(finding), "info"),
                         "fingerprint": f"{finding['id']}:{at[0]}:{at[1]}",
                         "location": {"path": at[0], "lines": {"begin": at[1]}}})  # fmt: skip
    (out() / "gl-code-quality-report.json").write_text(json.dumps(rows, indent=1) + "\n")


def write_markdown(profile: str, report: "dict[str, object]", markdown: pathlib.Path) -> "list[int]":
    """Exit codes that don't mean an answer."""
    if "findings" in report:
        text = stoker("why", "--format", "markdown", "-o", markdown, "--", profile)
        return [] if text.returncode in (0, 1, CANNOT_TELL) else [text.returncode]
    lines = stoker("why", "--no-color", "--", profile).stdout.replace("```", "")  # of several jobs
    markdown.write_text(f"### stoker: several jobs\n\n```text\n{lines}```\n", encoding="utf-8")
    return []


def report_codes(profile: str, markdown: pathlib.Path, document: pathlib.Path) -> "tuple[list[int], dict[str, object] | None]":
    """Returns the exit codes of the report and the comparison, and the report."""
    why = stoker("why", "--json", "-o", document, *fail_on(), "--", profile)
    report = json.loads(document.read_text(encoding="utf-8")) if why.returncode in (0, 1, CANNOT_TELL) else None
    codes = [why.returncode]
    base = given("BASE")
    if report is not None:
        codes += write_markdown(profile, report, markdown)
    if report is not None and base:
        change = stoker("diff", "--markdown", "--fail-on", given("FAIL_ON_CHANGE", "slower=5"), "--", base, profile)
        codes.append(change.returncode)
        with open(markdown, "a", encoding="utf-8") as f:
            f.write("\n" + change.stdout)
    return codes, report


def proof_code(markdown: pathlib.Path) -> int:
    """Returns the exit code of `stoker prove`, whose result is added to the report."""
    sides = [*shlex.split(given("PROVE_AGAINST")), "--vs", *shlex.split(given("PROVE"))]
    done = stoker("prove", "--no-color", "--ledger", "none", "--", *sides)
    with open(markdown, "a", encoding="utf-8") as f:
        f.write(f"\n### stoker prove\n\n```text\n{done.stdout.replace('```', '')}```\n")
    return done.returncode


def main() -> int:
    host = sys.argv[1] if len(sys.argv) == 2 else ""
    profile = given("PROFILE")
    if host not in ("github", "gitlab") or not profile:
        print("usage: STOKER_PROFILE=PATH python -m stoker.ci github|gitlab", file=sys.stderr)
        return 2
    markdown, document = out() / "stoker-report.md", out() / "stoker-report.json"
    codes, report = report_codes(profile, markdown, document)
    if given("PROVE") and given("PROVE_AGAINST"):
        codes.append(proof_code(markdown))
    github(report, markdown, document) if host == "github" else gitlab(report)
    if given("CANNOT_TELL", "ignore") == "ignore":
        codes = [0 if code == CANNOT_TELL else code for code in codes]
    return next((code for code in codes if code), 0)


if __name__ == "__main__":
    sys.exit(main())
