#!/usr/bin/env python3
"""Looks at pages of hr view as a reader would, and says what it saw as a JSON object.

    page.py

A line of standard input is a look: PAGE and SCENARIO[=ARGUMENT]..., each ended by a tab.  What was seen is then in the
file `seen`, and its problems are a line of standard output.  One browser is for all.

Console errors, exceptions, failed requests and requests beside the page itself are in "problems".
"""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser  # noqa: E402  (the path above)

ROWS = """[...document.querySelectorAll('#functions tbody tr')].map(row => {
  const cells = [...row.cells], name = cells[cells.length - 1];
  return {name: name.firstChild.textContent, object: name.lastChild.textContent, self: cells[0].textContent,
          words: row.title};
})"""


BANDS = """Object.fromEntries(hrView.view.metrics.filter(m => m.bands).map(m => {
  const view = hrView.view, series = m.bands.read(0, view.end, 1000, view.pyramid.cpus.map(c => c.cpu)), bins = view.end / series.step;
  return [m.name, Object.fromEntries(m.bands.layers.map((layer, n) => [layer.name, series.values[n].reduce((a, b) => a + b, 0) / bins]))];
}))"""


def text(page, selector):
    return page.js(f"document.querySelector({json.dumps(selector)}).textContent")


def box(page, selector):
    return page.js(f"(({{x, y, width, height}}) => ({{x, y, width, height}}))"
                   f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())")


def counts(page):
    """Samples of each function, from the profile that is shown."""
    counted = {}
    for name, samples in page.js("hrView.view.functionRows.rows.map(r => [r.f.name, Math.round(r.samples)])"):
        if samples > 0:  # several functions may have one name
            counted[name] = counted.get(name, 0) + samples
    return counted


def frames(page):
    """What the flame graph says of each frame."""
    return page.js("[...document.querySelectorAll('#flame g.frame title')].map(t => t.textContent)")


def at(page, ns):
    """Where a time is on the screen."""
    plot = box(page, ".row")
    return plot["x"] + page.js(f"""((ns) => {{ const g = hrView.gutter, w = hrView.plotWidth();
        return g + (ns - hrView.state.from) / (hrView.state.to - hrView.state.from) * w; }})({ns})""")


def overview(page, _):
    return {"title": page.js("document.title"), "notice": page.js("byId = document.getElementById('notice').hidden"),
            "badges": page.js("[...document.querySelectorAll('#badges li')].map(b => b.textContent)"),
            "range": text(page, "#profile-range"), "rows": page.js("document.querySelectorAll('.row').length"),
            "checks": page.js("[...document.querySelectorAll('#checks li')].map(c => c.className + ': ' + c.textContent)"),
            "facts": page.js("[...document.querySelectorAll('#facts dd')].map(d => d.textContent)"),
            "functions": page.js(ROWS), "frames": frames(page), "counts": counts(page),
            "tracks": page.js("hrView.view.rows.map(row => row.metric.name + ' ' + row.metric.unit)"),
            "bands": page.js(BANDS), "end": page.js("hrView.view.end"),
            "heads": page.js("[...document.querySelectorAll('#functions th')].map(t => t.textContent)"),
            "choices": page.js("[...document.querySelectorAll('#metric-add option')].map(o => o.textContent)"),
            "regions": page.js("[...document.querySelectorAll('#regions:not([hidden]) tbody tr')].map(r => [...r.cells].map(c => c.textContent))"),
            "marks": page.js("hrView.view.lanes.marks.map(mark => mark.text)"),
            "lanes": page.js("hrView.view.lanes.list.map(lane => lane.name)"),
            "theme": page.js("document.documentElement.dataset.theme"),
            "elements": page.js("[...document.querySelectorAll('main *, header *')].map(e => e.localName).filter(n => ['img', 'b-evil', 'iframe', 'script'].includes(n))")}


def split(page, _):
    page.js("document.getElementById('split').click()")
    page.settle()
    return page.js("[...document.querySelectorAll('.row .name')].map(n => n.lastChild.textContent)")


