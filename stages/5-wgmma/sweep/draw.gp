# Stage 5's sweep in three pictures, one under the other. Set before loading: dir (folder with depth.txt,
# n.txt, foot.txt as draw.sh makes them), out (output file without extension), term (png or svg).

set encoding utf8
if (term eq 'png') { set terminal pngcairo noenhanced size 1000,1350 font 'DejaVu Sans,12' background '#ffffff' }
if (term eq 'svg') { set terminal svg noenhanced size 1000,1350 font 'DejaVu Sans,12' background '#ffffff' }
set output out.'.'.term

foot = ''
stats dir.'/foot.txt' using (foot = strcol(1), 1) nooutput
set border 3 linecolor rgb '#444444'
set tics nomirror out
set grid ytics back linetype 1 linewidth 1 linecolor rgb '#e4e4e4'
set key top left
set title font ',14'
set label 1 foot at screen 0.02, screen 0.012 left font ',9' textcolor rgb '#555555'
set bmargin 4
set multiplot layout 3,1 margins 0.09, 0.97, 0.07, 0.96 spacing 0.09

# 1. How many in flight: cycles a wgmma against issue pattern. depth.txt: label smem regs
set title 'Latency and throughput: cycles per m64n64k16 against what is kept in flight'
set ylabel 'cycles per wgmma'
set xlabel 'wgmma per commit group / groups still under way after the wait'
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.9 noborder
set yrange [0:*]
set key top right
plot dir.'/depth.txt' using 2:xtic(1) linecolor rgb '#0072b2' title 'A from shared memory', \
     '' using 3 linecolor rgb '#e69f00' title 'A from registers', \
     '' using 0:2:(sprintf('%.0f', $2)) with labels offset -2.5,0.6 font ',9' notitle, \
     '' using 0:3:(sprintf('%.0f', $3)) with labels offset 2.5,0.6 font ',9' notitle, \
     32 with lines dashtype 2 linecolor rgb '#444444' title 'tensor core: N / 2 = 32 cycles'

# 2. Cycles against N beside the model. n.txt: n smem regs smem_peak regs_peak
unset label 1
set key top left
set title 'Cycles per m64nNk16 in steady state, and the model max(N/2, 16 + N/4)'
set xlabel 'N'
set xrange [0:264]
set xtics 32
max(x) = x / 2 > 16 + x / 4 ? x / 2 : 16 + x / 4
plot max(x) with lines linewidth 2 linecolor rgb '#bbbbbb' title 'model, A from shared memory', \
     x / 2 with lines dashtype 2 linecolor rgb '#bbbbbb' title 'tensor core alone: N / 2', \
     dir.'/n.txt' using 1:2 with points pointtype 7 pointsize 0.9 linecolor rgb '#0072b2' title 'measured, A from shared memory', \
     '' using 1:3 with points pointtype 5 pointsize 0.7 linecolor rgb '#e69f00' title 'measured, A from registers'

# 3. The share of one SM's peak.
set key bottom right
set title 'Share of one SM''s peak: 4096 floating-point operations a clock'
set ylabel 'percent'
set yrange [0:105]
plot dir.'/n.txt' using 1:4 with linespoints pointtype 7 pointsize 0.9 linecolor rgb '#0072b2' title 'A from shared memory', \
     '' using 1:5 with linespoints pointtype 5 pointsize 0.7 linecolor rgb '#e69f00' title 'A from registers'
unset multiplot
