# attnlab.forward on a GPU, against PyTorch: tests/gpu/forward_gpu.py.
. tests/tap.sh
python=${PYTHON:-python3}
if ! $python -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2> /dev/null; then
    skip "attnlab.forward against PyTorch" "no PyTorch with CUDA (PYTHON=... names one)"
    tap_done
fi
PYTHONPATH=runtime/python:tests:tests/runtime BUILD=$build $python tests/gpu/forward_gpu.py
