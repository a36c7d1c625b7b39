#!/bin/sh
# docs/abi.md is what the kernel's table of system calls says.
. "$(dirname "$0")/../lib.sh"

"$TOOLS/abi" "$ROOT/docs/abi.md.in" >abi.md 2>err
is 'the table of system calls is in order: what is not full says what is missing' "$?" 0
same_file 'docs/abi.md is up to date (make docs/abi.md)' abi.md "$ROOT/docs/abi.md"
for number in 0 57 450; do
    name=$(awk -v n=$number '$1 == "#define" && $2 ~ /^__NR_/ && $3 == n { sub(/^__NR_/, "", $2); print $2 }' \
        /usr/include/x86_64-linux-gnu/asm/unistd_64.h)
    like "it names $name, number $number" abi.md "\`$name\`"
done
# newer headers have more: from 451 on, and 335 (uretprobe)
is 'every call once' "$(grep -o 'Of the [0-9]*' abi.md | tr -dc 0-9)" \
    "$(awk '$1 == "#define" && $2 ~ /^__NR_/ && $3 <= 450 && $3 != 335' /usr/include/x86_64-linux-gnu/asm/unistd_64.h | wc -l)"
done_testing
