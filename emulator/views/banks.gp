# Which bank each lane's words lie in, and in which wavefront the bank serves them. Variables: data (the table
# of --banks), access (which of its blocks), out, term (png, svg or dumb), head and caption.
set encoding utf8
if (term eq 'png') { set terminal pngcairo noenhanced size 1000,900 font 'DejaVu Sans,14' background '#ffffff' }
if (term eq 'svg') { set terminal svg noenhanced size 1000,900 font 'DejaVu Sans,14' background '#ffffff' }
if (term eq 'dumb') { set terminal dumb noenhanced size 110,44 mono }
if (term ne 'dumb') { set output out.'.'.term }
stats data index access using 4 nooutput
set title head."\n".caption
set xlabel 'bank (4 bytes each)'
set ylabel 'lane'
set cblabel 'wavefront that serves it' offset 1
set xrange [-0.5:31.5]
set yrange [31.5:-0.5]
set cbrange [-0.5:STATS_max + 0.5]
set xtics 0,4,31 out nomirror
set ytics 0,4,31 out nomirror
set cbtics STATS_max > 8 ? 4 : 1
if (term ne 'dumb') { set grid xtics ytics back linetype 1 linewidth 1 linecolor rgb '#e4e4e4' }
set palette maxcolors STATS_max + 1 defined (0 '#56b4e9', 0.5 '#e69f00', 1 '#d55e00') # a colour each
set style fill solid 1 border rgb '#ffffff'
if (term eq 'dumb') {
    plot data index access using 2:1:(sprintf('%d', $4)) with labels notitle
} else {
    plot data index access using 2:1:(0.46):(0.46):4 with boxxyerror linecolor palette notitle
}