def inlined(page, _):
    """Samples of each function with inlined ones apart."""
    hidden = page.js("document.getElementById('inlined-label').hidden")
    page.js("document.getElementById('inlined').click()")
    page.settle()
    return {"hidden": hidden, "counts": dict(page.js("hrView.view.functionRows.rows.map(r => [r.f.name + (r.f.inlined ? ' (inlined)' : ''), Math.round(r.samples)])")),
            "bands": page.js("hrView.view.rows[0].metric.bands.layers.map(layer => layer.name)")}


def select(page, argument):
    """Drags over the span FROM:TO in ns after zooming there; says what the profile became."""
    begin, end = (float(part) for part in argument.split(":"))
    room = (end - begin) / 2
    before = {"counts": counts(page), "frames": frames(page)}
    page.js(f"hrView.change({{from: {begin - room}, to: {end + room}}})")
    page.settle()
    rows = box(page, ".row")
    page.drag(at(page, begin), rows["y"] + 20, at(page, end), rows["y"] + 20)
    page.settle()
    seen = {"before": before, "counts": counts(page), "frames": frames(page), "range": text(page, "#profile-range"),
            "title": text(page, "#profile-title"), "selection": page.js("hrView.state.selection")}
    page.js("document.getElementById('clear').click(); document.getElementById('zoom-all').click()")
    return seen


def zoom(page, _):
    """Wheel, keys and buttons; down to single samples and back."""
    seen = {"all": page.js("hrView.state.to - hrView.state.from"), "words": [text(page, "#resolution")]}
    rows = box(page, ".row")
    x, y = rows["x"] + rows["width"] / 2, rows["y"] + 20
    for _step in range(40):
        page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-240)
    page.settle()
    if page.js("hrView.view.server && !hrView.view.samples"):
        page.wait("hrView.view.samples")
        page.settle()
    page.mouse("mouseMoved", 5, 5)
    seen["near"] = page.js("hrView.state.to - hrView.state.from")
    seen["points"] = page.js("hrView.view.rows[0].series.samples")
    seen["words"].append(text(page, "#resolution"))
    page.js("document.getElementById('stage').focus()")
    before = page.js("hrView.state.from")
    page.key("ArrowLeft")
    seen["moved"] = page.js("hrView.state.from") < before
    page.key("0")
    page.settle()
    seen["again"] = page.js("hrView.state.to - hrView.state.from")
    return seen


def search(page, name):
    page.js("document.activeElement.blur()")
    page.key("/")
    for letter in name:
        page.key(letter)
    page.wait(f"hrView.state.search === {json.dumps(name)} && hrView.idle()")
    seen = {"found": text(page, "#found"), "marked": page.js("document.querySelectorAll('#functions tr.found').length"),
            "lit": page.js("[...document.querySelectorAll('#flame g.frame')].filter(g => g.__data__.highlight).map(g => g.__data__.data.name)")}
    page.key("Escape")
    page.wait("document.getElementById('found').textContent === ''")
    seen["after"] = page.js("hrView.state.search")
    return seen


def hover(page, name):
    """What the lane of that name says of its first span, and the rows of that time."""
    first, last = page.js("[hrView.view.lanes.calls.first[0], hrView.view.lanes.calls.last[0]]")
    page.js(f"hrView.change({{from: {first - 1000}, to: {last + 1000}}})")
    page.settle()
    lane = page.js(f"hrView.view.lanes.list.findIndex(lane => lane.name === {json.dumps(name)})")
    page.mouse("mouseMoved", at(page, (first + last) / 2), box(page, "#lanes")["y"] + 17 * lane + 10)
    page.settle()
    return {"tip": text(page, "#tip"), "value": text(page, ".row .value")}


def moment(page, ns):
    """What the topmost row says of a time."""
    rows = box(page, ".row")
    page.mouse("mouseMoved", at(page, float(ns)), rows["y"] + 20)
    page.settle()
    return text(page, "#tip")


