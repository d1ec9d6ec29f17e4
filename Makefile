# The steps of CI by name, such as `make test` or `make race`; `make` runs all of them. What a step does stands in .ci/run.
steps := $(shell sed -n "s,^steps=(\(.*\)),\1,p" .ci/run)

.PHONY: all $(steps)
all:
	bash .ci/run
$(steps):
	bash .ci/run $@

# make compare OLD=main NEW=HEAD: are the main rows of the benchmarks as fast and as small as they were?
.PHONY: compare
compare:
	bash bench/compare.sh $(OLD) $(NEW)
