#!/bin/sh
# Unpacks Debian's servers, clients for them, programs of tests/guest/35-unpacked.t, and allocators of 40-alloc.t, below $BUILD/servers/root, where the
# tests find them.  They are not installed, because that would start daemons.  Does nothing where they are there already.
set -eu
cd "$(dirname "$0")/.."
place=${BUILD:-build}/servers
packages='redis-server redis-tools memcached libmemcached-tools nginx apache2-utils postgresql-15 postgresql-client-15 curl
lighttpd r-base-core graphviz povray libjemalloc2 libtcmalloc-minimal4 libmimalloc2.0'

[ "$(cat "$place/packages" 2>/dev/null)" != "$packages" ] || exit 0
rm -rf "$place"
mkdir -p "$place/root"
# shellcheck disable=SC2086
plan() {
    apt-get -s -o Debug::NoLocking=1 --no-install-recommends install $packages 2>"$place/log"
}
plan >"$place/plan" || { apt-get -q update >>"$place/log" 2>&1 && plan >"$place/plan"; } || {
    cat "$place/log" >&2
    echo "servers: apt-get does not know $packages" >&2
    exit 1
}
# What is installed is found where it is, but for the packages themselves: their daemons are not all in PATH.
# shellcheck disable=SC2046,SC2086
if ! (cd "$place" && apt-get -q -o APT::Sandbox::User=root download \
    $(printf '%s\n' $packages $(awk '$1 == "Inst" { print $2 }' plan) | sort -u) >>log 2>&1); then
    cat "$place/log" >&2
    echo "servers: apt-get could not download them" >&2
    exit 1
fi
for package in "$place"/*.deb; do
    dpkg-deb -x "$package" "$place/root"
    rm "$package"
done
printf '%s\n' "$packages" >"$place/packages"
