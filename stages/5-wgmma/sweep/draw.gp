# Stage 5's sweep in three pictures, one under the other. Set before loading: dir (folder with depth.txt,
# n.txt, foot.txt as draw.sh makes them), out (output file without extension), term (png or svg).

wide = 1040
tall = 1500
load 'plots/style.gp'
unset tmargin
foot = wrap(system("sed 's/\"//g' '".dir."/foot.txt'"), 138)
set key top left font ',15'
set title font ',18'
set label 1 foot at screen 0.02, screen 0.02 left font small textcolor rgb soft
set bmargin 4
set multiplot layout 3,1 margins 0.09, 0.97, 0.09, 0.965 spacing 0.115

# 1. How many in flight: cycles a wgmma against issue pattern. depth.txt: label smem regs
set title 'Latency and throughput: cycles per m64n64k16 against what is kept in flight'
set ylabel 'cycles per wgmma'
set xlabel 'wgmma per commit group / groups still under way after the wait'
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.9 noborder
set yrange [0:*]
set key top right
plot dir.'/depth.txt' using (column('smem')):xtic(strcol('label')) linecolor rgb '#0072b2' title 'A from shared memory', \
     '' using (column('regs')) linecolor rgb '#e69f00' title 'A from registers', \
     '' using 0:(column('smem')):(sprintf('%.0f', column('smem'))) with labels offset -2,0.6 font ',14' notitle, \
     '' using 0:(column('regs')):(sprintf('%.0f', column('regs'))) with labels offset 2,0.6 font ',14' notitle, \
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
     dir.'/n.txt' using (column('n')):(column('smem')) with points pointtype 7 pointsize 0.9 linecolor rgb '#0072b2' title 'measured, A from shared memory', \
     '' using (column('n')):(column('regs')) with points pointtype 5 pointsize 0.7 linecolor rgb '#e69f00' title 'measured, A from registers'

# 3. The share of one SM's peak.
set key bottom right
set title 'Share of one SM''s peak: 4096 floating-point operations a clock'
set ylabel 'percent'
set yrange [0:105]
plot dir.'/n.txt' using (column('n')):(column('smem_peak_pct')) with linespoints pointtype 7 pointsize 0.9 linecolor rgb '#0072b2' title 'A from shared memory', \
     '' using (column('n')):(column('regs_peak_pct')) with linespoints pointtype 5 pointsize 0.7 linecolor rgb '#e69f00' title 'A from registers'
unset multiplot
