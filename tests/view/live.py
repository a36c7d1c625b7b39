#!/usr/bin/env python3
"""Writes a trace step by step while hr view --serve shows it in a browser; prints what was seen as one JSON object.

    live.py TRACE     (HR: the command)
"""
import fcntl
import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser  # noqa: E402  (the path above)

HR = os.environ["HR"]
BADGES = "[...document.querySelectorAll('#badges li')].map(b => b.textContent)"
PLACE = """(({from, to, selection, search, weight}) => ({from, to, selection, search, weight, chosen: document.getElementById('weight').value, scroll: scrollY > 0,
   zoomed: !document.getElementById('flame-reset').disabled && hrView.view.flame.zoomed.data.name}))(hrView.state)"""


def samples_of(data):
    with open("prefix.bin", "wb") as file:
        file.write(data)
    return json.loads(subprocess.run([HR, "stat", "--json", "prefix.bin"], capture_output=True).stdout)["samples"]


def groups(page):
    """The page's data but the facts, which name the server."""
    return {name: text for name, text in re.findall(r'id="data-(\w+)">([^<]*)<', page) if name != "facts"}


def status_of(url):
    try:
        return urllib.request.urlopen(url).status
    except urllib.error.HTTPError as error:
        return error.code


def watch(page, url, data, writer):
    first, second = len(data) // 3, len(data) * 2 // 3
    page.open(url)
    seen = {"first": page.js("hrView.view.facts.samples") == samples_of(data[:first]), "live": page.js(BADGES)[0]}
    page.js("hrView.change({from: hrView.view.end / 8, to: hrView.view.end / 2})")
    page.js("hrView.change({selection: [hrView.state.to / 2, hrView.state.to * 0.7], search: 'work'}), scrollTo(0, 200)")
    page.js("(w => { w.value = 0; w.onchange({target: w}); })(document.getElementById('weight'))")
    page.settle()
    page.js("hrView.view.flame.chart.zoomTo(document.getElementById('flame').__data__.children[0])")
    before, end = page.js(PLACE), page.js("hrView.view.end")
    writer.write(data[first:second])
    page.wait("hrView.view.server.version === 2")
    page.settle()
    seen |= {"second": page.js("hrView.view.facts.samples") == samples_of(data[:second]), "longer": page.js("hrView.view.end") > end,
             "kept": page.js(PLACE) == before and bool(before["zoomed"]), "still live": page.js(BADGES)[0].startswith("live: "),
             "stale": status_of(url + "profile?from=0&to=9&version=1"), "now": status_of(url + "profile?from=0&to=9&version=2")}
    page.js("hrView.change({selection: null, from: 0, to: hrView.view.end})")
    writer.write(data[second:])
    writer.close()
    page.wait("!hrView.view.server.growing")
    page.settle()
    seen |= {"all": page.js("hrView.state.to === hrView.view.end"), "badges": page.js(BADGES), "notice": page.js("document.getElementById('notice').hidden"), "problems": page.problems}
    return seen


def main():
    data = open(sys.argv[1], "rb").read()
    writer = open("growing.bin", "wb", buffering=0)
    fcntl.flock(writer, fcntl.LOCK_EX)  # as a collector does
    writer.write(data[:len(data) // 3])
    server = subprocess.Popen([HR, "view", "--serve", "growing.bin"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().strip()
        with Browser() as page:
            seen = watch(page, url, data, writer)
        whole = subprocess.run([HR, "view", "-o", "-", sys.argv[1]], capture_output=True, text=True).stdout
        seen["whole"] = groups(urllib.request.urlopen(url).read().decode()) == groups(whole) and len(groups(whole)) > 0
        with open("growing.bin", "ab") as file:
            file.write(b"more")
        seen["changed"] = status_of(url + "version")
    finally:
        server.terminate()
    seen["words"] = server.communicate()[1].splitlines()
    print(json.dumps(seen))


main()
