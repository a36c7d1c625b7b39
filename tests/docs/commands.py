#!/usr/bin/env python3
"""Prints the commands of a document, one a line, in their order.

    commands.py DOCUMENT            # all of them
    commands.py DOCUMENT STEP       # what a step of a workflow runs

Commands are in blocks, which are fenced (``` or ```console, ```sh, ```bash, ```shell) or indented by four spaces after
an empty line: the lines after "$ ", or all lines of a block that has none of these. So a block that is no command
has a language, as ```text. A backslash at the end of a line continues it. Of a ```yaml block the steps of a workflow
that run something are printed as "workflow step: NAME". In the text, the commands of other programs count that
take a stick or its image: `qemu-system-x86_64 ...`, `dd ...`, `ssh ...`, `ipmitool ...`.
"""
import re
import sys

SHELLS = ("", "console", "sh", "bash", "shell")
IN_TEXT = ("qemu-system-x86_64 ", "dd ", "ssh ", "ipmitool ")


def blocks(lines):
    """(language, lines) of each block, "" for one without; (None, lines) of the text between them."""
    fence = None  # the blanks before it
    language, block = None, []
    after_empty = True
    for line in lines:
        mark = re.match(r"( *)```(\w*)", line)
        if mark:
            yield language, block
            fence, language = (mark.group(1), mark.group(2)) if fence is None else (None, None)
            block = []
        elif fence is not None:
            block.append(line[len(fence):])
        else:
            indented = line.startswith("    ") and (after_empty or language == "")
            kind = "" if indented or (language == "" and not line.strip()) else None
            if kind != language:
                yield language, block
                language, block = kind, []
            block.append(line[4:] if indented else line)
        after_empty = not line.strip()
    yield language, block


def of_block(block):
    """The commands of a block."""
    joined = re.sub(r"\\\n\s*", "", "\n".join(block)).split("\n")
    marked = [line[2:] for line in joined if line.startswith("$ ")]
    return marked or [line for line in joined if line.strip() and not line.lstrip().startswith("#")]


def steps(block):
    """The steps of a workflow that run something: what they run, by name."""
    import yaml  # pylint: disable=import-outside-toplevel

    workflow = yaml.safe_load("\n".join(block))
    if "jobs" not in workflow:  # GitLab's
        return {name: "\n".join(job["script"]) for name, job in workflow.items()}
    return {step["name"]: step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step}


def main():
    with open(sys.argv[1], encoding="utf-8") as document:
        lines = document.read().split("\n")
    for language, block in blocks(lines):
        found = []
        if language is None:
            found = [code for code in re.findall(r"`([^`]+)`", "\n".join(block))
                     if code.startswith(IN_TEXT) and len(code.split()) > 3]
        elif language in SHELLS:
            found = of_block(block)
        elif language == "yaml":
            found = ["workflow step: " + name for name in steps(block)]
            if len(sys.argv) > 2 and sys.argv[2] in steps(block):
                print(steps(block)[sys.argv[2]])
        for command in found if len(sys.argv) == 2 else []:
            print(command.strip())


main()
