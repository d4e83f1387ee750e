#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh [NAME...]: check litmus tests with herd7 and the kernel's memory model: the bad
# state of a model is never observed; in each variant of the file variants, which leaves
# something out on purpose, it sometimes is. NAME is a model or a variant. What passed with the
# same herd7, memory model and text is not checked again: herd7 reads nothing else.
set -u
here=$(cd "$(dirname "$0")" && pwd -P) || exit 1
cache=${here%/tests/litmus}/.cache
model=$cache/source/tools/memory-model
[ -e "$model/linux-kernel.cfg" ] || { echo "1..0 # SKIP no memory model in .cache/source; make setup downloads it"; exit 4; }
herd=$cache/herd/herd7
[ -x "$herd" ] || herd=$(command -v herd7) || { echo "1..0 # SKIP no herd7; make setup downloads it"; exit 4; }
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT && cp "$here"/*.litmus "$tmp/" || exit 1

# Generate the variants; an edit that does not fit its model is fatal.
perl -0777 -e '
	for (split /\n\n+/, <STDIN> =~ s/^#.*?\n\n//sr) {
		my ($name, $model, $edits) = /^(\S+) (\S+)\n(?:#[^\n]*\n)*(.*)/s or die "what is this? $_\n";
		open my $from, "<", "$ARGV[0]/$model.litmus" or die "there is no $model\n";
		my $text = <$from> =~ s/^C \S+/C $name/r;
		for (split /^\@\n/m, "$edits\n") {
			my $old = join "", map { $_ eq "...\n" ? "(?:.*\n)*?" : quotemeta } /^-(.*\n)/mg;
			my $new = join "", /^\+(.*\n)/mg;
			1 == (() = $text =~ /^$old/mg) or die "$name: $model has no such place:\n$_";
			$text =~ s/^$old/$new/m;
		}
		open my $to, ">", "$ARGV[0]/$name.litmus" or die; print $to $text; close $to;
	}' "$tmp" <"$here/variants" || exit 1

judge=$(cat "$here/run.sh" "$herd" "$cache"/herd/usr/bin/herd7 "$model"/*.{cfg,def,bell,cat} | sha256sum | cut -c 1-16)
passed=$cache/litmus/$judge
[ -e "$passed" ] || { rm -rf "$cache/litmus" && mkdir -p "$cache/litmus" && : >"$passed"; } || exit 1

if [ $# = 0 ]; then
	set -- "$tmp"/*.litmus
	set -- "${@##*/}"
fi
echo "1..$#"
n=0 failed=0
for name; do
	name=${name%.litmus}
	n=$((n + 1)) want=Sometimes
	[ ! -e "$here/$name.litmus" ] || want=Never
	sum="$want $(sha256sum <"$tmp/$name.litmus")"
	if grep -qxF "$sum" "$passed"; then
		echo "ok $n - $name: $want"
		continue
	fi
	# herd7 looks for the memory model's files in the current directory.
	said=$(cd "$model" && timeout --foreground 300 "$herd" -conf linux-kernel.cfg "$tmp/$name.litmus" 2>&1)
	if [ "$(sed -n "s/^Observation $name \([A-Z][a-z]*\) .*/\1/p" <<<"$said")" = "$want" ]; then
		echo "ok $n - $name: $want"
		echo "$sum" >>"$passed"
	else
		failed=1
		echo "not ok $n - $name: $want"
		printf '# %s\n' "${said//$'\n'/$'\n# '}"
	fi
done
exit "$failed"
