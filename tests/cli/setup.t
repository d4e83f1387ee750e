#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# setup.t: what set-up installs and says, on machines that dpkg-query, apt-get
# and the rest here only act.
. "$(dirname "$0")/lib.sh"

# prop NAME: a command of the machine, from stdin
prop() { (echo '#!/bin/bash' && cat) >"bin/$1" && chmod +x "bin/$1"; }

mkdir -p bin tests/vm && cp "$top/tests/setup.sh" tests/
cp "$top/tests/vm/fetch.sh" tests/vm/real.sh
(echo '#!/bin/bash' && cat) >tests/vm/fetch.sh <<-'PROP'
	[ -z "${FETCH_REAL:-}" ] || exec "${0%/*}/real.sh" "$@"
	echo "fetch $*" >>"$tmp/calls"
	exit "${FETCHED:-0}"
PROP
chmod +x tests/vm/fetch.sh
prop dpkg-query <<-'PROP'
	case $* in
	*'${Provides}'*) sed 's/^/ii  /' "$tmp/there" ;;
	*) sed 's/^/ii  /; s/ [^ ]*$//' "$tmp/there" ;;
	esac
PROP
prop apt-get <<-'PROP'
	echo "apt-get $*" >>"$tmp/calls"
	case " $* " in
	*" indextargets "*) echo "${MIRROR:-}" && exit ;;
	*" download "*) echo "E: Failed to fetch it" && exit 100 ;;
	*" update "*) [ -z "${NO_LISTS:-}" ] || echo "E: The mirror does not answer" && exit ;;
	esac
	while [ "$1" != -y ]; do shift; done
	shift
	for package; do
		if [ "$package" = "${NOT_HAD:-}" ]; then
			echo "Reading package lists..."
			echo "E: Unable to locate package $package"
			echo "E: and a second line"
			exit 100
		fi
	done
	printf '%s \n' "$@" >>"$tmp/there"
PROP
prop apt-cache <<-'PROP'
	case $* in
	*"depends linux-headers-6.12-amd64") echo "  Depends: linux-headers-6.12.9-amd64" ;;
	*depends*) echo "  Depends: linux-kbuild-6.12.9" ;;
	*) exit 1 ;;
	esac
PROP
prop id <<-'PROP'
	echo "${UID_HERE:-0}"
PROP
prop sudo <<-'PROP'
	echo "sudo" >>"$tmp/calls"
	exec "$@"
PROP
export tmp

# set_up GROUP...: set-up's exit in $status, what it said in $said, whom it called in calls
set_up() {
	: >calls
	PATH=$tmp/bin:$PATH tests/setup.sh "$@" >said 2>&1 </dev/null
	status=$?
	said=$(<said)
}

# asked: the packages that were to be installed
asked() { sed -nE 's/^apt-get .* install .* -y //p' calls; }

: >there
NO_SETUP=1 set_up demo test
is "$status $said$(<calls)" "0 " "NO_SETUP=1 installs nothing, asks for nothing, says nothing"

echo 'gcc ' >there
set_up demo
is "$status $(wc -l <said)" "0 1" "set-up of a machine that has gcc alone says a line" || diag "$said"
is "$said" "setup: installing $(asked)" "... which are the packages that it installs"
like " $(asked)" ' qemu-system-x86 ' "... what is missing"
! grep -qw gcc <<<"$(asked)"
ok $? "... and not what is there"
like "$(<calls)" 'apt-get .*update.*apt-get .*install --no-install-recommends -y .*fetch 6.12$' "... from fresh lists, and then kernels are fetched"
set_up demo
is "$status $said" "0 " "a second time there is nothing to do or to say"
is "$(<calls)" "fetch 6.12" "... but to look whether the kernel is there"

set_up demo test
like "$said" '^setup: installing ' "the tests want more"
! grep -qw qemu-system-x86 <<<"$said"
ok $? "... and only that is named"
is "$(tail -n 1 calls)" "fetch 6.1 6.12 herd sid source" "... and more kernels"
# what a test of its own looks for and would skip itself without
for package in clang sparse shellcheck mandoc codespell jq python3-yaml libcmocka-dev dkms openssl pahole; do
	grep -qx "$package *" there
	ok $? "make test's set-up has $package"
done
sed -i 's/^libelf1 $/libelf1t64 libelf1/' there
set_up demo
is "$status $said" "0 " "what another package provides is there"

echo 'gcc ' >there
NOT_HAD=zstd set_up demo
is "$status" 1 "a package that cannot be had: status 1"
is "$(tail -n +2 said)" "setup: the packages $(asked) cannot be had: E: Unable to locate package zstd" "... and one sentence, with apt's first"
is "$(grep -c fetch calls)" 0 "... and no kernel is fetched"
FETCHED=3 set_up demo
is "$status" 0 "a kernel that is not everywhere may be missing: the tests say so"
FETCHED=1 set_up demo
is "$status" 1 "a kernel that cannot be had: status 1"

# fetch.sh itself, whose words those are
code=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
export FETCH_REAL=1
set_up demo
is "$status $said" "1 setup: apt is configured with no Debian mirror of $code to take kernels from." \
	"no mirror: one sentence"
export MIRROR="http://mirror.invalid/debian $code"
NO_LISTS=1 set_up demo
is "$status $said" "1 setup: the package lists of bookworm cannot be had: E: The mirror does not answer" \
	"no lists: one sentence"
set_up demo
is "$status $said" "1 setup: downloading guest kernel 6.12 (6.12.9-amd64)
setup: guest kernel 6.12 cannot be had: E: Failed to fetch it" "no kernel: one sentence"
is "$(find .cache -mindepth 2 | sort | xargs)" "" "... and nothing is left of it"
unset FETCH_REAL

echo 'gcc ' >there
UID_HERE=1000 set_up demo
is "$status $(grep -c '^sudo' calls)" "0 2" "who is not root has sudo do it"
rm bin/sudo
echo 'gcc ' >there
for tool in bash sed tr sort comm grep mktemp env rm dirname cat wc head tail paste; do ln -sf "$(command -v "$tool")" bin/; done
: >calls
UID_HERE=1000 PATH=$tmp/bin tests/setup.sh demo >said 2>&1
is "$? $(sed 's/: [a-z0-9 -]*$//' said)" \
	"1 setup: these packages are missing, and there is neither root nor sudo to install them" "... and without it is told so"
like "$(<said)" ' zstd$' "... and which"
is "$(<calls)" "" "... and nothing is tried"
rm bin/apt-get
PATH=$tmp/bin tests/setup.sh demo >said 2>&1
like "$? $(<said)" '^1 setup: this is no Debian; what is needed: .*qemu-system-x86' "no Debian: what is needed is told"
finish
