#!/usr/bin/env python3
"""Stands for GitHub's gh and for curl to GitLab, as the workflows of docs/ci.md call them.

The name it is called by says which. The comments of the one pull request (number 7, commit "sha7", of fork:branch) are in
comments.json in the current directory; a call that the workflows have no reason for fails.
"""
import json
import os
import shutil
import subprocess
import sys


def load():
    """The comments, of others at first."""
    if os.path.exists("comments.json"):
        with open("comments.json", encoding="utf-8") as file:
            return json.load(file)
    return [{"id": 1, "user": {"login": "somebody"}, "body": "<!-- microtome-suite --> is what I quote"},
            {"id": 2, "user": {"login": "github-actions[bot]"}, "body": "hello"}]


def write(method, path, body):
    """Adds or replaces a comment."""
    comments = load()
    if method == "POST":
        assert path.endswith(("/issues/7/comments", "/merge_requests/7/notes")), path
        comments.append({"id": len(comments) + 1, "user": {"login": "github-actions[bot]"}, "body": body})
    else:
        assert method in ("PATCH", "PUT"), method
        next(c for c in comments if c["id"] == int(path.rsplit("/", 1)[1]))["body"] = body
    with open("comments.json", "w", encoding="utf-8") as file:
        json.dump(comments, file)


def option(words, name, default=None):
    """The value of an option."""
    return words[words.index(name) + 1] if name in words else default


def text_of(word):
    """The contents of the file in body@FILE or body=@FILE."""
    with open(word.split("@", 1)[1], encoding="utf-8") as file:
        return file.read()


def gh(words):
    """gh run download, gh api."""
    if words[:2] == ["run", "download"]:
        shutil.copytree("microtome-results", option(words, "--dir"), dirs_exist_ok=True)
        return
    path = next(w for w in words[1:] if w.startswith("repos/"))
    if "-F" in words:
        write(option(words, "-X", "POST"), path, text_of(option(words, "-F")))
        return
    data = load()
    if path.endswith("/pulls"):
        assert "head=fork:branch" in words and "state=open" in words, words
        data = [{"number": 6, "head": {"sha": "sha6"}}, {"number": 7, "head": {"sha": "sha7"}}]
    subprocess.run(["jq", "-r", option(words, "--jq")], input=json.dumps(data), text=True, check=True)


def curl(words):
    """curl to the notes of a merge request."""
    url = next(w for w in words if w.startswith("https://"))
    assert option(words, "-H") == "PRIVATE-TOKEN: token", words
    if "--data-urlencode" in words:
        write(option(words, "-X"), url, text_of(option(words, "--data-urlencode")))
    else:
        print(json.dumps([c for c in load() if c["id"] != 1]))


(gh if os.path.basename(sys.argv[0]) == "gh" else curl)(sys.argv[1:])
