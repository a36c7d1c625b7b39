#!/bin/sh
# Every command of README.md, docs/bare-metal.md and docs/ci.md works where it stands, one after the other in one shell.
# What cannot run in a test is named in `how`, with the reason; a command that is new there runs as it is.
# docs/reading.md, first-day.md and latency.md have tests of their own, which compare what they show; here: that they have all.
. "$(dirname "$0")/../lib.sh"
command -v python3 >/dev/null || skip_all 'no python3'
PATH=$PATH:/usr/sbin:/sbin

# commands DOCUMENT [STEP]: its commands, one a line (tests/docs/commands.py).
commands() {
    python3 "$ROOT/tests/docs/commands.py" "$@"
}

# A stick is an image here.  An image that was written since the last boot is booted before results are taken off it.
image=usb.img
boot=false

# how DOCUMENT COMMAND: sets $run, what runs for it; $wanted, the statuses that are right; or $reason, why nothing runs.
how() {
    run=$2 wanted=0 reason=
    case $2 in
    # ---- of other machines, of root, of the network ----
    'ipmitool '*) reason='needs the management controller of a server' ;;
    *' --hosts '* | *' --slurm='*) reason='needs other computers; tests/guest/48-sweep-remote.t and -slurm.t have them' ;;
    'ssh '*) reason='needs another computer' ;;
    'git clone '*) reason='needs the network; the folder is this checkout' ;;
    'apt-get '* | 'sudo apt-get '*) reason='installs packages as root: tools/setup.sh has done it' ;;
    'workflow step: Get git and make') reason='installs packages as root' ;;
    'make test'* | 'make check'* | 'make bench'*) reason='this test is a part of it, or it takes as long' ;;
    'workflow step: Run the suite' | 'workflow step: Keep the baseline' | 'workflow step: Compare')
        run="( set -e; LINK=https://h/1 GITHUB_STEP_SUMMARY=summary; $(commands "$1" "${2#workflow step: }"))" ;;
    'workflow step: Post or update the comment')
        step="( set -e; REPO=o/r RUN=1 SHA=sha7 HEAD=fork:branch; $(commands "$1" "${2#workflow step: }"))"
        run="$step && $step && [ \"\$(jq -c 'map(.id)' comments.json)\" = '[1,2,3]' ] &&
            jq -j '.[2].body' comments.json | cmp - microtome-results/comment.md" ;;
    'workflow step: suite') # GitLab's: of main, of a merge request twice, of a fork
        step="CI_API_V4_URL=https://h CI_MERGE_REQUEST_PROJECT_ID=5 CI_JOB_URL=https://h/j CI_SERVER_HOST=h CI_PROJECT_PATH=p
            $(commands "$1" suite | grep -v -e '^apt-get' -e '^git clone' -e '^(cd microtome')"
        again=$(echo "$step" | grep -v '^hr suite run')
        run="rm -f comments.json; (set -e; CI_MERGE_REQUEST_IID='' SUITE_TOKEN=''; $step) &&
            (set -e; CI_MERGE_REQUEST_IID=7 SUITE_TOKEN=token; $again) && (set -e; CI_MERGE_REQUEST_IID=7 SUITE_TOKEN=token; $again) &&
            (set -e; CI_MERGE_REQUEST_IID=7 SUITE_TOKEN=''; $again) && [ \"\$(jq -c 'map(.id)' comments.json)\" = '[1,2,3]' ] &&
            xmllint --noout microtome-results/junit.xml" ;;
    # ---- what is built and installed ----
    'workflow step: '*) run=$(commands "$1" "${2#workflow step: }" | sed "s|make -s install|& PREFIX=$work/installed|")"; cd .." ;;
    'make install'* | 'sudo make install'*) run="$(echo "${2%%#*}" | sed 's/^sudo //') PREFIX=$work/installed" ;;
    # ---- sticks ----
    *'hr usb --collect'*)
        run="if [ ! booted -nt $image ]; then $boot && touch booted; fi; rm -rf results
            $(echo "$2" | sed "s|/dev/sd[A-Za-z]*|$image|")" ;;
    *'hr usb -o /dev/sd'* | *'hr usb -o usb.img'*)
        run=$(echo "$2" | sed "s|-o [^ ]*|--force --size 200M -o $image|; s|--repeat [0-9]*|--repeat 1|") ;;
    'qemu-system-x86_64 '*) # with the firmware of tests/firmware, and little memory, all of which it fills when it is freed
        boot="timeout 300 $(echo "$2" | sed "s|/usr/share/ovmf/OVMF.fd|$TOOLS/OVMF.fd|; s| -m 2G | -m 512M |")"
        run="$boot; touch booted" ;;
    'dd '*/dev/sd*) run=$(echo "$2" | sed 's|/dev/sd[A-Za-z]*|stick.img|') ;;
    # ---- what does not end by itself, or opens a window ----
    *'hr collect '*) run="$(echo "$2" | sed 's|hr collect|timeout -s INT 2 &|; s|tcp:[0-9.]*:[0-9]*|tcp:127.0.0.1:0|')" wanted='0 124 130' ;;
    *'hr view '*) run=$(echo "$2" | sed 's/ --open//') ;;
    # ---- what takes longer than it proves: the same program, with less to do ----
    *' -o phases.bin '*'phases 20 2') run=$(echo "$2" | sed 's/phases 20 2/phases 5 1/') ;;
    # ---- what a machine may lack ----
    *'hr doctor --measure'*) ;;
    *'hr doctor'*) wanted='0 1' ;;
    *--require-pmu*) wanted='0 125' ;;
    *'hr run -c '* | *misses.bin*)
        if [ -n "${QEMU:-}" ]; then
            run=$(echo "$2" | sed "s|hr run -c|hr run --accel tcg --qemu '$QEMU' --cpu EPYC-Milan,pmu=on -c|")
        else
            reason='QEMU names no emulator with a PMU'
        fi ;;
    esac
}

