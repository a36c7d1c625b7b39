#!/bin/sh
# Gets lwIP, the TCP/IP stack of the kernel's network streaming, from Debian's source package, checks it and unpacks it.
# Usage: tools/lwip.sh DIR      into DIR/src, DIR/COPYING; succeeds without lwIP, too, and says what is missing
set -eu
mkdir -p "$1"
cd "$1"

release=bookworm
archive=lwip_2.1.3+dfsg1.orig.tar.xz
sum=0a8276d09fc4e97bbba2f953d74af2388fc2195ea156be9d7589e297a68fde24
cache=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/microtome

missing() {
    echo "lwip: the kernel is built without network streaming: $1; 'make lwip all' tries again" >&2
    exit 0
}

is_right() {
    [ -f "$1" ] && echo "$sum  $1" | sha256sum --status -c -
}

# The mirrors of this system, if it is a Debian, and the main mirror.
mirrors() {
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL)' 'Created-By: Packages' 2>/dev/null |
        sed -n 's|/* Debian Debian$||p' | { cat && echo http://deb.debian.org/debian; } | awk '!seen[$0]++'
}

# fetch MIRROR: gets the source package into the directory apt, with a separate configuration, so that no right
# to change the system's is needed.  The system may lack Debian's keys, hence trusted=yes; a checksum verifies the package.
fetch() {
    rm -rf apt
    mkdir -p apt/lists/partial apt/cache/archives/partial
    echo "deb-src [trusted=yes] $1 $release main" >apt/sources.list
    options="-o Dir::Etc::sourcelist=$PWD/apt/sources.list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$PWD/apt/lists
        -o Dir::Cache=$PWD/apt/cache -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o APT::Sandbox::User="
    # shellcheck disable=SC2086
    (cd apt && apt-get -q $options update && apt-get -q $options source --download-only lwip) >apt.log 2>&1 </dev/null
}

rm -rf src COPYING
command -v xz >/dev/null || missing "xz is not installed (tools/setup.sh build)"
if is_right "$cache/$archive"; then
    cp "$cache/$archive" .
elif ! is_right "$archive"; then
    command -v apt-get >/dev/null || missing "there is no apt-get, which gets Debian's source package"
    for mirror in $(mirrors); do
        fetch "$mirror" && is_right "apt/$archive" && break
    done
    [ -f "apt/$archive" ] ||
        missing "apt-get cannot get Debian's source package lwip ($(grep '^[EW]:' apt.log | head -n 1))"
    is_right "apt/$archive" || missing "$archive is not the file that it should be"
    mv "apt/$archive" .
    # without a home directory or its cache the next build directory fetches it again
    { mkdir -p "$cache" && cp "$archive" "$cache/$archive.$$" && mv "$cache/$archive.$$" "$cache/$archive"; } 2>/dev/null || :
fi
rm -rf apt
tar -xJf "$archive" --strip-components=1 --wildcards '*/src' '*/COPYING'
