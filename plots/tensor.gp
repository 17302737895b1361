# How busy the tensor cores are, stage by stage: the share of an SM's cycles in which the tensor pipe works.
load 'plots/table.gp'
n_columns = 1
array column_name[1] = ['tensor_active_pct']
array column_title[1] = ['']
array column_ink[1] = [ink[1]]
array column_once[1] = [0]
instead(x) = has('tensor_instructions') && column('tensor_instructions') == 0 ? "no tensor\ninstructions" : ''
title_text = 'How busy are the tensor cores?'
sub_text = problem.'. Percent of cycles in which the tensor pipe works'
set ylabel 'percent of cycles'
lesson = system("sed -n 's/^lesson\\t//p' '".dir."/says.txt' 2> /dev/null")
foot_below = lesson eq '' ? '' : wrap(lesson, 138)
load 'plots/bars.gp'