def process(page, name):
    """What the lane of a process says in its middle, and how many samples its profile has."""
    lane = page.js(f"hrView.view.lanes.list.findIndex(lane => lane.name === {json.dumps(name)})")
    page.mouse("mouseMoved", at(page, page.js("hrView.view.end / 2")), box(page, "#lanes")["y"] + 17 * lane + 10)
    page.settle()
    words = text(page, "#tip")
    page.js(f"""(select => {{ select.value = [...select.options].find(o => o.textContent === {json.dumps(name)}).value;
        select.onchange({{target: select}}); }})(document.getElementById('process'))""")
    page.settle()
    return {"words": words, "samples": sum(counts(page).values())}


def theme(page, _):
    ground = "getComputedStyle(document.body).backgroundColor"
    seen = {"theme": page.js("document.documentElement.dataset.theme"), "ground": page.js(ground)}
    page.js("document.getElementById('theme').click()")
    page.settle()
    seen.update(other=page.js("document.documentElement.dataset.theme"), other_ground=page.js(ground))
    page.js("document.getElementById('theme').click()")
    return seen


def layout(page, argument):
    """At WIDTHxHEIGHT, with scroll bars: what of the page is wider than its place, and how wide the timeline is."""
    width, height = (int(part) for part in argument.split("x"))
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
    page.wait("hrView.idle() && document.getElementById('lanes').offsetWidth === document.getElementById('rows').clientWidth")
    page.settle()
    return page.js("""(() => {
      const id = (name) => document.getElementById(name), wide = (inner, outer) => id(inner).getBoundingClientRect().right > id(outer).getBoundingClientRect().right + 0.5;
      return {bar: window.innerWidth - document.documentElement.clientWidth,
        cut: [["ruler", "stage"], ["minimap", "stage"], ["lanes", "lane-scroller"], ["rows", "scroller"]].filter((pair) => wide(...pair)).map((pair) => pair[0]),
        beyond: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        fits: ["scroller", "lane-scroller"].filter((name) => id(name).scrollHeight > id(name).clientHeight),
        plots: [...document.querySelectorAll(".row .uplot, .row .bands")].map((plot) => plot.offsetWidth - id("rows").clientWidth)};
    })()""")


def durations(page, name):
    """The table of durations; then the row of that name, and a click on its longest call."""
    seen = {"hidden": page.js("document.getElementById('calls').hidden")}
    if seen["hidden"]:
        return seen
    seen.update(note=text(page, "#calls-note"), legend=text(page, "#calls-legend"),
                heads=page.js("[...document.querySelectorAll('#calls-table th')].map(t => t.textContent)"),
                rows=page.js("[...document.querySelectorAll('#calls-table tbody tr')].map(r => [...r.cells].slice(0, 8).map(c => c.firstChild.textContent))"),
                sparks=page.js("[...document.querySelectorAll('#calls-table svg.spark path')].map(p => p.getAttribute('d').split('M').length - 1)"))
    page.js(f"[...document.querySelectorAll('#calls-table tbody tr')].find(r => r.cells[0].firstChild.textContent === {json.dumps(name)}).click()")
    page.settle()
    seen.update(chosen=text(page, "#calls-name"), shown=text(page, "#calls-shown"),
                shares=page.js("hrView.view.calls.shareChart.data[1].length"))
    page.js("document.getElementById('calls-share').click(); document.getElementById('calls-dots').scrollIntoView({block: 'center'})")
    seen["most"] = page.js("Math.max(...hrView.view.calls.shareChart.data[1])")
    x, y = page.js("""(() => { const calls = hrView.view.calls, { dots, chosen: row, dotChart: chart } = calls;
      let best = row.first;
      for (let i = row.first; i < row.first + row.worst; i++) if (dots.ns[i] > dots.ns[best]) best = i;
      const box = chart.over.getBoundingClientRect();
      return [box.left + chart.valToPos(dots.time[best], "x") + 2, box.top + chart.valToPos(dots.ns[best], "y") + 1]; })()""")
    page.mouse("mouseMoved", x, y)
    seen["tip"] = text(page, ".dot-tip")
    page.mouse("mousePressed", x, y, button="left", clickCount=1)
    page.mouse("mouseReleased", x, y, button="left", clickCount=1)
    page.settle()
    seen.update(selection=page.js("hrView.state.selection"), window=page.js("[hrView.state.from, hrView.state.to]"),
                elements=page.js("document.querySelectorAll('#calls img, #calls script, #calls b-evil').length"))
    page.js("document.getElementById('clear').click(); document.getElementById('zoom-all').click()")
    return seen


