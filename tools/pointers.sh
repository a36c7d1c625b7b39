#!/bin/sh
# Lists where C code tests a pointer without comparing it with NULL (CONTRIBUTING.md, "Dialect"); fails if it finds any.
# Usage: tools/pointers.sh FILE.c...; a header is checked with a file that includes it.
set -eu
cd "$(dirname "$0")/.."
: "${BUILD:=build}"
if ! command -v clang-query >/dev/null; then
    echo 'lint: pointers are not checked: there is no clang-query (package clang-tools)'
    exit 0
fi
matches=$(mktemp)
trap 'rm -rf "$matches" "$matches".*' EXIT
# One match, because each looks at all that the headers declare; where it is comes last, because that compares text.
cat >"$matches" <<'END'
set bind-root false
let here isExpansionInFileMatching("(include|lib|drivers|guest|boot|host|plugin)/[a-z]")
let pointer ignoringImpCasts(expr(hasType(hasCanonicalType(pointerType()))).bind("pointer"))
let operator binaryOperator(hasAnyOperatorName("&&", "||"), eachOf(hasLHS(pointer), hasRHS(pointer)))
let condition anyOf(ifStmt(hasCondition(pointer)), whileStmt(hasCondition(pointer)), doStmt(hasCondition(pointer)), forStmt(hasCondition(pointer)), conditionalOperator(hasCondition(pointer)))
let cast implicitCastExpr(hasCastKind("CK_PointerToBoolean"), hasSourceExpression(pointer))
match stmt(anyOf(unaryOperator(hasOperatorName("!"), hasUnaryOperand(pointer)), operator, condition, cast), here)
END

# query REGEX FLAG...: asks about those of the files whose path it matches; without lwIP the network is not built.
# It asks about files in groups, and then one by one where a group cannot be compiled.
query() {
    regex=$1
    shift
    flags="-std=gnu11 -I. -w $*"
    groups=$(printf '%s\n' "$files" | grep -E -e "$regex" |
        { if [ -d "$BUILD/lwip/src" ]; then cat; else grep -v '^guest/net/' || true; fi; } | tools/groups.py "$matches.c")
    printf '%s\n' "$groups" | ask 4
    for broken in $(grep -l ' error: ' "$matches.c"/*.out 2>/dev/null); do
        sed -n '1s/ -- .*//p' "$broken" | xargs sed -n 's/^#include "\(.*\)".*/\1/p'
        rm "$broken"
    done | ask 8
    cat "$matches.c"/*.out >>"$matches.all" 2>/dev/null || true
    rm -rf "$matches.c"
}

# ask COUNT: about the files that are named to it, in processes of COUNT files.
ask() {
    matches=$matches flags=$flags xargs -r -P 2 -n "$1" sh -c \
        '{ echo "$* -- "; clang-query -f "$matches" "$@" -- $flags; } >"$matches.c/$$.out" 2>&1' query || true
}
files=$(printf '%s\n' "$@")
query '^(lib|host|plugin)/' -D_GNU_SOURCE
query '^(drivers|guest)/|^boot/[^/]*$' -ffreestanding -mgeneral-regs-only -Iguest/variants/asserting \
    -isystem guest/net -isystem "$BUILD/lwip/src/include"
query '^boot/uefi/' -ffreestanding -fshort-wchar -DGNU_EFI_USE_MS_ABI -isystem /usr/include/efi -isystem /usr/include/efi/x86_64

# Headers of libraries, and what their macros do, are not ours: only what is in these folders of this tree counts.
awk -v tree="$PWD/" '
    function inside(path) {
        if (index(path, tree) == 1) path = substr(path, length(tree) + 1)
        sub(/^(\.\/)+/, "", path)
        return path ~ /^(include|lib|drivers|guest|boot|host|plugin)\//
    }
    function flush() { if (at != "" && !foreign) print at ": a pointer that is not compared with NULL: " source; at = "" }
    / error: / { print }
    /^Match #|^[0-9]+ match/ { flush() }
    /note: "pointer" binds here$/ { split($1, part, ":"); at = part[1] ":" part[2]; foreign = !inside(part[1]); getline source; sub(/^ +/, "", source) }
    /note: expanded from macro/ && !inside($1) { foreign = 1 }
    END { flush() }' "$matches.all" | sed "s#^$PWD/##; s#^\./##" | sort -u >"$matches.found"
cat "$matches.found"
[ ! -s "$matches.found" ]
