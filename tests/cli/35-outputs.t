#!/bin/sh
# Nothing is lost: what a name stood for before stays until something is there to take its place.
. "$(dirname "$0")/../lib.sh"
fake=$TOOLS/fakeguest
hello=$WORKLOADS/hello-musl

# play ARG...: hr run with a played guest.
play() {
    status=0
    timeout -k 5 60 "$HR" run -q --accel tcg --qemu "$fake" "$@" >out 2>err </dev/null || status=$?
}

# untouched NAME: hr.bin is as it was, and nothing else is in the directory.
untouched() {
    same_file "$1: the earlier trace is as it was" hr.bin before.bin
    is "$1: nothing else is left" "$(find . -maxdepth 1 -name 'hr.bin*' | wc -l)" 1
}

play "$hello"
cp hr.bin before.bin
run_hr run --cpu nosuch "$hello"
is 'a CPU that is none: status' "$status" 125
untouched 'a CPU that is none'
run_hr run --mem 2T "$hello"
is 'more memory than there is: status' "$status" 125
untouched 'more memory than there is'
play --timeout 1s --qemu "$(command -v false)" "$hello"
is 'an emulator that ends at once: status' "$status" 125
untouched 'an emulator that ends at once'
like 'an emulator that ends at once: said' err 'no trace was written'
status=0
"$HR" collect -o hr.bin <"$hello" >out 2>err || status=$?
is 'hr collect of what is no trace: status' "$status" 125
like 'hr collect of what is no trace: said' err 'nothing was written'
untouched 'hr collect of what is no trace'
play -e cycles --require-pmu "$hello"
is 'a run that is refused for its counters: status' "$status" 125
untouched 'a run that is refused for its counters'
echo 'not a program' >script
chmod +x script
play ./script
untouched 'no program'
status=0
"$HR" collect -o hr.bin </dev/null >out 2>err || status=$?
is 'hr collect of nothing: status' "$status" 125
like 'hr collect of nothing: said' err 'nothing was written'
untouched 'hr collect of nothing'

play "$hello"
same_file 'a new trace: the former has .old' hr.bin.old before.bin
cp hr.bin second.bin
play "$hello"
same_file 'another trace: the one before has .old' hr.bin.old second.bin
cp hr.bin third.bin
head -c 60000 second.bin >part.bin
"$HR" collect -o hr.bin <part.bin 2>err
same_file 'hr collect: the one before has .old' hr.bin.old third.bin
: >empty.bin
play -o empty.bin "$hello"
ok 'what is empty needs no .old' test ! -e empty.bin.old
echo mine >hr.bin.old
cp hr.bin now.bin
play "$hello"
is 'an .old that is no trace: refused' "$status$(cat hr.bin.old)" 125mine
like 'an .old that is no trace: said' err "hr\.bin\.old' exists and is no trace.*--force$"
same_file 'an .old that is no trace: the trace stays' hr.bin now.bin
rm hr.bin.old
ln -s now.bin link.bin
play -o link.bin "$hello"
ok 'a link stays one' test -L link.bin
ok 'and what it leads to has its .old' test -s now.bin.old

# refuses NAME COMMAND...: OUT is the file precious, which stays; --force replaces it.
refuses() {
    name=$1
    shift
    printf 'int main(void) { return 0; }\n' >precious
    run_hr "$@"
    is "$name: refused" "$status" "$refused"
    like "$name: said" err "^hr: 'precious' exists and is no .*; name another file with --output, or add --force$"
    is "$name: the file is whole" "$(cat precious)" 'int main(void) { return 0; }'
    command=$1
    shift
    run_hr "$command" --force "$@"
    set -- "$command" "$@"
    is "$name, --force: status" "$status" 0
    rm -f precious.old
    run_hr "$@"
    is "$name, once more: it is ours" "$status" 0
}
"$HR" export csv -o x.csv hr.bin 2>/dev/null
refused=125
refuses 'hr run' run -q --accel tcg --qemu "$fake" -o precious "$hello"
rm -f precious.old
refuses 'hr pack' pack --accel tcg -o precious "$hello"
refused=1
for format in csv firefox folded hrperf perf perfetto pprof sqlite; do
    refuses "hr export $format" export "$format" -o precious hr.bin
done
if "$HR" view -o page.html hr.bin 2>/dev/null; then
    refuses 'hr view' view -o precious hr.bin
else
    skip 5 'no page in this build'
fi
printf 'int main(void) { return 0; }\n' >mine.svg
run_hr plot -o mine.svg hr.bin
is 'hr plot: refused' "$status$(cat mine.svg)" '1int main(void) { return 0; }'
run_hr plot --force -o mine.svg hr.bin
is 'hr plot --force: status' "$status" 0
run_hr plot -o mine.svg hr.bin
is 'hr plot, once more: it is ours' "$status" 0
mkdir plots
echo mine >plots/timeline.svg
run_hr plot -o plots hr.bin
is 'hr plot, a folder: refused' "$status$(cat plots/timeline.svg)" 1mine
cp hr.bin other.bin
for command in 'export csv' view; do
    # shellcheck disable=SC2086
    run_hr $command -o other.bin hr.bin
    is "hr $command over another trace: refused" "$status" 1
    same_file "hr $command over another trace: it is whole" other.bin hr.bin
done
sqlite3 base.db 'CREATE TABLE mine (x)' 2>/dev/null && {
    cp base.db base.copy
    run_hr export sqlite -o base.db hr.bin
    is "somebody's database: refused" "$status" 1
    same_file "somebody's database: it is whole" base.db base.copy
}
printf 'x\n' | gzip >some.gz
run_hr export pprof -o some.gz hr.bin
is "somebody's archive: refused" "$status$(gzip -dc some.gz)" 1x

