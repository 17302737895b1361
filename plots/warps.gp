# What the warps of one block do over time, from `make stage-N timeline DEVICE=emu`: a strip for each
# warp, by role, and the pipes of its SM. Set before loading: table (results/warps-stage-N.tsv), out
# (output file without extension), term (png or svg), window (us from the begin; 0: the whole block).

set encoding utf8
set datafile separator "\t"
what = ''
set datafile separator "\n"
set datafile commentschars ''
stats table using (what = strcol(1), 1) every ::0::0 nooutput
set datafile separator "\t"
set datafile commentschars '#'
stats table using 1 every ::1 name 'lane' nooutput
stats table using 6 every ::1 name 'end' nooutput
n = lane_max + 1
tall = 210 + 26 * n
if (term eq 'png') { set terminal pngcairo noenhanced size 1300,tall font 'DejaVu Sans,11' background '#ffffff' }
if (term eq 'svg') { set terminal svg noenhanced size 1300,tall font 'DejaVu Sans,11' background '#ffffff' }
set output out.'.'.term

# Colour-blind safe; works dark, waits pale. By the number of what is done (common/harness/warps.c).
array ink[9] = ['#0072b2', '#b0b0b0', '#56b4e9', '#009e73', '#f0e442', '#e69f00', '#d55e00', '#cc79a7', '#333333']
array said[9]
do for [k = 1:9] { said[k] = '' }
stats table using (said[int(column(4)) + 1] = strcol(3), 1) every ::1 nooutput

set border 1 linecolor rgb '#444444'
set tics nomirror out
set xlabel 'us' offset 0,0.7
set xrange [0:(window > 0 && window < end_max ? window : end_max)]
set yrange [-0.6:n - 0.4]
set ytics scale 0
set key below left Left reverse horizontal samplen 1 maxcols 3 width 1
set lmargin 18
set rmargin 3
set tmargin 5.5
set title 'One block, warp by warp: who works, and what the others wait for' font ',14' offset 0,1.6
on = strstrt(what, ', on ')
set label 1 substr(what, 3, on - 1)."\n".substr(what, on + 2, strlen(what)) at graph 0, graph 1 offset 0,1.9 left font ',8.5' textcolor rgb '#555555'
set style fill solid 1 noborder
bottom(x) = column(1) - 0.42
top(x) = column(1) - 0.42 + 0.84 * column(7)
plot table using 5:1:5:6:(bottom(0)):(top(0)):ytic(2) every ::1 with boxxyerror linecolor rgb '#ffffff' notitle, \
     for [k = 1:9] table using (column(4) == k - 1 ? column(5) : NaN):1:5:6:(bottom(0)):(top(0)) every ::1 \
         with boxxyerror linecolor rgb ink[k] title (said[k] eq '' ? '' : said[k])
