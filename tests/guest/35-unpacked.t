#!/bin/sh
# Large programs of Debian that consist of scripts, other programs and loaded modules, each as in a native run: R, Graphviz,
# POV-Ray.  tools/servers.sh unpacks their packages.
. "$(dirname "$0")/../lib.sh"

root=$BUILD/servers/root
[ -e "$root/usr/bin/R" ] || skip_all 'tools/servers.sh has not unpacked R'
LIMIT=${HR_TEST_LIMIT:-300}
libraries=$root/usr/lib/x86_64-linux-gnu
export HOME="$work"

# both NAME [OPTION...] -- PROGRAM ARG...: natively and in the guest.
both() {
    name=$1 options=
    shift
    while [ "$1" != -- ]; do
        options="$options $1"
        shift
    done
    shift
    env -i PATH="$path" LD_LIBRARY_PATH="$libraries" HOME="$HOME" LANG=C.UTF-8 TZ=UTC0 RHOME="$RHOME" GVBINDIR="$GVBINDIR" "$@" \
        >native 2>native.err </dev/null
    native_status=$?
    # shellcheck disable=SC2086
    run_guest -q --env PATH="$path" --env LD_LIBRARY_PATH="$libraries" --env HOME="$HOME" --env RHOME="$RHOME" \
        --env GVBINDIR="$GVBINDIR" $options "$@" </dev/null
    is "$name: status" "$status.$native_status" 0.0
    same_file "$name: output" out native
}

# ---- R, whose script knows where it is installed: a home of links, and a script that knows this one.
RHOME=$work/R
mkdir -p "$RHOME/bin"
cp -r "$root/etc/R" "$RHOME/etc"
cp "$root/usr/lib/R/etc/Renviron.ucf" "$RHOME/etc/Renviron"
for name in lib library modules bin/exec; do
    ln -s "$root/usr/lib/R/$name" "$RHOME/$name"
done
sed "s,=/usr/lib/R\$,=$RHOME,; s,=/usr/share/R,=$root/usr/share/R," "$root/usr/lib/R/bin/R" >"$RHOME/bin/R"
chmod 755 "$RHOME/bin/R"
path=$RHOME/bin:$root/usr/bin:/usr/bin:/bin
PATH=$RHOME/bin:$root/usr/bin:$PATH

# ---- Graphviz, whose plugins are in a list that the package's installation makes.
GVBINDIR=$work/graphviz
cp -r "$libraries/graphviz" "$GVBINDIR"
LD_LIBRARY_PATH=$libraries GVBINDIR=$GVBINDIR "$root/usr/bin/dot" -c 2>/dev/null

both 'Rscript -e' -i 1ms -- Rscript --vanilla -e 'x <- rnorm(1e5); print(mean(x) < 1)'
"$HR" report --by process -f csv hr.bin 2>/dev/null >processes
like 'Rscript: its processes are in the trace' processes '^1000,R,'
cat >all.R <<'END'
set.seed(1)
print(summary(lm(dist ~ speed, cars)))
f <- function(n) if (n < 2) n else f(n - 1) + f(n - 2)
print(f(10))
print(round(solve(matrix(c(2, 1, 1, 3), 2)), 6))
print(sapply(split(mtcars$mpg, mtcars$cyl), mean))
pdf("plot.pdf"); plot(cars); invisible(dev.off())
cat(file.size("plot.pdf") > 4000, "\n")
system("echo from a shell | tr a-z A-Z")
print(system("uname -s", intern = TRUE))
print(unlist(parallel::mclapply(1:4, function(i) i^2, mc.cores = 2)))
print(nchar(paste(readLines(pipe("seq 1000")), collapse = "")))
print(read.csv(textConnection("a,b\n1,2")))
tryCatch(stop("no"), error = function(e) print(conditionMessage(e)))
quit(status = 0)
END
both 'R: the same on two CPUs, without S4' --mode=off --cpus=2 -- \
    Rscript --vanilla --default-packages=datasets,utils,grDevices,graphics,stats all.R
printf 'digraph g { a -> b -> c; a -> c; node [shape=box]; d -> a; label="a graph" }\n' >graph.dot
cat >programs.sh <<END
with="env -i PATH=$path LD_LIBRARY_PATH=$libraries HOME=$HOME LANG=C.UTF-8 TZ=UTC0 RHOME=$RHOME GVBINDIR=$GVBINDIR"
t 'R -e' \$with R --vanilla -q -e 'x <- 1:10; sum(x)'
t 'R: models, matrices, a plot, forks, pipes' \$with Rscript --vanilla all.R
for format in svg png ps; do
    t "dot -T\$format" \$with dot -T\$format graph.dot
done
END
together -- programs.sh
is 'all of them succeed' "$(sort -u native.d/*.status)" 0

# POV-Ray's threads take parts of the picture in turn: a few of its bytes differ by one from run to run.
cat >scene.pov <<'END'
camera { location <0, 2, -4> look_at 0 }
light_source { <4, 6, -4> color rgb 1 }
sphere { 0, 1 pigment { color rgb <1, .3, .2> } finish { phong .8 reflection .2 } }
plane { y, -1 pigment { checker color rgb 0 color rgb 1 } }
END
both 'povray' --mode=off --keep-files=kept -- povray +WT2 -A -D +W160 +H120 +FP +Iscene.pov +Oscene.ppm
picture=$(find kept -name scene.ppm)
is 'povray: the size of its picture' "$(wc -c <"$picture")" "$(wc -c <scene.ppm)"
within 'povray: bytes of its picture that differ from a native one' "$(cmp -l "$picture" scene.ppm | wc -l)" 0 100
done_testing
