# What one types while working. `make help` lists the targets; pull requests run .ci/run, which is also `make ci`.
GO ?= go

.PHONY: help build install test race lint bench cover fuzz ci clients clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build the programs into bin/
	$(GO) build -trimpath -o bin/ ./cmd/...

install: ## install small-hook where `go install` puts programs
	$(GO) install ./cmd/small-hook

test: ## run the tests
	$(GO) test ./...

race: ## run the tests with the race detector, in random order
	$(GO) test -race -shuffle=on -count=1 ./...

lint: ## run the linter that CI runs
	$$(.ci/tool golangci-lint) run ./...

bench: ## run the benchmarks
	$(GO) test -run='^$$' -bench=. -benchmem ./...

cover: ## measure the coverage of internal/ and print it
	@mkdir -p bin
	$(GO) test -coverpkg=./internal/... -coverprofile=bin/cover.out ./...
	$(GO) tool cover -func=bin/cover.out

fuzz: ## run every fuzz target for twenty seconds
	bash .ci/long fuzz

ci: ## run what a change must pass to land
	bash .ci/run

clients: ## run what CI has no time for: images, containers, the release (root on Debian)
	bash scripts/clients

clean: ## remove what was built here
	rm -rf bin dist
