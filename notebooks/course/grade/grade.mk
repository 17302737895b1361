# build/trial-N: draws cases, runs a kernel, judges what it left; linked with the stage's host code. What is
# attention's and what is stage 5's own stands in files of its own.
TRIAL_OF_ATTENTION := $(filter-out %/product.c %/gemm.c,$(wildcard notebooks/course/grade/*.c))
TRIAL_OF_PRODUCTS  := $(addprefix notebooks/course/grade/,main.c run.c facts.c product.c)
define trial-of
$(BUILD)/trial-$(1:stage-%=%): $(patsubst %.c,$(BUILD)/%.o,$(if $(filter stage-5,$1),$(TRIAL_OF_PRODUCTS),$(TRIAL_OF_ATTENTION))) \
        $$(call stage-objects,$1) $(LIB)
	$$(LINK)
endef
$(foreach s,$(STAGES),$(eval $(call trial-of,$s)))

# Of the exams on GEMM.
$(BUILD)/trial-exams: $(patsubst %,$(BUILD)/notebooks/course/grade/%.o,main run facts gemm) $(LIB)
	$(LINK)
# Of exam 3, whose host part is a stage's.
$(BUILD)/trial-0: $(TRIAL_OF_ATTENTION:%.c=$(BUILD)/%.o) $(BUILD)/notebooks/course/exams/attention.o $(LIB)
	$(LINK)
needs-of   = $(if $(filter $(EXAM_NAMES),$1),$(call exam-needs,$1),$(if $(filter $(KERNEL_LABS),$1),$(call lab-needs,$1)))
exam-needs = $(call exam-trials,$(1:exam-%=%)) $(call exam-images,$(1:exam-%=%))
exam-trials = $(if $(is-attention),$(BUILD)/trial-0 $(BUILD)/trial-4 $(exam-ptx),$(BUILD)/trial-exams)

LONG_NEEDS += $(STAGES:stage-%=$(BUILD)/trial-%)
gpu-test: $(STAGES:stage-%=$(BUILD)/trial-%)

# What grading lab N needs: its stage's trial and the images of our own kernel (notebooks/course/folder.mk).
lab-needs  = $(call lab-images,$1) $(BUILD)/$(call lab-stage,$1) $(patsubst stage-%,$(BUILD)/trial-%,$(call lab-stage,$1))
ifneq ($(filter grade handout,$(MAKECMDGOALS)),)
$(foreach n,$(filter-out $(if $(filter %.json,$(SUBMISSION)),$(LAB_NUMBERS),$(KERNEL_LABS)) $(EXAM_NAMES),$(LAB)),\
    $(error there is no lab $n with a kernel: LAB is one of $(KERNEL_LABS) $(EXAM_NAMES)))
endif

##teach-1 grade: Grade a submission.
##  make grade LAB=2 SUBMISSION=a.cu SEED=x
##
##  LAB=2               the lab, or the exam: LAB=exam-1
##  SUBMISSION=my.cu    a kernel, or answers.json
##  SEED=x              a word that students do not know: cases are drawn from it
##  DEVICE=emu|auto     where it runs
##  SANDBOX=weak        where the machine has no namespaces
.PHONY: grade
grade: $(if $(filter grade,$(MAKECMDGOALS)),$(call needs-of,$(LAB)))
	@BUILD=$(BUILD) notebooks/course/grade/grade.sh

##teach-2 grade-all: Grade a folder of submissions, STUDENT/lab-N/.
##  make grade-all SUBMISSIONS=all SEED=word
##
##  SUBMISSIONS=all   the folder
##  SEED=word         a word that students do not know
##  J=4               four at a time
##  SLURM=1           as jobs of Slurm: setup/slurm.txt has partition and limits
##
##  Writes results/grades: index.html shows the class, grades.csv and checks.csv have the rows.
.PHONY: grade-all
no-folder = echo "make: grade-all wants SUBMISSIONS=folder SEED=secret" >&2; exit 2
grade-all: $(if $(filter grade-all,$(MAKECMDGOALS)),$(foreach n,$(KERNEL_LABS) $(EXAM_NAMES),$(call needs-of,$n)))
	@test -n "$$SUBMISSIONS" -a -n "$$SEED" || { $(no-folder); }
	@BUILD=$(BUILD) $(if $(SLURM),notebooks/course/grade/on_slurm.sh) $(or $(wildcard $(PYTHON)),python3) \
	    notebooks/course/grade/grade_all.py "$$SUBMISSIONS" --seed "$$SEED" --device "$$DEVICE" $${J:+--jobs "$$J"}

##teach-3 handout: Pack what students get, without answers.
##  make handout LAB=2
##
##  Writes results/handout/lab-2.tar.gz; without LAB, an archive for each lab and exam. Later stages are left out, too.
.PHONY: handout
PYTHON_VERBS += handout
HANDED_OUT := $(or $(LAB),$(KERNEL_LABS) $(EXAM_NAMES))
lab-before = $(or $(if $(filter exam-%,$1),$(shell sed -n 's/^after *//p' notebooks/course/exams/$(1:exam-%=%)/exam)),$1)
handout: $(if $(filter handout,$(MAKECMDGOALS)),$(foreach n,$(HANDED_OUT),$(call lab-images,$(call lab-before,$n)) \
        $(if $(filter exam-%,$n),$(call exam-images,$(n:exam-%=%)))))
	@for n in $(patsubst lab-exam-%,exam-%,$(HANDED_OUT:%=lab-%)); do \
	    python3 notebooks/course/grade/handout.py $${n#lab-} results/handout/$$n.tar.gz || exit; done

##teach-4 board: Rank a class's exams by time, without code.
##  make exam-1 board
##
##  After make grade-all. Predicted times, or with a GPU measured ones; writes results/board/exam-1.html.
##  ARGS="--anonymous WORD"   names drawn from a word of yours; results/board/exam-1-names.csv says whose they are
.PHONY: board
board:
	@test -n "$(MY_EXAM)" || { echo "make: name an exam: make exam-1 board" >&2; exit 2; }
	@set -f; $(or $(wildcard $(PYTHON)),python3) notebooks/course/grade/board.py $(MY_EXAM) $$ARGS