# document DOCUMENT LEAST: runs its commands, so many at least, in the folder `place`, a test each.
document() {
    rm -rf session && mkdir session
    commands "$1" >session/all || exit 1
    is "${1##*/}: it has commands" "$([ "$(wc -l <session/all)" -ge "$2" ] && echo yes)" yes
    number=0
    while IFS= read -r command; do
        number=$((number + 1))
        how "$1" "$command"
        printf '%s\n' "${reason:+:}" "$reason" >session/$number.reason
        echo "$wanted" >session/$number.wanted
        printf '%s\n' "${reason:+true # }$run" >session/$number.run
    done <session/all
    cat >session/all.bash <<'END'
for number in $(seq "$1"); do
    eval "$(cat "$2/$number.run")" >"$2/$number.out" 2>&1 </dev/null
    echo $? >"$2/$number.status"
done
type -P hr >"$2/hr"
END
    (cd place && MAKEFLAGS='' timeout -k 10 500 bash ../session/all.bash "$number" "$work/session") >session/log 2>&1
    number=0
    while IFS= read -r command; do
        number=$((number + 1))
        reason=$(tail -n 1 session/$number.reason)
        if [ -n "$reason" ]; then
            skip 1 "$command: $reason"
            continue
        fi
        status=$(cat session/$number.status 2>/dev/null || echo 'not reached')
        case " $(cat session/$number.wanted) " in
        *" $status "*) result 0 "${1##*/}: $command" ;;
        *)
            result 1 "${1##*/}: $command"
            { echo "# status $status"; tail -n 8 session/$number.out session/log | sed 's/^/# /'; } >&2
            ;;
        esac
    done <session/all
}

# place: makes the folder that commands run in.
place() {
    rm -rf place installed && mkdir place
}

# ---- README.md: in a checkout; what its examples call the reader's own is there.  It says itself where hr comes from. ----
place
for name in "$ROOT"/*; do
    case ${name##*/} in build | *.bin | *.html) ;; *) ln -s "$name" "place/${name##*/}" ;; esac
done
ln -s "$BUILD" place/build
ln -s . place/microtome
cp "$WORKLOADS/hello" place/my-program
cp "$WORKLOADS/hello" place/program
cp "$WORKLOADS/hello" place/before-program
printf 'import sys, json\nprint(len(json.load(open(sys.argv[1]))) if len(sys.argv) > 1 else 0)\n' >place/script.py
echo '[1, 2, 3]' >place/data.json
echo 'create table t (x); insert into t values (1); select * from t;' >place/script.sql
seq 1000 >place/words
document "$ROOT/README.md" 10
is 'README.md: hr is the one that was built' "$(readlink -f "$(cat session/hr)" 2>/dev/null)" "$(readlink -f "$HR")"

# ---- docs/ci.md: with two versions of a program, in a repository with the document's suite; tests/docs/forge.py is the forge ----
PATH=$BUILD:$PATH
place
sed -n '/^```toml/,/^```$/p' "$ROOT/docs/ci.md" | grep -v '^```' >place/microtome.toml
cp "$WORKLOADS/hello" place/prog
mkdir -p place/data forge
echo one two >place/data/words
echo '{}' >place/input.json
printf 'prog:\n\t@:\n' >place/Makefile
ln -sf "$ROOT/tests/docs/forge.py" forge/gh
ln -sf "$ROOT/tests/docs/forge.py" forge/curl
PATH=$work/forge:$PATH
GIT_CONFIG_GLOBAL=$work/gitconfig
export GIT_CONFIG_GLOBAL
git init -q --bare origin.git && git init -q place && git -C place remote add origin "$work/origin.git"
ln -s "$ROOT" place/microtome
cp "$WORKLOADS/hello" place/before-bin
cp "$WORKLOADS/hello" place/after-bin
document "$ROOT/docs/ci.md" 15
is 'docs/ci.md: the baseline is shared' "$(git -C origin.git for-each-ref --format='%(refname)')" refs/microtome/baselines/main

# ---- docs/bare-metal.md: the programs that it puts on sticks, small ones here ----
place
cp "$WORKLOADS/hello" place/phases
cp "$WORKLOADS/hello" place/sort
cp "$WORKLOADS/hello" place/threads
cp "$WORKLOADS/crash" place
echo secret >place/secret.txt
missing=
for tool in qemu-system-x86_64 sfdisk mkfs.fat mcopy; do
    command -v $tool >/dev/null || missing=$tool
done
[ -f /usr/share/ovmf/OVMF.fd ] || missing='OVMF firmware'
if [ -z "$missing" ]; then document "$ROOT/docs/bare-metal.md" 15; else skip 20 "no $missing"; fi

# ---- the others: each of their commands is in a block that their own test runs ----
for name in reading first-day latency; do
    is "docs/$name.md: no command but what its test runs" "$(commands "$ROOT/docs/$name.md" |
        grep -vxF "$(sed -n 's/^ *\$ //p' "$ROOT/docs/$name.md")" | grep -v -e '^qemu-system' -e '^Warning: 3 SMIs' -e '^(CPU 1: ')" ''
done
done_testing
