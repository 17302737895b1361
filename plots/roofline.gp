# The roofline: how many FLOP a byte gets, and how fast that runs. Each stage stands twice, by the bytes that
# came from DRAM and by those from L2; lines join the stages in order. Roofs are what this chip reached when it was
# measured (chips/), not its data sheet. Measured launches back to back only: the emulator has no DRAM.
# Set before loading, besides what table.gp wants: ceilings, a file with columns name, kind (flop: TFLOPS; byte: TB/s) and value.
load 'plots/table.gp'
n_roofs = 0
array roof_name[9]
array roof_kind[9]
array roof_value[9]
stats ceilings using (n_roofs = n_roofs + 1, roof_name[n_roofs] = strcol('name'), roof_kind[n_roofs] = strcol('kind'), \
    roof_value[n_roofs] = column('value'), 1) nooutput
peak = 1
fastest = 0
do for [r = 1:n_roofs] { if (roof_kind[r] eq 'flop' && roof_value[r] > peak) { peak = roof_value[r] } }
do for [r = 1:n_roofs] { if (roof_kind[r] eq 'byte' && roof_value[r] > fastest) { fastest = roof_value[r] } }
# A problem that L2 holds takes nearly nothing from DRAM: such points lie far to the right, and a footnote names them.
far = 40000
level(c, bytes) = has('tflops') && has(c) && column(c) * bytes * far > column('flops') ? column('flops') / (column(c) * bytes) : NaN
is_far(x) = has('tflops') && has('dram_bytes') && column('dram_bytes') * far <= column('flops')
left_out = ''
n_points = 0
least_x = 10
most_x = 10000
least_y = 8
do for [s = 1:n_series] {
    stats table index s-1 using (n_points = n_points + (level('l2_read_sectors', 32) > 0 || level('dram_bytes', 1) > 0), \
        left_out = is_far(0) ? left_out.' '.strcol('number') : left_out, \
        a = level('dram_bytes', 1), b = level('l2_read_sectors', 32), v = the('tflops'), \
        most_x = a > most_x ? a : b > most_x ? b : most_x, least_x = b < least_x ? b : a < least_x ? a : least_x, \
        least_y = v < least_y ? v : least_y, 1) nooutput
}
axis_below = 24 # the name of the axis
title_text = 'Roofline'
sub_text = problem.'. Speed over the FLOP that each byte gets, from DRAM and from L2; the numbers are stages'
if (left_out ne '') { foot_below = 'Not drawn from DRAM: stages'.left_out.', over '.far.' FLOP a byte. L2 holds their problem.' }
eval begin_foot
eval put_foot
eval heading
set xlabel 'FLOP per byte (log scale)'
set ylabel 'TFLOPS (log scale)'
set logscale xy
set xrange [least_x / 1.5:most_x * 3]
set yrange [least_y / 1.6:1600]
set grid xtics ytics back linetype 1 linewidth 1 linecolor rgb '#eeeeee'

short(name) = substr(name, 1, strstrt(name, ',') - 1) # "L2, read, loaded, at 1980 MHz,"
# the degrees of y = x on this paper
width_px = wide - 110.0
height_px = tall - 92.0 - 18 * n_lines(foot_text) - 106
slope = atan2(height_px / (log10(1600.0) - log10(least_y / 1.6)), width_px / (log10(most_x * 3) - log10(least_x / 1.5))) * 180 / pi
do for [r = 1:n_roofs] {
    if (roof_kind[r] eq 'flop') {
        set label 20 + r sprintf('%s %.0f TFLOPS', short(roof_name[r]) eq '' ? roof_name[r] : short(roof_name[r]), roof_value[r]) at most_x * 2.8, roof_value[r] right offset 0,(roof_value[r] == peak ? 0.55 : -0.6) font ',14' textcolor rgb '#666666'
    } else {
        set label 20 + r sprintf('%s %.1f TB/s', short(roof_name[r]) eq '' ? roof_name[r] : short(roof_name[r]), roof_value[r]) at least_x / 1.4, least_x / 1.4 * roof_value[r] * 1.35 left rotate by slope font ',14' textcolor rgb '#666666'
    }
}
set samples 4000 # so that roofs meet
# a flat roof begins where the steepest one reaches it
roof(r, x) = roof_kind[r] eq 'flop' ? (fastest == 0 || x * fastest >= roof_value[r] ? roof_value[r] : NaN) : (x * roof_value[r] <= peak ? x * roof_value[r] : NaN)
if (n_points == 0) {
    set label 1 'nothing to draw: no times with bytes of DRAM or L2 here' at graph 0.5, graph 0.5 center
    plot for [r = 1:n_roofs] roof(r, x) with lines linewidth 1.5 linecolor rgb '#999999' notitle
} else {
    plot for [r = 1:n_roofs] roof(r, x) with lines linewidth 1.5 linecolor rgb '#999999' notitle, \
         for [s = 1:n_series] table index s-1 using (level('dram_bytes', 1)):(the('tflops')) with linespoints pointtype 7 pointsize 1.6 linewidth 2 linecolor rgb ink[1] notitle, \
         for [s = 1:n_series] table index s-1 using (level('l2_read_sectors', 32)):(the('tflops')) with linespoints pointtype 6 pointsize 1.6 linewidth 2 dashtype 2 linecolor rgb ink[2] notitle, \
         for [s = 1:n_series] table index s-1 using (level('dram_bytes', 1)):(the('tflops')):(strcol('number')) with labels offset 1.2,0.5 font ',16' notitle, \
         for [s = 1:n_series] table index s-1 using (level('l2_read_sectors', 32)):(the('tflops')):(strcol('number')) with labels offset 1.2,0.5 font ',16' notitle, \
         for [s = 1:n_series] table index s-1 using ($0 == 0 ? level('dram_bytes', 1) : NaN):(the('tflops')):('from DRAM') with labels offset 0,-1.2 font ',15' textcolor rgb ink[1] notitle, \
         for [s = 1:n_series] table index s-1 using ($0 == 0 ? level('l2_read_sectors', 32) : NaN):(the('tflops')):('from L2') with labels offset 0,-1.2 font ',15' textcolor rgb ink[2] notitle
}
