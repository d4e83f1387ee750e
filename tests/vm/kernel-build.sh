#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernel-build.sh [-w] [-o DIR] [-m FOLDER [-a FOLDER]...] NAME [MAKE-ARGUMENT...]:
# build weir.ko for the guest kernel NAME into DIR (.cache/build/NAME), with W=1.
# Arguments go to make, such as CC=clang C=1. WEIR_KEY=N (1) in the environment chooses the
# module's keys, which are not random (key.h). -w: warnings are errors. -m: build the
# module of FOLDER; -a: add the sources of another FOLDER, under that folder's name.
# Builds into one DIR wait for each other. The next build overwrites DIR/log, so it is
# checked here, under the lock. With C=1 sparse checks what is compiled, and all files if
# a build without it was the last to compile. Status 5: sparse has not run.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd -P) || exit 1
strict='' out='' folder='' beside=()
while getopts wo:m:a: opt; do
	case $opt in
	w) strict=1 ;;
	o) out=$OPTARG ;;
	m) folder=$(realpath "$OPTARG") || exit 1 ;;
	a) beside+=("$(realpath "$OPTARG")") || exit 1 ;;
	*) exit 1 ;;
	esac
done
shift $((OPTIND - 1))
name=${1:?usage: kernel-build.sh [-w] [-o DIR] NAME [MAKE-ARGUMENT...]}
shift
kernel=$top/.cache/kernels/$name
out=$(realpath -m "${out:-$top/.cache/build/$name}")
[ -r "$kernel/version" ] || { echo "no guest kernel $name here; make setup downloads it" >&2; exit 4; }
mkdir -p "$out" && exec 9>"$out/.lock" && flock 9 || exit 1

# gcc-12 built Debian's 6.1 and 6.12; any other gcc or clang works, too.
args=() cross=''
case $name in
*-arm64) cross=aarch64-linux-gnu- args=(ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-) ;;
*-armhf) cross=arm-linux-gnueabihf- args=(ARCH=arm CROSS_COMPILE=arm-linux-gnueabihf-) ;;
*-i386) args=(ARCH=i386) ;;
esac
# A limit, and a copy of what a source has sent, take more than a kilobyte each. Other
# kernels warn at two.
case $name in *-armhf | *-i386) args+=(CONFIG_FRAME_WARN=1536) ;; esac
REAL_CC=$(command -v "${cross}gcc-12" || command -v "${cross}gcc") || { echo "no ${cross}gcc here" >&2; exit 4; }
sparse=''
for arg; do
	case $arg in
	C=1) sparse=$out/.checked ;;
	CC=*) REAL_CC=$(command -v "${arg#CC=}") || { echo "no ${arg#CC=} here" >&2; exit 4; } ;;
	*) args+=("$arg") ;;
	esac
done
CC_UNKNOWN=$kernel/.unknown-to-${REAL_CC##*/}
export REAL_CC CC_UNKNOWN
# kbuild sees tests/vm/cc alone, and would keep what another compiler made.
if [ "$(cat "$out/.compiler" 2>/dev/null)" != "$REAL_CC" ]; then
	find "$out" -name '*.o' -delete
	echo "$REAL_CC" >"$out/.compiler"
fi
[ ! -x "$kernel/linux" ] || args+=(ARCH=um)
if [ -n "$sparse" ]; then
	[ -e "$sparse" ] && [ -z "$(find "$out/module" -name '*.o' -newer "$sparse" -print -quit)" ] && args+=(C=1) || args+=(C=2)
fi
# kbuild has pahole do what the kernel's pahole could do.
PAHOLE=$(command -v "$top/.cache/pahole/pahole" pahole | head -n 1) btf=''
has_pahole=$([ -z "$PAHOLE" ] || "$PAHOLE" --version | tr -dc 0-9)
config=$kernel/kdir/include/config/auto.conf
if [ -z "$cross" ] && grep -q '^CONFIG_DEBUG_INFO_BTF_MODULES=y' "$config" &&
	[ "${has_pahole:-0}" -ge "$(sed -n 's/^CONFIG_PAHOLE_VERSION=//p' "$config")" ]; then
	btf=$kernel/kdir/vmlinux
	[ -e "$btf" ] || btf=$kernel/vmlinux
	# kbuild adds it to what it links, not to what an earlier build has linked without.
	objdump -h "$out/weir.ko" 2>/dev/null | grep -q '\.BTF ' || rm -f "$out/weir.ko"
fi
# Not KCFLAGS: kbuild probes options of the compiler with them, without the kernel's headers.
target=(-C "$top" modules "KVER=$(<"$kernel/version")" "KDIR=$kernel/kdir" "BUILD=$out" "BTF=$btf" "PAHOLE=${PAHOLE:-pahole}" "CFLAGS_MODULE=-DWEIR_KEY=${WEIR_KEY:-1} -include $top/tests/vm/key.h")
if [ -n "$folder" ]; then
	find "$out" -type l -delete && cp -rs "$folder/." "${beside[@]}" "$out/" || exit 1
	target=(-C "$kernel/kdir" "M=$out" CONFIG_DEBUG_INFO_BTF_MODULES= modules)
fi
# Warnings of compilers that run at the same time would be mixed within a line.
make --no-print-directory -Otarget -j"$(nproc)" "${target[@]}" W=1 CF=-D__CHECK_ENDIAN__ \
	"CC=$top/tests/vm/cc" "${args[@]}" >"$out/log" 2>&1
status=$?
# Only warnings in the project's files count, whatever the checkout is called. Headers
# configured for another compiler cause warnings, objtool reports options that this clang
# lacks, and clang before 15 calls the guards of kernel macros unused.
ours=$(sed 's/[^a-zA-Z0-9_/-]/\\&/g' <<<"${out#"$top/"}/")
skip=' differs from the one|^  (CC|LD|MODPOST)|attribute directive ignored|unknown attribute|unused variable .__UNIQUE_ID_'
case $REAL_CC in *clang*) skip="$skip|objtool:" ;; esac
if [ "$status" != 0 ]; then
	tail -n 50 "$out/log" >&2
elif sed "s|$top/||g; s|$(realpath "$kernel")/||g" "$out/log" | grep -E "((^|/)(module|unit)/|$ours|^[^/: ]+\.[ch]:|weir|modpost).*(warning|error):|WARNING" | grep -vE "$skip" >&2; then
	# Otherwise the next build would compile nothing and not warn.
	find "$out" -name '*.o' -delete
	[ -z "$strict" ] || status=1
elif [ -n "$sparse" ] && { grep -q 'sparse is not available' "$out/log" ||
	{ grep -q '^ *CC' "$out/log" && ! grep -q '^ *CHECK' "$out/log"; }; }; then
	# kbuild hardly reports that it skips sparse.
	echo "sparse has not run on $(<"$kernel/version"): $(grep -m 1 -o 'C=1 specified.*' "$out/log")"
	status=5
elif [ -n "$sparse" ]; then
	: >"$sparse"
fi
exit "$status"