# On a terminal a command says what it wrote, and what opens it.
if command -v script >/dev/null; then
    said() { script -qec "'$HR' $1" /dev/null </dev/null | tr -d '\r' >shown; }
    for format in $("$HR" export --list | cut -d ' ' -f 1); do
        said "export $format --force -o 'it s.$format' hr.bin"
        like "hr export $format on a terminal" shown "^hr: wrote it s\.$format: [0-9].*B?, $format; opens in [^ ].*$"
        is "hr export $format on a terminal: one line" "$(grep -c wrote shown)" 1
    done
    said 'export csv -o - hr.bin >/dev/null'
    is 'hr export -o - on a terminal' "$(cat shown)" ''
    run_hr export csv hr.bin
    is 'hr export, no terminal: says nothing' "$(cat err)" ''
else
    skip 20 'no script'
fi

# hr view --open: xdg-open, or the words for where there is none.
if "$HR" view --force -o page.html hr.bin 2>/dev/null; then
    mkdir -p bin
    cat >bin/xdg-open <<'END'
#!/bin/sh
echo opened
echo "$1" >opened
exit "$(cat opener.status)"
END
    chmod +x bin/xdg-open
    echo 0 >opener.status
    PATH=$work/bin:$PATH "$HR" view --open -o -page.html hr.bin >out 2>err
    is 'hr view --open: status, and nothing on stdout' "$?$(cat out)" 0
    is 'hr view --open: the page by its whole name' "$(cat opened)" "$work/-page.html"
    echo 3 >opener.status
    PATH=$work/bin:$PATH "$HR" view --open -o page.html hr.bin >out 2>err
    is 'hr view --open, no browser: status' "$?" 1
    like 'hr view --open, no browser: said' err '^hr: --open: xdg-open failed; open .*/page\.html with a browser yourself$'
    PATH=$work/nothing "$HR" view --open -o page.html hr.bin >out 2>err
    is 'hr view --open, no xdg-open: status' "$?" 1
    like 'hr view --open, no xdg-open: said' err '^hr: --open: .* cannot be started: .*; install xdg-utils, or open .*/page\.html yourself$'
    run_hr view --open -o - hr.bin
    is 'hr view --open of a stream: refused' "$status" 2
    rm -f opened
    PATH=$work/bin:$PATH "$HR" view --serve --open hr.bin >url 2>err &
    server=$!
    for _ in $(seq 300); do
        [ -s opened ] || ! kill -0 $server 2>/dev/null || { sleep 0.1 && continue; }
        break
    done
    is 'hr view --serve --open: the address' "$(cat opened)" "$(cat url)"
    kill -TERM $server
    wait $server
    is 'hr view --serve --open: ends when told' "$?" 0
else
    skip 10 'no page in this build'
fi

# - is standard output, or refused in words.
play -o - "$hello"
is 'hr run -o -: status' "$status" 125
like 'hr run -o -: said' err 'standard output; name a file'
run_hr collect -o - <hr.bin
is 'hr collect -o -: status' "$status" 125
run_hr collect --listen tcp:127.0.0.1:0 -o -
is 'hr collect --listen tcp: -o -: status' "$status" 125
run_hr usb -o - "$hello"
is 'hr usb -o -: status' "$status" 125
run_hr usb --collect nothing.img -o -
is 'hr usb --collect -o -: status' "$status" 125
for command in "pack --accel tcg" "plot" "view" "export csv"; do
    case $command in pack*) input=$hello ;; *) input=hr.bin ;; esac
    # shellcheck disable=SC2086
    run_hr $command -o - "$input"
    is "hr $command -o -: status" "$status" 0
    ok "hr $command -o -: bytes" test -s out
    # shellcheck disable=SC2086
    run_hr $command --force -o same.svg "$input"
    # shellcheck disable=SC2086
    run_hr $command -o - "$input"
    [ "$command" = view ] || same_file "hr $command -o -: those of a file" out same.svg
done
ok 'no file is called -' test ! -e ./-

# A signal leaves the file before, and nothing unfinished.
echo '#!/bin/sh' >slow && echo 'exec sleep 60' >>slow && chmod +x slow
cp hr.bin before.bin
rm -f hr.bin.old
interruptible "$HR" run -q --accel tcg --qemu "$work/slow" "$hello" >out 2>err </dev/null &
pid=$!
emulator_of "$pid" >/dev/null
kill -INT "$pid"
wait "$pid" 2>/dev/null
untouched 'interrupted before the guest spoke'

PATH=$PATH:/usr/sbin:/sbin
for tool in sfdisk mkfs.fat mcopy mdir perl; do
    command -v $tool >/dev/null || { skip 6 "no $tool"; done_testing; }
done
. "$ROOT/tests/stick.sh"
new_image
run_hr usb --loader loader.efi -o usb.img --size 80M "$hello"
is 'hr usb over an image without results: status' "$status" 0
begin 3000
describe
put 001
cp usb.img usb.copy
run_hr usb --loader loader.efi -o usb.img --size 80M "$hello"
is 'hr usb over an image with results: status' "$status" 125
like 'hr usb over an image with results: said' err 'usb\.img holds 1 result; .*--collect usb\.img --clear.*--force'
same_file 'hr usb over an image with results: it is whole' usb.img usb.copy
echo mine >mine.img
run_hr usb --loader loader.efi -o mine.img "$hello"
is 'hr usb over a file of another kind: refused' "$status$(cat mine.img)" 125mine
run_hr usb --force --loader loader.efi -o usb.img --size 80M "$hello"
is 'hr usb --force' "$status" 0
done_testing
