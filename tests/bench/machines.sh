#!/bin/sh
# Counts one program's instructions on different machines, by Microtome and by what else counts them here.
#
#     machines.sh FOLDER      # prints lines: WHAT, a tab, WHERE, a tab, COUNT
#
# WHAT is microtome, callgrind or perf; a COUNT of "-" was not had, and WHERE says why.  BUILD, HR: as in bench.sh.  QEMU: one more
# emulator.  KVM_HOST: the script kvm-host, which boots a Linux host on another processor.  Debian 13's emulator is unpacked
# into FOLDER/trixie, which is kept for the next time, and not installed.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1" && cd "$1" || exit 1
here=$PWD
KVM_HOST=${KVM_HOST:-$root/../shared/kvm-host/kvm-host}
program=/usr/bin/sort
seq 1000 3000 | rev >lines

say() {
    printf '%s\t%s\t%s\n' "$1" "$2" "$3"
}

# ours WHERE [OPTION...]: all exact counts of a run.  The trace is ours.bin.
ours() {
    where=$1
    shift
    if "$HR" run -q --accel tcg --mode exact --env LC_ALL=C -o ours.bin "$@" -- $program <lines >out 2>err; then
        say microtome "$where" "$("$HR" stat --json ours.bin | jq -c '[.events[].total]')"
    else
        say microtome "$where: $(head -n 1 err)" -
    fi
}

# trixie: Debian 13's emulator as the file ./trixie/qemu.
trixie() {
    [ ! -x trixie/qemu ] || return 0
    mkdir -p trixie/lists/partial trixie/cache/archives/partial trixie/root
    : >trixie/status
    echo 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main' >trixie/sources.list
    set -- -o Dir::Etc::SourceList="$here/trixie/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$here/trixie/lists" -o Dir::Cache="$here/trixie/cache" -o Dir::State::status="$here/trixie/status" \
        -o APT::Sandbox::User=root
    timeout 300 apt-get "$@" -qq update && timeout 600 apt-get "$@" -qq -y --no-install-recommends --download-only install qemu-system-x86 ||
        return 1
    for package in trixie/cache/archives/*.deb; do
        dpkg-deb -x "$package" trixie/root || return 1
    done
    lib=$here/trixie/root/usr/lib/x86_64-linux-gnu share=$here/trixie/root/usr/share
    cat >trixie/qemu <<END
#!/bin/sh
exec $lib/ld-linux-x86-64.so.2 --library-path $lib $here/trixie/root/usr/bin/qemu-system-x86_64 -L $share/qemu -L $share/seabios "\$@"
END
    chmod +x trixie/qemu
}

version() {
    "$1" --version | sed -n '1s/^QEMU emulator version \([^ ]*\).*/\1/p'
}

# loaded COMMAND...: while every CPU has something else to do.
loaded() {
    spinners=
    for _ in $(seq "$(nproc)"); do
        timeout 60 sh -c 'while :; do :; done' &
        spinners="$spinners $!"
    done
    "$@"
    # shellcheck disable=SC2086
    kill $spinners
    wait 2>/dev/null
}

many=$(for n in $(seq 100); do printf 'VARIABLE_%s=value ' "$n"; done)

avx512=$(grep -qw avx512f /proc/cpuinfo && echo 'with AVX-512' || echo 'without AVX-512')
ours "Debian 12: QEMU $(version qemu-system-x86_64), a processor $avx512"
cp ours.bin first.bin
if [ -n "${QEMU:-}" ]; then ours "QEMU $(version "$QEMU") with a modelled PMU" --qemu "$QEMU"; fi
if trixie >trixie.log 2>&1; then
    ours "Debian 13: QEMU $(version trixie/qemu)" --qemu "$here/trixie/qemu"
else
    say microtome "Debian 13's QEMU: $(tail -n 1 trixie.log)" -
fi
# shellcheck disable=SC2086
where='a user with 100 more variables, in another folder'
# shellcheck disable=SC2086
if (cd / && env $many "$HR" run -q --accel tcg --mode exact --env LC_ALL=C -o "$here/ours.bin" -- $program <"$here/lines" >/dev/null 2>"$here/err"); then
    say microtome "$where" "$("$HR" stat --json ours.bin | jq -c '[.events[].total]')"
fi
loaded ours 'a busy machine'
if [ -x "$KVM_HOST" ]; then
    cat >inside.sh <<END
grep -qw avx512f /proc/cpuinfo && echo with >/out/avx512 || echo without >/out/avx512
'$HR' run -q --accel tcg --mode exact --env LC_ALL=C -o /out/far.bin -- $program <'$here/lines' >/dev/null
END
    rm -rf far
    mkdir -p far
    # With the files that the program looks for, and the emulator's part for emulation, which KVM does not need.
    files=$("$HR" stat --files --json first.bin | jq -r '.files[].path' | while read -r file; do [ ! -f "$file" ] || echo "-f $file"; done)
    # shellcheck disable=SC2046,SC2086
    timeout 500 "$KVM_HOST" $(ls /usr/lib/*/qemu/accel-tcg-x86_64.so 2>/dev/null | sed 's/^/-f /') $files -f "$HR" -f "$BUILD/guest.elf" -f "$BUILD/exact.so" -f "$here/lines" -f "$here/inside.sh" -f $program -o far -- \
        "sh $here/inside.sh" >far.log 2>&1
    if [ -s far/far.bin ]; then
        say microtome "an AMD processor $(cat far/avx512) AVX-512, with Linux's kernel of a host of its own" \
            "$("$HR" stat --json far/far.bin | jq -c '[.events[].total]')"
    else
        say microtome "another host: $(tail -n 1 far.log)" -
    fi
fi
# On purpose: another processor for the program, another environment for it.  hr diff names what it is.
for option in --cpu=Haswell --cpu=max "--env=MORE=$many"; do
    "$HR" run -q --accel tcg --mode exact --env LC_ALL=C -o ours.bin "$option" -- $program <lines >/dev/null 2>err || continue
    "$HR" diff -f json first.bin ours.bin >diff.json 2>/dev/null
    say changed "$(echo "$option" | cut -c1-15): $(jq -r '.not_the_same | gsub(" \\([^;]*\\)"; "")' diff.json)" \
        "$(jq '[.changes[] | select(.event == "instructions")][0].after' diff.json)"
done

# The same program by callgrind, whose counts are the user's and the processor's.
if command -v valgrind >/dev/null; then
    callgrind() {
        where=$1
        shift
        env "$@" valgrind --tool=callgrind --callgrind-out-file=callgrind.out $program <lines >/dev/null 2>callgrind.err
        say callgrind "$where" "$(sed -n 's/.*Collected : //p' callgrind.err)"
    }
    callgrind 'as it is' LC_ALL=C
    # shellcheck disable=SC2086
    callgrind 'a user with 100 more variables' LC_ALL=C $many
    callgrind 'as on a processor without AVX2' LC_ALL=C GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-AVX2_Usable
fi

# And by the processor's counters, where they can be had.
if command -v perf >/dev/null && perf stat -x, -e instructions:u true 2>&1 | grep -q '^[0-9]'; then
    for n in 1 2 3 4 5; do
        say perf "run $n" "$(perf stat -x, -e instructions:u $program <lines 2>&1 >/dev/null | cut -d, -f1)"
    done
    loaded say perf 'a busy machine' "$(perf stat -x, -e instructions:u $program <lines 2>&1 >/dev/null | cut -d, -f1)"
else
    say perf 'perf stat: no counters on this machine' -
fi