def memory(page, argument):
    """The map of memory of OF|NAME: what there is, what it says of an object; a drag, keys, and the life of an object of the heap."""
    seen = {"hidden": page.js("document.getElementById('memory').hidden")}
    if seen["hidden"]:
        return seen
    of, _, name = argument.partition("|")
    page.js(f"""(select => {{ select.value = hrView.view.memory.maps.findIndex(map => map.of === {json.dumps(of)}); select.onchange(); }})(document.getElementById('memory-of'));
        document.getElementById('memory').scrollIntoView({{block: 'center'}})""")
    page.settle()
    seen.update(maps=page.js("hrView.view.memory.maps.map(map => map.of)"), note=text(page, "#memory-note"), legend=text(page, "#memory-legend"),
                objects=page.js("hrView.view.memory.boxes.map(box => box.band.name)"),
                sums=page.js("""hrView.view.memory.map.bands.map(band => { const sum = (name) => hrView.view.memory.map.cells[name].slice(band.first, band.last).reduce((a, b) => a + b, 0);
                    return [band.name, sum("reads"), sum("writes"), sum("latency")].join(" "); })"""),
                elements=page.js("document.querySelectorAll('#memory img, #memory script, #memory b-evil').length"))
    stage = box(page, "#memory-stage")
    # the middle of the first cell that has something
    find = f"""(() => {{ const {{ map, boxes }} = hrView.view.memory, box = boxes.find(box => box.band.name === {json.dumps(name)}), {{ band }} = box;
      const place = map.cells.place[band.first], bin = Math.floor(place / band.rows), row = place % band.rows, w = hrView.plotWidth();
      const x = (ns) => hrView.gutter + (ns - hrView.state.from) / (hrView.state.to - hrView.state.from) * w;
      return {{ x: x(map.from + (bin + 0.5) * map.binNs), y: box.y + box.height * (1 - (row + 0.5) / band.rows), end: x(map.from + (bin + 8) * map.binNs), name: box.y + 5 }}; }})()"""
    cell = page.js(find)
    page.mouse("mouseMoved", stage["x"] + cell["x"], stage["y"] + cell["y"])
    seen["tip"] = text(page, "#memory-tip")
    page.drag(stage["x"] + cell["x"], stage["y"] + cell["y"], stage["x"] + cell["end"], stage["y"] + cell["y"])
    page.settle()
    seen.update(selection=page.js("hrView.state.selection"), box=page.js("!document.getElementById('memory-selection').hidden"),
                counts=counts(page), title=text(page, "#profile-title"), chosen=text(page, "#memory-object"))
    page.js("document.getElementById('clear').click()")
    if not page.js("document.getElementById('memory-graph').hidden"):
        page.js("document.getElementById('memory-graph').click()")
        page.settle()
        seen.update(alone=counts(page), alone_words=text(page, "#flame-note"), alone_object=page.js("hrView.view.memory.map.bands[hrView.state.object].name"))
        page.js("document.getElementById('memory-graph').click()")
        page.settle()
        seen["all"] = counts(page)
    before = page.js("hrView.state.to - hrView.state.from")
    page.mouse("mouseWheel", stage["x"] + cell["x"], stage["y"] + cell["y"], deltaX=0, deltaY=-240)
    page.settle()
    seen["zoomed"] = page.js("hrView.state.to - hrView.state.from") < before
    page.js("document.getElementById('zoom-all').click(); document.getElementById('memory-stage').focus()")
    page.settle()
    for key in ("ArrowUp", "ArrowDown", "Enter"):  # from the object that the drag chose
        page.key(key)
    page.settle()
    seen["only"] = page.js("hrView.view.memory.boxes.map(box => box.band.name)")
    page.key("Backspace")
    page.settle()
    seen["again"] = page.js("hrView.view.memory.boxes.length")
    page.drag(stage["x"] + 5, stage["y"] + cell["name"], stage["x"] + 5, stage["y"] + cell["name"])
    page.settle()
    seen["named"] = page.js("hrView.view.memory.boxes.map(box => box.band.name)")
    page.js("document.getElementById('memory-all').click()")
    page.settle()
    cell = page.js(find)
    for count in (1, 2):
        page.mouse("mousePressed", stage["x"] + cell["x"], stage["y"] + cell["y"], button="left", clickCount=count)
        page.mouse("mouseReleased", stage["x"] + cell["x"], stage["y"] + cell["y"], button="left", clickCount=count)
    page.settle()
    seen["life"] = page.js("hrView.state.selection")
    page.js("document.getElementById('clear').click(); document.getElementById('zoom-all').click()")
    return seen


