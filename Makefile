# Targets: build test kills check every-model api-check lint fmt bench cover mutate fuzz data data-check web site release release-check vuln cluster clean. Needs Go, and make; a C compiler only for the race detector.
.DEFAULT_GOAL := build
.DELETE_ON_ERROR:

# The tools have a module of their own, so that the program's go.mod never sees what they need.
LINT      := go tool -modfile=tools/go.mod golangci-lint
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
CC_FOUND  := $(shell command -v $(or $(CC),cc) || command -v gcc)
FUZZTIME  ?= 10s
KILLS     ?= 20
# For one package, on a slow machine that does other work too.
TIMEOUT   ?= 18m
# Without debug information packages compile in about five sixths of the time, and test binaries link in half. tools/pytypes and
# tools/install repeat these flags, as tools/mutate and tools/browser do, so that they find what make test compiled.
FLAGS     := -trimpath -gcflags=all=-dwarf=false -ldflags='-s -w'
# vet is part of make check-code.
QUICK     := -vet=off $(FLAGS)
# Compilers and tests collect garbage a quarter as often: a sixth to a third less work for twice the memory, some hundred megabytes.
TESTED    := CGO_ENABLED=0 GOGC=400
BENCH     ?= .
COUNT     ?= 1
# Mutation testing: how many changes of each package, which packages, and whose tests are to notice.
# Faces are left out: they would notice by printed digits.
MUTANTS   ?= 60
SEED      ?= 1
MUTATED   ?= ./internal/cost/...,./internal/evidence/calibrate,./internal/fit/deployments,./internal/fit/constants,./internal/evidence/calibration,./internal/evidence/measured,./internal/serve/replica,./internal/serve/sim/...,./internal/cost/memory,./internal/cost/graph
KILLERS   := cost/op cost/graph cost cost/roofline cost/calibrated cost/table cost/memory serve/formulas serve/sim/statistics serve/sim/server serve/sim/traffic serve/sim serve/replica ops/step ops/simulate ops compat/ascend serve/search cost/step evidence/calibration evidence/measured evidence/calibrate fit/deployments fit/constants
MUTATE    := nice go -C tools run ./mutate -root .. -killers "$(KILLERS:%=./internal/%)"

# The race detector makes everything ten times slower, so it runs only the tests made for it: TestConcurrent… with small inputs,
# in the packages that share work between goroutines or serve several clients.
CONCURRENT := ./internal/basic/pool ./internal/ops/sweep ./internal/fit/deployments ./internal/face/operation ./internal/face/mcp ./internal/face/http ./internal/face/cli ./internal/face/cli/disk

.PHONY: build
build: ## a static binary, bin/plimsoll, without debug information
	CGO_ENABLED=0 go build $(FLAGS) -o bin/plimsoll ./cmd/plimsoll

.PHONY: test
test: ## every test, and those of the tools
	$(TESTED) go test $(QUICK) -timeout $(TIMEOUT) ./...
	$(TESTED) go -C tools test $(QUICK) -count 1 ./... # what they read of this module is unknown to the cache

.PHONY: kills
kills: ## KILLS processes of every command that writes are killed, and every operation of them on the disk fails once
	PLIMSOLL_KILLS=$(KILLS) $(TESTED) go test $(QUICK) -timeout $(TIMEOUT) -count 1 -v -run '^(TestKills|TestWriter)' ./internal/face/cli

.PHONY: race
race: ## the TestConcurrent tests under the race detector, if there is a C compiler
ifeq ($(CC_FOUND),)
	@echo '*** NO C COMPILER FOUND: NOTHING RUNS UNDER THE RACE DETECTOR ***'
else
	CGO_ENABLED=1 go test -race $(QUICK) -timeout $(TIMEOUT) -run '^TestConcurrent' $(CONCURRENT)
endif

.PHONY: check
check: check-code every-model api-check ## the rest: check-code, searches for every model, the JSON API

.PHONY: check-code
check-code: check-format vet fix-check prose api cross race lint ## format, vet, go fix, prose, the Go package, six platforms, the race detector, linters

