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
# What is no script is sourced, and shares its variables with those that do so.
of '^(tools|tests)/.*\.sh$' | xargs -r grep -L '^#!' | xargs -r shellcheck -S warning -e SC2034,SC2154 || failed=1
# A file that others source is looked at once, by itself. In them it stands as a list of the names that it sets and reads:
# ShellCheck would analyse lib.sh again with each of its readers, which takes longer than what they say.
names=$good/sourced
rm -rf "$names"
for f in tests/*.sh tests/*/*.sh tools/*.sh; do
    mkdir -p "$names/${f%/*}" "$names/tests/guest" # they say ../lib.sh
    awk '{
            text = $0
            while (match(text, /(^|[ \t;(])[A-Za-z_][A-Za-z0-9_]*=|(for|read -r)( [a-z_]+)+/)) {
                word = substr(text, RSTART, RLENGTH)
                sub(/^[ \t;(]*(for|read -r)?/, "", word)
                sub(/ in$/, "", word)
                sub(/=$/, "", word)
                sets = sets " " word
                text = substr(text, RSTART + RLENGTH)
            }
            while (match($0, /\$\{?[A-Za-z_][A-Za-z0-9_]*/)) {
                word = substr($0, RSTART, RLENGTH)
                sub(/\{/, "", word)
                if (!seen[word]++) reads = reads " \"" word "\""
                $0 = substr($0, RSTART + RLENGTH)
            }
        }
        END { print "# shellcheck shell=sh disable=SC2034,SC2154\nread -r _" sets "\n:" reads }' "$f" >"$names/$f"
done
sourced=$({ shellcheck --version && find "$names" -type f | sort | xargs cat tools/lint.sh; } | sha256sum)
export good names sourced
cat >"$good/scripts.sh" <<'END'
count=$#
for file; do
    stamp=$good/$(echo "$file" | tr / _)
    { echo "$sourced" && cat "$file"; } | sha256sum >"$stamp.new"
    cmp -s "$stamp.new" "$stamp" || set -- "$@" "$file"
done
shift $count
[ $# -gt 0 ] || exit 0
shellcheck -x -S warning -P "$names/tests/guest:$names:SCRIPTDIR" "$@" || exit
for file; do
    stamp=$good/$(echo "$file" | tr / _)
    mv "$stamp.new" "$stamp"
done
END
xargs -r -P 2 -n 16 sh "$good/scripts.sh" <"$good/scripts" || failed=1
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
# So are those of C++, Objective-C and libraries that we do not use, which find nothing in C and take a quarter of the time.
log=${BUILD:-build}/clang-tidy.log
mode=shallow
foreign='-clang-analyzer-cplusplus.*,-clang-analyzer-osx.*,-clang-analyzer-webkit.*,-clang-analyzer-fuchsia.*'
foreign=$foreign',-clang-analyzer-optin.cplusplus.*,-clang-analyzer-optin.osx.*,-clang-analyzer-nullability.*'
foreign=$foreign',-clang-analyzer-apiModeling.google.*,-clang-analyzer-apiModeling.llvm.*,-clang-analyzer-optin.mpi.*'
foreign=$foreign',-clang-analyzer-optin.performance.GCD*'
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
# In huge pages: where a page fault takes long, as in many virtual machines, up to a quarter less CPU time.
export GLIBC_TUNABLES="${GLIBC_TUNABLES-glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864}"
# tidy CHECKS FILE...
tidy() {
    checks=$1
    shift
    clang-tidy --quiet --warnings-as-errors="*" --checks="-*,$checks" "$@" -- \
        -std=gnu11 -D_GNU_SOURCE -I. -Xclang -analyzer-config -Xclang "mode=$mode"
}
bugs="bugprone-*,-bugprone-dangling-handle,-bugprone-fold-init-type,-bugprone-sizeof-container,-bugprone-easily-swappable-parameters,-bugprone-reserved-identifier,-bugprone-narrowing-conversions,-bugprone-assignment-in-if-condition,-bugprone-multi-level-implicit-pointer-conversion,-bugprone-casting-through-void"
tidy "clang-analyzer-*,-clang-analyzer-security.insecureAPI.*,-clang-analyzer-valist.*,$foreign,bugprone-suspicious-include" "$@" || exit
groups=$good/groups/$$ # what needs no analysis of paths looks at all that headers declare, which takes half of its time
# shellcheck disable=SC2046
tidy "$bugs" --header-filter='\.c$' $(printf '%s\n' "$@" | tools/groups.py "$groups") >"$groups.log" 2>&1 || tidy "$bugs" "$@" || exit
rm -rf "$groups" "$groups.log"
for file; do
    stamp=$good/$(echo "$file" | tr / _)
    mv "$stamp.new" "$stamp"
done
END
of '^(lib|host)/.*\.c$' | xargs -r -P 2 -n 64 sh "$log.sh" >"$log" 2>&1 ||
    { grep -E 'error:|warning:' "$log"; failed=1; }
exit $failed
