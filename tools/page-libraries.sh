#!/bin/sh
# Gets the libraries of the page that `hr view` writes, checks them and unpacks the files that are used.
# Usage: tools/page-libraries.sh DIR      succeeds without npm, too, and says what is missing
set -eu
mkdir -p "$1"
cd "$1"

# package, version, the package's SHA-512, its files that are used
libraries='uplot 1.6.32 2883159c6ebccefbb95d751b0b82d010f9e1c0ec41b8bc96d401eda66e882935c89a46cb824332fa369b8cb8122cc6ac36e186cd09bf7a9ded3a4c93c6989023 dist/uPlot.iife.min.js,dist/uPlot.min.css,LICENSE
d3-flame-graph 4.1.3 3628ee849661693330a1b560c0643aef1f4fa2fa8c3075c16ecd0530710626fb16646b8be0ceceb01d37bfc9877725721e19d0606b189dbe70d36d5ef7e47e45 dist/d3-flamegraph.min.js,dist/d3-flamegraph.css,LICENSE'

missing() {
    echo "page-libraries: hr view will not work: $1; 'make page all' tries again" >&2
    exit 0
}

rm -rf uplot d3-flame-graph no-npm
command -v npm >/dev/null || touch no-npm # when npm is there, the build tries again
[ ! -e no-npm ] || missing "npm is not installed, which gets uplot and d3-flame-graph"
echo "$libraries" | while read -r name version sum files; do
    archive=$name-$version.tgz
    [ -f "$archive" ] || timeout 120 npm pack --silent "$name@$version" >npm.log 2>&1 ||
        missing "npm cannot get $name $version ($(tail -n 1 npm.log))"
    echo "$sum  $archive" | sha512sum --status -c - || {
        rm -f "$archive"
        missing "$archive is not the file that it should be"
    }
    mkdir -p "$name"
    # shellcheck disable=SC2046
    tar -xzf "$archive" -C "$name" --strip-components=1 $(echo "$files" | tr , '\n' | sed 's|^|package/|')
done