# make test asks 200 of these questions. All 2,570 take 15 CPU-minutes, too long for every change.
QUESTIONS ?= 0
.PHONY: every-model
every-model: ## no model of the catalog ends a search with a bug, on 1 to 16 devices of any generation: QUESTIONS=200 asks fewer
	$(TESTED) go test $(QUICK) -timeout 60m -count 1 -run '^TestEveryModel$$' ./internal/face/cli -every-model $(QUESTIONS)

.PHONY: check-format
check-format:
	@out=$$(gofmt -l *.go cmd internal tools) && test -z "$$out" || { echo "gofmt would change:"; echo "$$out"; echo "run: make fmt"; exit 1; }

.PHONY: vet
vet:
	go vet ./...
	go -C tools vet ./...

.PHONY: fix-check
fix-check: ## go fix finds nothing to modernize
	@go fix -diff ./... || { echo "run: go fix ./..."; exit 1; }

.PHONY: prose
prose: ## no text has a phrase of tools/prose/words.txt
	go -C tools run ./prose

.PHONY: api
api: ## the Go package has all that docs/api.txt promises
	go -C tools run ./api

.PHONY: api-check
api-check: build ## the JSON API is as its OpenAPI document says, by Schemathesis, if python3 can install it
	tools/apicheck/check.sh bin/plimsoll

.PHONY: cross
cross: ## the program compiles for every platform, without C
	@set -e; for p in $(PLATFORMS); do \
	  echo "build $$p"; \
	  CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} go build ./...; \
	done

.PHONY: lint
lint:
	$(LINT) run ./...

.PHONY: fmt
fmt:
	$(LINT) fmt ./...

.PHONY: bench
bench: ## BENCH=regexp COUNT=6; compare two runs with: go tool -modfile=tools/go.mod benchstat old new
	go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) ./...

.PHONY: cover
cover: ## statement coverage by package, with .cache/cover.out for go tool cover
	@mkdir -p .cache
	go test -coverpkg=./... -coverprofile=.cache/cover.out ./...
	@awk 'NR > 1 { n[$$1] = $$2; if ($$3) hit[$$1] = 1 } \
	  END { for (b in n) { p = b; sub("/[^/]*:.*", "", p); all[p] += n[b]; if (b in hit) seen[p] += n[b] } \
	        for (p in all) printf "%-40s %5.1f %%\n", p, 100*seen[p]/all[p] }' .cache/cover.out | sort
	@go tool cover -func=.cache/cover.out | tail -n 1

.PHONY: mutate
mutate: ## mutation testing, the share of mutants killed: MUTANTS=60 SEED=1 MUTATED=packages
	$(MUTATE) -packages "$(MUTATED)" -n $(MUTANTS) -seed $(SEED)

.PHONY: mutate-named
mutate-named: ## the same for the mutants of tools/mutate/named.txt
	$(MUTATE) -named mutate/named.txt

.PHONY: fuzz
fuzz: ## every Fuzz function for FUZZTIME each
	@set -e; go test -list '^Fuzz' ./... \
	| awk '/^Fuzz/ { f[n++] = $$1 } /^ok/ { for (i = 0; i < n; i++) print $$2, f[i]; n = 0 }' \
	| while read -r pkg name; do \
	  echo "fuzz $$pkg $$name"; \
	  go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s "$$pkg"; \
	done

# Inputs of the data: kernel tables (a directory), config.json files (a directory), measured rows (CSV), a run of TensorCast (JSON).
KERNELS ?=
MODELS  ?=
SILICON ?=
MORE    ?=
VECTORS ?=
CALIBRATED := internal/cost/calibrated

.PHONY: data
data: ## rebuild the embedded data from KERNELS=dir MODELS=dir SILICON=file.csv ENERGY=file.csv MORE="file.csv …" VECTORS=file.json, each if given, and their hashes
	$(if $(VECTORS),go -C tools run ./vectors $(abspath $(VECTORS)))
	$(if $(MODELS),go -C tools run ./catalog -models $(abspath $(MODELS)))
	$(if $(KERNELS),go run ./cmd/fit kernels -perf-data $(KERNELS) -selection $(CALIBRATED)/selection.yaml -out $(CALIBRATED)/coefficients.yaml)
	$(if $(KERNELS),go run ./cmd/fit surfaces -perf-data $(KERNELS) -out internal/cost/table/surfaces.bin) # relative to the line above
	$(if $(SILICON),go run ./cmd/fit deployments -folds 5 -out internal/evidence/calibration/shipped.yaml $(SILICON) $(ENERGY) $(MORE) internal/evidence/measured/testdata/h200-fitted.csv)
	$(if $(ENERGY),go run ./cmd/fit power -out internal/cost/power/coefficients.yaml $(ENERGY))
	$(if $(SILICON),go -C tools run ./sample <$(SILICON) >internal/evidence/measured/testdata/silicon-sample.csv)
	go test ./internal/evidence/provenance -update