def off_cpu(page, _):
    """The flame graph of waits: of the run, of its halves, of thread 1000; then the one of samples again."""
    seen = {"hidden": page.js("document.getElementById('flame-time').hidden")}
    if seen["hidden"]:
        return seen
    page.js("document.getElementById('off-cpu').click()")
    seen.update(frames=frames(page), ns=page.js("Math.round(hrView.view.flame.total)"), halves=[])
    for span in ("0, hrView.view.end / 2", "hrView.view.end / 2, hrView.view.end"):
        page.js(f"hrView.change({{selection: [{span}]}})")
        page.settle()
        seen["halves"].append(page.js("hrView.view.flame.total"))
    page.js("hrView.change({selection: null, tid: 1000})")
    page.settle()
    seen["thread"] = frames(page)[0]
    page.js("hrView.change({tid: -1}); document.getElementById('on-cpu').click()")
    page.settle()
    seen["again"] = frames(page)[0]
    return seen


def diff(page, _):
    """The page of a difference: the table, and what the graph says with both widths, with the frames' colours."""
    graph = """[...document.querySelectorAll('#flame g.frame')].map(g => [g.__data__.data.name, g.querySelector('title').textContent,
        g.querySelector('rect').getAttribute('fill')])"""
    seen = {"title": page.js("document.title"), "range": text(page, "#profile-range"), "after": page.js(graph),
            "badges": page.js("[...document.querySelectorAll('#badges li')].map(b => b.textContent)"),
            "rows": page.js("[...document.querySelectorAll('#functions tbody tr')].map(r => [r.cells[4].firstChild.textContent, r.cells[0].textContent, r.cells[0].className])"),
            "panels": page.js("[...document.querySelectorAll('main .panel')].filter(p => p.offsetParent).map(p => p.id)")}
    page.js("document.getElementById('widths-before').click()")
    page.settle()
    seen["before"] = page.js(graph)
    return seen


SCENARIOS = {"diff": diff, "off-cpu": off_cpu, "durations": durations, "layout": layout, "memory": memory, "overview": overview, "select": select, "zoom": zoom, "search": search, "theme": theme, "hover": hover, "moment": moment, "process": process, "split": split, "inlined": inlined}


def look(page, where, *scenarios):
    url = where if where.startswith("http") else "file://" + os.path.abspath(where)
    seen = {}
    page.tab(dark="dark" in scenarios, bars="bars" in scenarios)
    page.open(url)
    page.settle()
    for scenario in scenarios:
        name, _, argument = scenario.partition("=")
        if name not in ("dark", "bars"):
            seen[name] = SCENARIOS[name](page, argument)
            page.settle()
    home = url.rsplit("/", 1)[0] if url.startswith("http") else url
    elsewhere = [u for u in page.requests if not u.startswith((home, "data:"))]
    seen["problems"] = page.problems + ["asked for " + u for u in elsewhere]
    return seen


def main():
    page = None
    for line in iter(sys.stdin.readline, ""):
        try:
            page = page or Browser()
            seen = look(page, *line.split("\t")[:-1])
        except Exception as error:  # the test fails, and looks on with another browser
            seen = {"problems": [f"{type(error).__name__}: {error}"]}
            if page:
                page.close()
            page = None
        with open("seen", "w") as file:
            json.dump(seen, file)
        print(json.dumps(seen["problems"]), flush=True)
    if page:
        page.close()


main()
