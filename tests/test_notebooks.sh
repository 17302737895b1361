# The labs: each .ipynb is what its .py gives, has no outputs, and runs from the recorded results.
. tests/tap.sh

if [ ! -x .venv/bin/jupytext ]; then
    skip notebooks "no .venv/bin/jupytext; make setup installs it"
    tap_done
fi

generated() { # NAME: generating it once more changes nothing
    cp "notebooks/$1.py" "$tap_dir/" &&
        .venv/bin/jupytext --quiet --to ipynb --opt notebook_metadata_filter=-all \
            --output "$tap_dir/$1.ipynb" "$tap_dir/$1.py" &&
        .venv/bin/python notebooks/stable.py "$tap_dir/$1.ipynb" &&
        diff "notebooks/$1.ipynb" "$tap_dir/$1.ipynb"
}
bare() { ! grep -q '"output_type"' "notebooks/$1.ipynb"; }

for lab in notebooks/lab-*.py; do
    name=$(basename "$lab" .py)
    check "$name.ipynb is what $name.py gives" generated "$name"
    check "$name.ipynb has no outputs" bare "$name"
    check "$name.ipynb runs from the records" .venv/bin/python notebooks/execute.py "notebooks/$name.ipynb"
done
tap_done
