#!/bin/sh
# Checks that no layer includes a header of a layer that it must not know (docs/architecture.md).
set -eu
cd "$(dirname "$0")/.."
failed=0

# allow LAYER REGEX: every #include "..." of LAYER's files must begin with one of these.
allow() {
    [ -d "$1" ] || return 0
    bad=$(grep -rnE --include='*.[chS]' '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$1" |
        grep -vE "include[[:space:]]*\"($2)/" || true)
    [ -z "$bad" ] || { echo "$1 may include only $2:"; echo "$bad"; failed=1; }
}

allow include 'include'
allow lib 'include|lib'
allow drivers 'include|lib|drivers'
allow guest 'include|lib|drivers|guest'
allow boot 'include|lib|drivers|boot' # drivers: those that need no kernel, as uart
allow host 'include|lib|host'
allow plugin 'include|plugin'
# A workload sees the workload API and what workloads share; libhr, which implements it, its side of the system call too.
bad=$(grep -rnE '#[[:space:]]*include[[:space:]]*"' workloads | grep -vE '"(include/hr|workloads/[a-z_]+)\.h"' |
    grep -vE '^workloads/libhr\.[ch]:.*"include/hr_abi\.h"' || true)
[ -z "$bad" ] || { echo 'workloads may include only include/hr.h and what they share:'; echo "$bad"; failed=1; }
# No conditional compilation in a .c file: choose by file list, table or capability.
bad=$(grep -nE '^[[:space:]]*#[[:space:]]*if' -r --include='*.c' lib drivers guest boot host plugin workloads 2>/dev/null || true)
[ -z "$bad" ] || { echo 'no #if in a .c file:'; echo "$bad"; failed=1; }
exit $failed
