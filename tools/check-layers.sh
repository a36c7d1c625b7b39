#!/bin/sh
# Checks that layers include only headers of the layers that they may use (docs/architecture.md).
set -eu
cd "$(dirname "$0")/.."
failed=0

# allow LAYER REGEX: the path in every #include "..." of LAYER's files must begin with one of these folders.
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
allow boot 'include|lib|drivers|boot' # of drivers only those that need no kernel, such as uart
allow host 'include|lib|host'
allow plugin 'include|plugin'
# A workload may use the workload API and files that workloads share; libhr, which implements the API, also the system call's header.
bad=$(grep -rnE '#[[:space:]]*include[[:space:]]*"' workloads | grep -vE '"(include/hr|workloads/[a-z_]+)\.h"' |
    grep -vE '^workloads/libhr\.[ch]:.*"include/hr_abi\.h"' || true)
[ -z "$bad" ] || { echo 'workloads may include only include/hr.h and what they share:'; echo "$bad"; failed=1; }
# No conditional compilation in a .c file: choose by file list, table or capability.
bad=$(grep -nE '^[[:space:]]*#[[:space:]]*if' -r --include='*.c' lib drivers guest boot host plugin workloads 2>/dev/null || true)
[ -z "$bad" ] || { echo 'no #if in a .c file:'; echo "$bad"; failed=1; }
exit $failed
