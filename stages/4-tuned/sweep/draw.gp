# Stage 4's tiles of one head_dim: a row a tile, the fastest on top, a dot without a mask and one causal; a panel for each
# problem. Set before loading: dir (sweep.txt and foot.txt, written by draw.sh), head_dim, out (without extension) and term.
table = dir.'/sweep.txt'
set datafile missing '-'
set datafile columnheaders
foot = system("sed 's/\"//g' '".dir."/foot.txt'")
stats table using (column('dim')) nooutput
array block[STATS_blocks]
array rows[STATS_blocks]
array problem[STATS_blocks]
n_blocks = STATS_blocks
n = 0
n_rows = 0
do for [b = 0:n_blocks - 1] {
    stats table index b using (dim = int(column('dim')), said = strcol('problem'), 1) nooutput
    if (dim == head_dim) {
        n = n + 1
        n_rows = n_rows + STATS_records
        block[n] = b
        rows[n] = STATS_records
        problem[n] = said
    }
}
blank(text) = (bar = strstrt(text, "_")) ? text[1:bar - 1]." ".blank(text[bar + 1:*]) : text
label(tile, regs, spilled, ctas) = sprintf('%s, %d regs, %s%d CTA%s', tile, regs, spilled > 0 ? sprintf('%d spilled, ', spilled) : '', ctas, ctas > 1 ? 's' : '')

row = 26.0 # all in pixels
frame = 165.0 # a panel's title, numbers and name of its axis
top = 84.0
bottom = 30.0
height = top + bottom + n * frame + n_rows * row
wide = 1200
tall = height
load 'plots/style.gp'
unset tmargin
set grid xtics ytics back linetype 1 linewidth 1 linecolor rgb '#e4e4e4'
set xrange [0:*]
set xlabel 'TFLOPS' offset 0,0.5
set lmargin 48
set rmargin 4
set key at screen 0.98, screen 1 - 60 / height right center horizontal samplen 0.5 font ',15'
set multiplot title sprintf('Tiles of stage 4, head_dim %d: BQ x BKV, warps x groups, stages, Q in registers, CTAs', head_dim) font ',18'
set label 1 foot at screen 0.01, screen 12 / height left font small textcolor rgb soft
at = height - top
do for [p = 1:n] {
    set title blank(problem[p])
    set yrange [-0.6:rows[p] - 0.4]
    at = at - frame - row * rows[p]
    set origin 0, at / height
    set size 1, (frame + row * rows[p]) / height
    plot table index block[p] using (the('none')):0:ytic(label(strcol('tile'), column('registers'), column('spilled'), column('ctas'))) with points pointtype 7 pointsize 1.3 linecolor rgb '#0072b2' title 'no mask', \
         table index block[p] using (the('causal')):0 with points pointtype 5 pointsize 1.1 linecolor rgb '#e69f00' title 'causal'
    unset label 1
    unset key
}
unset multiplot
