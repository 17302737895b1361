# What all pictures share: the terminal, the fonts, the inks, columns by name. Set before loading:
#   out   output file without its extension
#   term  png, svg or dumb (a picture in characters, for ssh)
#   wide, tall   pixels of the svg, if not 1040 x 600: a png has 1.25 times as many
# The first line of every table names its columns, and scripts use only these names.
# Text that came from records stays in data files and variables: gnuplot would execute it in a command.

set datafile missing '-'
set datafile columnheaders
set encoding utf8
wide = exists('wide') ? wide : 1040
tall = exists('tall') ? tall : 600
is_dumb = (term eq 'dumb')
if (term eq 'png') { set terminal pngcairo noenhanced size 1.25 * wide, 1.25 * tall font 'DejaVu Sans,16' fontscale 0.94 linewidth 1.25 background '#ffffff' }
if (term eq 'svg') { set terminal svg noenhanced size wide, tall font 'DejaVu Sans,16' background '#ffffff' }
if (is_dumb) { set terminal dumb noenhanced size 100,32 mono } else { set output out.'.'.term }

# A value by the name of its column, and whether there is one.
has(name) = strcol(name) ne '' && strcol(name) ne '-'
the(name) = has(name) ? column(name) : NaN

# Colour-blind safe (Okabe and Ito), dark enough on white.
array ink[10] = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#999933', '#555555', '#882255', '#b0a0ff']
soft = '#555555' # of footnotes

set style fill solid 0.9 noborder
set border 3 linecolor rgb '#444444'
set tics nomirror out
set grid ytics back linetype 1 linewidth 1 linecolor rgb '#e4e4e4'

# Title and subtitle stand above the plot on the left, footnotes below it. head(t), then sub(t), return the text to label with.
last_blank(text, i) = i < 2 || text[i:i] eq ' ' ? i : last_blank(text, i - 1)
wrap(text, n) = strlen(text) <= n ? text : (cut = last_blank(text, n), cut < 2 ? text : text[1:cut - 1]."\n".wrap(text[cut + 1:*], n))
n_lines(text) = strstrt(text, "\n") ? 1 + n_lines(text[strstrt(text, "\n") + 1:*]) : 1
head_at = 1 - 30.0 / tall
sub_at = 1 - 60.0 / tall
if (!is_dumb) { set tmargin at screen 1 - 92.0 / tall }
foot_row = 18.0 / tall # of a line of 13 pixels
small = ',13'

value_label(v) = v >= 1e6 ? sprintf('%.1fM', v / 1e6) : v >= 1e4 ? sprintf('%.0fk', v / 1e3) \
               : v >= 100 ? sprintf('%.0f', v) : v >= 10 ? sprintf('%.1f', v) : v > 0 ? sprintf('%.2g', v) : '0'
