# Stage 4's tiles: a panel for each head_dim, in it two bars a tile, without a mask and causal. Set before
# loading: dir (sweep.txt and foot.txt, written by plots/stage-4.sh), out (without extension) and term.
table = dir.'/sweep.txt'
if (term eq 'png') { set terminal pngcairo noenhanced size 1500,1900 font 'DejaVu Sans,10' background '#ffffff' }
if (term eq 'svg') { set terminal svg noenhanced size 1500,1900 font 'DejaVu Sans,10' background '#ffffff' }
set output out.'.'.term
set datafile missing '-'
set style fill solid 0.9 noborder
set border 3 linecolor rgb '#444444'
set tics nomirror out
set grid ytics back linetype 1 linewidth 1 linecolor rgb '#e4e4e4'
set yrange [0:*]
set ylabel 'TFLOPS'
set xtics rotate by -20
set key outside top right horizontal samplen 1.5
set bmargin 5.5
stats dir.'/foot.txt' using (foot = strcol(1), 1) nooutput
stats table using 1 nooutput
set multiplot layout (STATS_blocks + 1) / 2, 2 columnsfirst title 'Tiles of stage 4: BQ x BKV, warps x groups, stages, Q in registers, CTAS'
set label 1 foot at screen 0.01, screen 0.005 left font ',9' textcolor rgb '#555555'
do for [b = 0:STATS_blocks - 1] {
    stats table index b using 1:2 nooutput
    set title 'head_dim '.sprintf('%d', STATS_max_y).(STATS_max_x > 0 ? ', small problems' : '')
    set xrange [-0.6:STATS_records - 0.4]
    plot table index b using ($0 - 0.2):4:(0.38):xtic(3) with boxes linecolor rgb '#0072b2' title 'no mask', \
         table index b using ($0 + 0.2):5:(0.38) with boxes linecolor rgb '#e69f00' title 'causal'
    unset label 1
}
unset multiplot