.PHONY: data-check
data-check: ## the embedded data matches internal/evidence/provenance/manifest.yaml, and every embedded file is in it
	go test -count 1 ./internal/evidence/provenance
	$(if $(MODELS),go -C tools run ./catalog -check -models $(abspath $(MODELS)))

.PHONY: web
web: ## the scripts and styles of the pages from internal/face/web/src, and what depends on their bytes
	go -C tools run ./bundle
	go test ./internal/face/web ./internal/evidence/provenance -update

.PHONY: site
site: build playground ## the documentation as a static site in site/, its links checked, with the playground; NAME=v1.2 makes another version beside it
	go -C tools run ./site -out ../site -name $(or $(NAME),dev)
	bin/plimsoll pages --playground site/$(or $(NAME),dev)/playground

.PHONY: accuracy-page
accuracy-page: ## the tables of docs/accuracy-tables.md: ROWS=train.csv BESIDE=AIConfigurator=aiconfigurator.csv
	go run ./cmd/fit page $(if $(BESIDE),-beside $(BESIDE)) $(ROWS)

# goreleaser has a module of its own: it needs four times the modules of all other tools. Its first build takes five minutes.
GORELEASER ?= go tool -modfile=tools/release/go.mod goreleaser
# Without a remote it takes the commit and its time for unknown.
REMOTE := GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=https://github.com/plimsoll-project/plimsoll.git

.PHONY: release
release: ## every artefact of a release into dist, as a snapshot: unsigned, published nowhere
	GOFLAGS=-trimpath CGO_ENABLED=0 $(REMOTE) $(GORELEASER) release --snapshot --clean --skip=sign,publish
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) .cache/release/pack finish dist
	.cache/release/pack table dist

.PHONY: release-check
release-check: ## builds a release twice from clones, compares the bytes, installs and runs what can be installed here
	bash packaging/check.sh

.PHONY: vuln
vuln: ## known vulnerabilities in what the program calls; needs vuln.go.dev
	go tool -modfile=tools/go.mod govulncheck ./...

.PHONY: playground
playground: ## the engine of the page without a server, bin/playground, for "plimsoll pages --playground DIR"
	@mkdir -p bin/playground
	CGO_ENABLED=0 GOOS=js GOARCH=wasm go build -trimpath -ldflags '-s -w' -o bin/playground/engine.wasm ./cmd/playground
	gzip -9 -n -c bin/playground/engine.wasm > bin/playground/engine.bin
	rm bin/playground/engine.wasm
	cp "$$(go env GOROOT)/lib/wasm/wasm_exec.js" bin/playground/wasm_exec.js

.PHONY: playground-check
playground-check: build playground ## the page without a server answers in Chromium with the digits of the program, and is small
	go -C tools test -count 1 -tags playground -run TestPlayground ./browser

# PLANS is a regular expression; CLUSTER has other flags, such as -source lws=FOLDER.
PLANS ?= .
.PHONY: cluster
cluster: build ## the files of a matrix of plans in a real control plane with real controllers: PLANS=vllm tries some; builds them once
	go -C tools run ./cluster -plimsoll ../bin/plimsoll -plans '$(PLANS)' $(CLUSTER)

# JOBS are folders of jobs, SLURM has other flags, such as -load 20m.
.PHONY: slurm
slurm: ## Slurm jobs of the golden files in a toy cluster with a real slurmctld and the real routers; needs root and Debian's slurmd
	go -C tools run ./slurm $(SLURM) $(JOBS)

.PHONY: clean
clean:
	rm -rf bin .cache dist site
