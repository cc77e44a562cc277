# The contract of this repository: what a person or a machine does with it is a target here. `make help` lists them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
export NO_COLOR := 1

# Programs under testdata are no part of ./..., so they are named.
PROGRAMS := ./testdata/demoserver ./testdata/realservers ./testdata/oauth \
	./testdata/bench/benchserver ./testdata/bench/stdioserver ./testdata/bench/sdkclient \
	./testdata/bench/emptycobra ./testdata/bench/peer ./testdata/bench/run \
	./testdata/conformance/driver ./testdata/conformance/browser ./testdata/conformance/run
PACKAGES := ./... $(PROGRAMS)
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
TOOLS := bin/tools

# G304 is left out, and nothing else: it flags every file whose name is no constant, and reading the files that an
# operator names is what this program does. Where it matters who owns a file, internal/store checks that itself.
# Other findings are fixed, or answered where they are with #nosec, the rule and the reason.
GOSEC := -quiet -fmt golint -exclude=G304 -exclude-dir=testdata

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS=$$'\t' read -r name does; do printf '%-14s %s\n' "$$name" "$$does"; done

.PHONY: build
build: ## bin/mcpc, one static file: loading a C library would be a third of the time of a short command
	@CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/mcpc ./cmd/mcpc

.PHONY: test
test: ## every test; offline, loopback only
	@go test ./...

.PHONY: race
race: ## every test but the transcripts, which run the program and not its parts, under the race detector
	@GORACE=atexit_sleep_ms=10 go test -race -skip '^TestScript$$' ./...

.PHONY: lint
lint: $(TOOLS)/.made ## formatting, vet, staticcheck, errorlint, bodyclose, gosec
	@unformatted=$$(git ls-files -co --exclude-standard '*.go' | xargs $(TOOLS)/gofumpt -l); \
		[ -z "$$unformatted" ] || { printf 'not gofumpt clean:\n%s\n' "$$unformatted"; exit 1; }
	@go vet $(PACKAGES)
	@$(TOOLS)/staticcheck $(PACKAGES)
	@$(TOOLS)/go-errorlint $(PACKAGES)
	@go vet -vettool=$(CURDIR)/$(TOOLS)/bodyclose $(PACKAGES)
	@$(TOOLS)/gosec $(GOSEC) ./...

.PHONY: vuln
vuln: $(TOOLS)/.made ## known vulnerabilities in what the binary reaches; needs the network
	@$(TOOLS)/govulncheck ./cmd/mcpc

.PHONY: cross
cross: ## build and vet for linux, darwin and windows, each on amd64 and arm64
	@for platform in $(PLATFORMS); do \
		export GOOS=$${platform%/*} GOARCH=$${platform#*/} CGO_ENABLED=0; \
		go build -o /dev/null ./cmd/mcpc; \
		go vet ./...; \
		echo "$$platform builds and vets"; \
	done

.PHONY: fuzz-smoke
fuzz-smoke: ## every fuzz target for 3 s
	@tools/fuzz.sh 3s

.PHONY: fuzz
fuzz: ## every fuzz target for 60 s; the smallest inputs that reach something new are kept beside the tests
	@tools/fuzz.sh 60s keep

.PHONY: demo
demo: ## discover, review, grant, call, refuse: the product in one transcript
	@testdata/demo/demo.sh

.PHONY: real-servers
real-servers: testdata/node/node_modules/.made ## mcpc against servers that others wrote; needs Node 20, npm
	@cd testdata/realservers && go test -count=1

.PHONY: peers
peers: testdata/peers/node_modules/.made ## servers on the Go and both TypeScript SDKs, eras and carriers, byte for byte; needs Node 20, npm
	@go test -count=1 -run '^TestSDKPeers$$' -v ./cmd/mcpc -typescript $(CURDIR)/testdata/peers | grep -v '^ *=== '

.PHONY: conformance
conformance: testdata/conformance/node_modules/.made ## the official suite, at both revisions; needs npm, Linux on x64
	@go run ./testdata/conformance/run $(UPDATE)

.PHONY: oauth-e2e
oauth-e2e: testdata/oauth/node_modules/.made ## sign in with a certified provider at Chromium; pictures go to bin/pages; needs npm
	@[ -n "$${CHROMIUM:-}" ] || command -v chromium > /dev/null || \
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium > /dev/null; }
	@mkdir -p bin/pages
	@cd testdata/oauth && PICTURES=$(CURDIR)/bin/pages go test -count=1 -v -timeout 8m | grep -v '^=== '

.PHONY: live-keyring
live-keyring: ## every state of a real keyring, at sign-in, refresh and sign-out; needs gnome-keyring, dbus, libsecret-tools
	@testdata/keyring/live.sh

# The figures are for minutes of a quiet machine; .ci/run sets smaller ones.
PROCESSES := 50
EXPIRIES := 20
KILLS := 10000

.PHONY: stress
stress: ## many processes and one refresh token; kill -9 in processes and in writes (PROCESSES, EXPIRIES, KILLS)
	@go test -count=1 -timeout 30m -v -parallel 1 -run 'Process|Kill' ./internal/custody \
		-processes $(PROCESSES) -expiries $(EXPIRIES) | grep -v '^=== '
	@go test -count=1 -timeout 30m -v -run 'Killed' ./internal/store -kill-points $(KILLS) | grep -v '^=== '

.PHONY: canary
canary: ## every secret, in five encodings, looked for on every surface at every injected fault
	@go test -count=1 -timeout 30m -v -run 'TestNoSecretAnywhere' ./internal/custody -every-fault 1 | grep -v '^=== '

.PHONY: bench
bench: ## mcpc beside the official SDK's client, as ratios from one run
	@go run ./testdata/bench/run

.PHONY: docs
docs: ## write the documents that are made from the program and its tests
	@go test -count=1 -run 'Document$$' ./internal/refusal ./internal/config ./cmd/mcpc -update > /dev/null

.PHONY: clean
clean: ## remove what the other targets made
	@rm -rf bin dist testdata/node/node_modules testdata/conformance/node_modules testdata/oauth/node_modules testdata/peers/node_modules

# One build of all the tools, in their own module, so that they stay out of the module graph of whoever uses mcpc.
$(TOOLS)/.made: tools/go.mod tools/go.sum
	@mkdir -p $(TOOLS)
	@GOBIN=$(CURDIR)/$(TOOLS) go install -C tools tool
	@touch $@

# npm ci installs what the lock says and nothing else; no package's install script runs.
testdata/node/node_modules/.made: testdata/node/package-lock.json
	@cd testdata/node && npm ci --ignore-scripts --silent
	@touch $@

testdata/peers/node_modules/.made: testdata/peers/package-lock.json
	@cd testdata/peers && npm ci --ignore-scripts --silent
	@touch $@

testdata/oauth/node_modules/.made: testdata/oauth/package-lock.json
	@cd testdata/oauth && npm ci --ignore-scripts --silent
	@touch $@

# The Node that the suite needs is itself one of the packages; npm warns of the older one that runs npm.
testdata/conformance/node_modules/.made: testdata/conformance/package-lock.json
	@cd testdata/conformance && npm ci --ignore-scripts --silent
	@touch $@
