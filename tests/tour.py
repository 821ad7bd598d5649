#!/usr/bin/env python3
"""Runs the README's psql tour: each ```psql block is a transcript; what follows a prompt is typed, the rest must be printed."""
import re, subprocess, sys

readme, port = sys.argv[1:3]
blocks = re.findall(r"```psql\n(.*?)```", open(readme).read(), re.S)
assert blocks, "the README has no psql blocks"
typed, expected = [], []
for block in blocks:
    for line in block.splitlines():
        prompt = re.match(r"postgres[=*!]?[>#-]# ?|postgres[=-][*!]?[>#] ?", line)
        if prompt:
            typed.append(line[prompt.end():])
        elif line.strip():
            expected.append(line.rstrip())
result = subprocess.run(
    ["psql", "-X", "-h", "127.0.0.1", "-p", port, "-U", "postgres", "postgres"],
    input="\n".join(typed) + "\n", capture_output=True, text=True, timeout=60)
printed = [line.rstrip() for line in (result.stdout + result.stderr).splitlines() if line.strip()]
missing = [line for line in expected if line not in printed]
if missing:
    print("printed:", *printed, sep="\n  ")
    print("the README says, and psql did not print:", *missing, sep="\n  ")
    sys.exit(1)
print(f"{len(expected)} lines as the README says")
