#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# plots.sh: draw Documentation/performance/*.svg of the data kept beside them
set -u
cd "$(dirname "$0")/../../Documentation/performance" || exit 1
command -v gnuplot >/dev/null || { echo "plots: no gnuplot here (apt-get install gnuplot-nox)" >&2; exit 4; }

# plot NAME: gnuplot's words on stdin, into NAME.svg
plot() {
	{
		cat <<-SETUP
			set terminal svg size 720,400 dynamic font 'sans-serif,14' background rgb 'white'
			set output '$1.svg'
			set border 3 lc rgb '#606060'; set tics nomirror; set grid y lc rgb '#d8d8d8' lw 1
			set style fill solid 1 noborder
			weir = '#1b6ca8'; hashlimit = '#d1792b'; nft = '#5e9c4b'; hook = '#808080'
		SETUP
		cat
	} | gnuplot || exit 1
	# gnuplot's own name and version are of no use to a reader of the change
	sed -i -E '/^<(title|desc)>/d; s/[[:blank:]]+$//' "$1.svg"
}

sources() {
	plot "sources-$1" <<-PLOT
		set logscale x 2; set logscale y 2; set key left top reverse Left
		set xlabel 'sources, in random order'; set ylabel 'ns a packet'
		set xtics ('1' 1, '1 k' 1024, '16 k' 16384, '64 k' 65536, '256 k' 262144, '1 M' 1048576)
		set xrange [.7:1.5e6]; set yrange [8:1024]; set title '$2'
		plot for [i=0:3] 'sources-$1.dat' using 1:(column(2 + 3 * i)):(column(3 + 3 * i)):(column(4 + 3 * i)) \
			with yerrorlines lw 2 pt 7 ps .5 lc rgb word(weir.' '.hashlimit.' '.nft.' '.hook, i + 1) \
			title word('weir hashlimit nft hook', i + 1)
	PLOT
}
sources drop "Sources over their limit, one CPU"
sources admit "Sources within their limit, one CPU"

plot cpus <<-'PLOT'
	set style data histograms; set style histogram clustered gap 1.5; set boxwidth .9
	set logscale y 2; set yrange [8:2048]; set ylabel 'ns a packet and CPU'
	set bmargin 4; set key right top; set title 'One CPU alone (pale), each of two at the same time (full)'
	set xrange [-.6:3.6]
	plot 'cpus.dat' using 3:xtic(1) lc rgb weir title 'weir', \
		'' using 5 lc rgb hashlimit title 'hashlimit', '' using 7 lc rgb nft title 'nft', \
		newhistogram at 0, \
		'' using 2 lc rgb '#9cc4e2' notitle, '' using 4 lc rgb '#efc39d' notitle, '' using 6 lc rgb '#bcd9b3' notitle
PLOT

# Rows may have been chosen.
grep -q '^[^#]' memory.dat || exit 0
plot memory <<-'PLOT'
	set style data histograms; set style histogram clustered gap 1.5; set boxwidth .9
	set yrange [0:*]; set ylabel 'bytes a source'; set xlabel 'sources that the table is made for, all of them in it'
	set key outside center bottom horizontal; set title 'Memory, all that the kernel has less of'
	set xrange [-.6:2.6]
	plot 'memory.dat' using 2:xtic(1) lc rgb weir title 'weir', \
		'' using 3 lc rgb hashlimit title 'hashlimit', '' using 4 lc rgb nft title 'nft'
PLOT
