#!/bin/sh
# Lists exported names that do not lead to a file (CONTRIBUTING.md, "Names"), by the objects of a build; fails if there are any.
set -eu
cd "$(dirname "$0")/.."
: "${BUILD:=build}"

# Names that somebody else chose: REGEX REASON.
exceptions() {
    cat <<'END'
mem(chr|cmp|cpy|move|set) the compiler calls them, and C names them
str(chr|rchr|cmp|ncmp|len|nlen) as C names them
atoi|sys_now lwIP calls them
efi_main gnu-efi calls it
kernel_main as the start of a kernel in C is called
user_enter|user_leave as the change of privilege is called; labels of entry_syscall.S
copy_(to_user|from_user|string_from_user) as other kernels name them
END
}

# A file's first word may be the plural of a name's, or the other way round: cpus[] is in cpu.h, trap_exception() in traps.c.
find lib drivers guest boot host -name '*.[cS]' | sed "s#\.[cS]\$#.o#; s#.*#$BUILD/guest/& $BUILD/host/& $BUILD/uefi/&#" |
    { xargs nm -A -g --defined-only 2>/dev/null || true; } | # most sources have only one of these objects
    awk -v excepted="^($(exceptions | sed 's/ .*//' | paste -s -d '|'))\$" '
        function first(name) { sub(/_.*/, "", name); sub(/s$/, "", name); return name }
        { file = $1; sub(/\.o:.*/, "", file); base = file; sub(/.*\//, "", base) }
        first($NF) != first(base) && $NF !~ /^syscall_|_command$/ && $NF !~ excepted { print $NF, file }' | sort -u |
    while read -r name object; do # a contract that several files fulfil has a header of its name
        word=${name%%_*}
        [ -n "$(find include lib drivers guest boot host -name "${word}*.h" -exec grep -lw "$name" {} +)" ] ||
            echo "$name in ${object#"$BUILD"/*/}: begins with the first word of no file that has it"
    done | { ! grep .; }
