#!/bin/sh
# Given as --qemu: the emulator QEMU on one host thread and in virtual time. Several CPUs, and yet every run is the
# same. All CPUs share the clock: while N of them run, each executes 1000/N instructions a microsecond.
for argument in "$@"; do
    [ "$argument" != tcg,thread=multi ] || argument=tcg
    set -- "$@" "$argument"
    shift
done
exec "${QEMU:-qemu-system-x86_64}" "$@" -icount shift=0,sleep=off -rtc base=2024-01-01T00:00:00,clock=vm
