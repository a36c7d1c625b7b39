#!/bin/sh
# Runs a program under Microtome: builds what is missing or out of date, then executes `hr run`.
set -eu
program=$0
[ ! -L "$program" ] || program=$(readlink -f "$program")
home=.
[ "$program" = "${program%/*}" ] || home=${program%/*}
build=$home/build
stamp=$build/run.stamp

# The stamp has the time of the last successful build; one walk over the sources finds newer ones.
if [ ! -x "$build/hr" ] || [ ! -e "$build/guest.elf" ] || [ ! -e "$stamp" ] ||
    [ -n "$(cd "$home" && find include lib drivers guest boot host Makefile linker.ld \
        \( -type f -o -type d \) -newer build/run.stamp -print -quit)" ]; then
    # Two processes must not build into one directory at once.
    if ! { mkdir -p "$build" && touch "$build/run.lock"; } 2>/dev/null; then
        echo "run.sh: out of date, and $build cannot be written; build as its owner: make" >&2
        exit 125
    fi
    exec 9>"$build/run.lock"
    flock 9
    touch "$stamp.new"
    if ! (unset MAKEFLAGS; make -s -C "$home" -j2 build/hr build/guest.elf) </dev/null >"$build/run.log" 2>&1; then
        cat "$build/run.log" >&2
        echo "run.sh: the build failed; 'make demo' installs what it needs" >&2
        exit 125
    fi
    mv "$stamp.new" "$stamp"
    exec 9>&-
fi
exec "$build/hr" run "$@"
