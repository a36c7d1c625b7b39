#!/bin/sh
# Checks shell scripts, the format of C files and likely bugs; prints what is wrong, fails if anything is.
# `lint.sh changed` looks at the files that differ from the last commit alone.
# HR_TEST_LONG=1: clang's analyzer looks at everything, which takes minutes.
set -eu
cd "$(dirname "$0")/.."
failed=0
if [ "${1:-}" = changed ]; then
    files=$({ git diff --name-only --diff-filter=d HEAD && git ls-files -o --exclude-standard; } | sort -u)
else
    files=$(find include lib drivers guest boot host plugin workloads tests tools run.sh .ci -type f 2>/dev/null | sort)
fi
# of REGEX: the files whose path it matches.
of() {
    printf '%s\n' "$files" | grep -E -e "$1" || true
}
good=${BUILD:-build}/good # a file for each source in which nothing was found, with a hash of what was looked at
mkdir -p "$good"
sources=$(of '^(include|lib|drivers|guest|boot|host|plugin|workloads|tests)/.*\.[ch]$')

of '^(tools|tests|\.ci)/|^run\.sh$' |
    while read -r f; do if head -c 64 "$f" | head -n 1 | grep -qa '^#!/bin/\(ba\)\?sh'; then echo "$f"; fi; done >"$good/scripts"
sourced=$({ shellcheck --version && cat tests/*.sh tests/*/*.sh tools/*.sh; } | sha256sum)
while read -r f; do
    now=$({ echo "$sourced" && cat "$f"; } | sha256sum)
    stamp=$good/$(echo "$f" | tr / _)
    [ "$now" != "$(cat "$stamp" 2>/dev/null)" ] || continue
    shellcheck -x -S warning -P SCRIPTDIR "$f" && echo "$now" >"$stamp" || failed=1
done <"$good/scripts"
# Words that make comments hard to read.
words_folders='host lib include plugin boot guest drivers workloads'
# shellcheck disable=SC2086
words=$(tools/words.sh $words_folders) || true
[ -z "$words" ] || { echo "$words"; failed=1; }
tools/names.sh || failed=1
of '^(lib|drivers|guest|boot|host|plugin)/.*\.c$' | xargs -r tools/pointers.sh || failed=1
# Versions of clang-format differ in the layout of some code, so one version decides.
case $(clang-format --version) in
*' version 14.'*)
    printf '%s\n' "$sources" | xargs -r clang-format --dry-run -Werror || failed=1
    ;;
*) echo "lint: the format is not checked: clang-format 14 (Debian 12) decides it, this is $(clang-format --version)" ;;
esac
# Two checks of newer versions are off: they object to malloc, qsort and free of arrays of pointers, which are normal in C.
# So are those of C++, Objective-C and their libraries, which find nothing in C and take a fifth of the time.
log=${BUILD:-build}/clang-tidy.log
mode=shallow
foreign='-clang-analyzer-cplusplus.*,-clang-analyzer-osx.*,-clang-analyzer-webkit.*,-clang-analyzer-fuchsia.*'
foreign=$foreign',-clang-analyzer-optin.cplusplus.*,-clang-analyzer-optin.osx.*,-clang-analyzer-nullability.*'
[ -z "${HR_TEST_LONG:-}" ] || mode=deep
version=$(clang-tidy --version)
export mode foreign good version
cat >"$log.sh" <<'END'
# looked FILE: a hash of all that a check of it reads, by what the compiler read; nothing if that is not known.
looked() {
    read_files=$(sed -e 's/^[^ ]*://' -e 's/\\$//' "${BUILD:-build}/host/${1%.c}.d" 2>/dev/null) && [ -n "$read_files" ] || return 0
    # shellcheck disable=SC2086
    { echo "$mode $version"; sha256sum tools/lint.sh $read_files; } 2>/dev/null | sha256sum
}
count=$#
for file; do
    stamp=$good/$(echo "$file" | tr / _)
    looked "$file" >"$stamp.new"
    [ -s "$stamp.new" ] && cmp -s "$stamp.new" "$stamp" || set -- "$@" "$file"
done
shift $count
[ $# -gt 0 ] || exit 0
clang-tidy --quiet --warnings-as-errors="*" \
    --checks="-*,clang-analyzer-*,-clang-analyzer-security.insecureAPI.*,-clang-analyzer-valist.*,$foreign,bugprone-*,-bugprone-easily-swappable-parameters,-bugprone-reserved-identifier,-bugprone-narrowing-conversions,-bugprone-assignment-in-if-condition,-bugprone-multi-level-implicit-pointer-conversion,-bugprone-casting-through-void" \
    "$@" -- -std=gnu11 -D_GNU_SOURCE -I. -Xclang -analyzer-config -Xclang "mode=$mode" || exit
for file; do
    stamp=$good/$(echo "$file" | tr / _)
    mv "$stamp.new" "$stamp"
done
END
of '^(lib|host)/.*\.c$' | xargs -r -P 2 -n 8 sh "$log.sh" >"$log" 2>&1 ||
    { grep -E 'error:|warning:' "$log"; failed=1; }
exit $failed
