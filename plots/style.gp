# What all plots share: the terminal, the inks, the footnotes. Set before loading:
#   dir      folder with table.txt, notes.txt, labels.txt (plots/tabulate.c writes them)
#   out      output file without its extension
#   term     png, svg or dumb (a plot in characters, for ssh)
#   problem  text for the footnote
# Text that came from records stays in data files and variables: gnuplot would execute it in a command.

set datafile missing '-'
set encoding utf8
if (term eq 'png') { set terminal pngcairo noenhanced size 1100,680 font 'DejaVu Sans,12' background '#ffffff' }
if (term eq 'svg') { set terminal svg noenhanced size 1100,680 font 'DejaVu Sans,12' background '#ffffff' }
if (term eq 'dumb') { set terminal dumb noenhanced size 100,32 mono }
if (term ne 'dumb') { set output out.'.'.term }
is_dumb = (term eq 'dumb')

table  = dir.'/table.txt'
notes  = dir.'/notes.txt'
labels = dir.'/labels.txt'

n_series = 0
stats labels using (n_series = n_series + 1, 1) nooutput
array series_name[n_series]
array series_foot[n_series]
do for [i = 1:n_series] {
    stats labels using (series_name[i] = strcol(1), series_foot[i] = strcol(2), 1) every ::i-1::i-1 nooutput
}
# Under a stage's name, how many CTAs it launched: a grid smaller than the chip's SMs leaves some idle.
ctas_column = 13
tic_of(x) = strcol(2).(is_dumb || !valid(ctas_column) ? '' : sprintf("\n%d CTAs", column(ctas_column)))
# A record of another kernel than the one built here is hatched.
another_column = 30
is_another(x) = !is_dumb && valid(another_column) && column(another_column) == 1
n_stages = 0
stats table using (n_stages = n_stages + 1, 1) index 0 nooutput

# Colour-blind safe (Okabe and Ito), dark enough on white.
array ink[10] = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#999933', '#555555', '#882255', '#b0a0ff']

set style fill solid 0.9 noborder
set border 3 linecolor rgb '#444444'
set tics nomirror out
set grid ytics back linetype 1 linewidth 1 linecolor rgb '#e4e4e4'
set key outside top center horizontal samplen 1.5
set xrange [0.4:n_stages + 0.6]
set yrange [0:*]
set title font ',15'

# Footnotes: the problem, then one line a series (board, clock, driver, toolkit, revision, date, n, L2).
# In characters the footnotes stand below the plot (compare.sh): a line of them is longer than a terminal.
foot_y(i) = 0.022 + 0.030 * i
set bmargin is_dumb ? 3 : 5.5 + 1.4 * n_series
do for [i = 1:(is_dumb ? 0 : n_series)] {
    set label 100 + i series_foot[i] at screen 0.02, screen foot_y(n_series - i) left font ',9' textcolor rgb '#555555'
}
if (!is_dumb) { set label 99 problem at screen 0.02, screen foot_y(n_series) left font ',9' textcolor rgb '#555555' }

value_label(v) = v >= 1e6 ? sprintf('%.1fM', v / 1e6) : v >= 1e4 ? sprintf('%.0fk', v / 1e3) \
               : v >= 100 ? sprintf('%.0f', v) : v >= 10 ? sprintf('%.1f', v) : v > 0 ? sprintf('%.2g', v) : '0'
