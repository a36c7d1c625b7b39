#!/bin/sh
# Assembles the page of `hr view`, without its data, and writes it to standard output.
# Usage: tools/page.sh LIBRARIES      writes nothing if the libraries are missing
set -eu
libraries=$1
page=$(dirname "$0")/../host/view/page
uplot=$libraries/uplot flame=$libraries/d3-flame-graph

[ -f "$uplot/dist/uPlot.iife.min.js" ] && [ -f "$flame/dist/d3-flamegraph.min.js" ] || exit 0

# Two hyphens end an HTML comment, an end tag ends a script: licences and scripts must not contain these.
licence() {
    printf '<!-- %s\n\n' "$1"
    sed 's/--/- -/g' "$2"
    echo '-->'
}

head -n 2 "$page/page.html"
licence 'This page contains uPlot:' "$uplot/LICENSE"
licence 'This page contains d3-flame-graph and parts of d3 (ISC licence, Copyright Mike Bostock):' "$flame/LICENSE"
tail -n +3 "$page/page.html" | sed '/<!-- body -->/q' | grep -v '<!-- body -->' | while IFS= read -r line; do
    case $line in
    *'<!-- style -->'*)
        echo '<style>'
        cat "$uplot/dist/uPlot.min.css" "$flame/dist/d3-flamegraph.css" "$page"/*.css
        echo '</style>'
        ;;
    *) printf '%s\n' "$line" ;;
    esac
done
sed '1,/<!-- body -->/d' "$page/page.html"
echo '<script>'
cat "$uplot/dist/uPlot.iife.min.js"
echo
cat "$flame/dist/d3-flamegraph.min.js"
echo '</script>'
echo '<script>'
echo '(function () {'
echo '"use strict";'
cat "$page"/*.js
echo '})();'
echo '</script>'
