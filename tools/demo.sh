#!/bin/sh
# Shows the main task on real programs: each boots alone, is sampled every 1 or 10 us, and gets a report.
set -eu
cd "$(dirname "$0")/.."
BUILD=$(cd "${BUILD:-build}" && pwd)
export PATH="$BUILD:$PATH"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# step COMMAND: shows the command, then runs it.
step() {
    printf '\n$ %s\n' "$1"
    sh -c "$1"
}

cat "$BUILD"/workloads/*-glibc-static | head -c 4000000 >"$out/input"
cp docs/architecture.md "$out/text"
cat >"$out/words.pl" <<'END'
while (<>) { $count{lc $_}++ for /\w+/g }
print "$_ $count{$_}\n" for (sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count)[0 .. 2];
END
cd "$out"
step "hr run -i 1us -o words.bin perl words.pl text"
echo "natively: $(perl words.pl text | tr '\n' ' ')"
step "hr report words.bin | head -n 8"
step "hr run -o sha256.bin $(command -v busybox) sha256sum < input"
native=$(busybox sha256sum <input)
echo "natively: $native"
step "hr run -i 1us -o phases.bin $BUILD/workloads/phases 20 2"
step "hr report -n 12 phases.bin"
step "hr dump --format csv phases.bin | head -n 5"
step "hr check phases.bin"
# If npm was missing when hr was built, this says what to do.
step "hr view -o phases.html phases.bin" || echo "Everything else works without the page."
