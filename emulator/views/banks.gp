# Which bank each lane's words lie in, and in which wavefront the bank serves them. Variables: data (the table
# of --banks), access (which of its blocks), unit (what its first column counts: lane, or row of an operand),
# out, term (png, svg or dumb), head and caption.
set encoding utf8
set datafile columnheaders
# the names of the columns stand in a comment
named = "< sed 's/^# [a-z]* bank word/row bank word/' '".data."' 2> /dev/null"
stats named index access using (column('row')) nooutput name 'ROW'
rows = ROW_max < 31 ? 31 : ROW_max
high = rows < 64 ? 900 : 200 + 8 * rows
if (term eq 'png') { set terminal pngcairo noenhanced size 1000,high font 'DejaVu Sans,14' background '#ffffff' }
if (term eq 'svg') { set terminal svg noenhanced size 1000,high font 'DejaVu Sans,14' background '#ffffff' }
if (term eq 'dumb') { set terminal dumb noenhanced size 110,44 mono }
if (term ne 'dumb') { set output out.'.'.term }
stats named index access using (column('wavefront')) nooutput
at = strstrt(caption, ' (PTX')
set title head."\n".(at ? caption[1:at - 1]."\n".caption[at + 1:*] : caption)
set xlabel 'bank (4 bytes each)'
set ylabel unit eq 'lane' ? 'lane' : 'row of the operand or box'
set cblabel STATS_max > 15 ? 'wavefront that serves it, modulo 16' : 'wavefront that serves it' offset 1
set xrange [-0.5:31.5]
set yrange [rows + 0.5:-0.5]
set cbrange [-0.5:(STATS_max > 15 ? 15 : STATS_max) + 0.5]
set xtics 0,4,31 out nomirror
set ytics 0,rows < 64 ? 4 : 8,rows out nomirror
set cbtics 1
if (term ne 'dumb') { set grid xtics ytics back linetype 1 linewidth 1 linecolor rgb '#e4e4e4' }
# a colour each, of sixteen: eight, then their dark or pale kin
ink = '#56b4e9 #e69f00 #009e73 #cc79a7 #0072b2 #f0e442 #d55e00 #555555 #bfe3f7 #f7d48a #8fd6bf #ecd0e0 #00304d #8a8000 #6b2e00 #bbbbbb'
n_inks = STATS_max > 15 ? 16 : int(STATS_max) + 1
inks = ''
do for [i = 1:n_inks] { inks = inks.sprintf("%s%d '%s'", i > 1 ? ', ' : '', i, word(ink, i)) }
if (n_inks > 1) { eval sprintf('set palette maxcolors %d defined (%s)', n_inks, inks) } else { set palette maxcolors 2 defined (0 '#56b4e9', 1 '#56b4e9') }
set style fill solid 1 border rgb '#ffffff'
if (term eq 'dumb') {
    plot named index access using (column('bank')):(column('row')):(sprintf('%d', column('wavefront'))) with labels notitle
} else {
    plot named index access using (column('bank')):(column('row')):(0.46):(0.46):(int(column('wavefront')) % n_inks) with boxxyerror linecolor palette notitle
}
