#!/bin/sh
# Functions for tests of what comes back on a stick: makes results on an image as the loader does.
# Sourced after lib.sh; the image is usb.img, a result's files lie in the directory it/ before they go there.

# new_image: an empty stick of 80 MB.
new_image() {
    head -c 5000 /dev/zero | tr '\0' x >loader.efi
    "$HR" usb --loader loader.efi -o usb.img --force --size 80M "$WORKLOADS/hello" 2>image.err || cat image.err
}

# begin SAMPLES: the files of a result: trace, output, log.
begin() {
    rm -rf it
    mkdir it
    "$TOOLS/gentrace" --stream "$1" it/hr.bin >/dev/null
    echo 'said by the program' >it/stdout
    : >it/stderr
    echo 'said by the kernel' >it/log.txt
}

# split BYTES: the trace in parts.
split_trace() {
    split -b "$1" -d -a 3 it/hr.bin it/part.
    rm it/hr.bin
    number=0
    for part in it/part.*; do
        if [ $number -eq 0 ]; then mv "$part" it/hr.bin; else mv "$part" "it/hr.bin.$number"; fi
        number=$((number + 1))
    done
}

# describe [LINE...]: result.conf of what is in it/, with these lines in place of those of a run that was as it should be.
describe() {
    {
        echo 'version = 1'
        if [ $# -eq 0 ]; then
            printf '%s\n' 'run = hello' 'archive = \microtome\runs\hello.cpio' 'repetition = 1' 'machine = lab-7' 'end = done' \
                'exit-kind = status' 'exit-code = 3' 'samples = 5' 'lost-samples = 0' 'seconds = 12.345678' 'started = 2026-01-02T03:04:05Z'
        else
            printf '%s\n' "$@"
        fi
        for name in stdout stderr files.bin hr.bin $(cd it && ls hr.bin.* 2>/dev/null | sort -t . -k 3 -n); do
            [ ! -e "it/$name" ] || echo "file = $name $("$TOOLS/crc32c" "it/$name")"
        done
    } >it/result.conf
}

# put NUMBER: onto the image.
put() {
    mmd -i usb.img@@1M "::/results/$1"
    mcopy -o -i usb.img@@1M it/* "::/results/$1/"
}

# message TYPE ID OFFSET MODE TEXT: one message of files.bin (include/run_ports.h).
message() {
    perl -e 'print pack "L<L<Q<Q<L<L<Q<", $ARGV[0], length $ARGV[4], $ARGV[1], $ARGV[2], oct $ARGV[3], 0, 1700000000000000000; print $ARGV[4]' "$@"
}
