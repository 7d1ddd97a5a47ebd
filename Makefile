# What people type. `make help` lists it.

CARGO ?= cargo

.PHONY: help run build dist setup test test-clients test-tool-servers test-skills test-browser test-all check fmt lint doc fuzz fuzz-seeds rules-page bench-check

help: ## list the targets
	@awk -F ':[^#]*## ' '/^[a-z-]+:.*## /{printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST) | sort

run: ## build and run the service on http://127.0.0.1:8080, with the embedded store and the shipped packages
	$(CARGO) run --release

build: ## build the release binary
	$(CARGO) build --release --bin ai-prompt-shell

dist: ## build the binary as it is shipped, target/dist/ai-prompt-shell (ten minutes)
	$(CARGO) build --profile dist --bin ai-prompt-shell

setup: ## install what the tests need (Debian's packages, when missing)
	@scripts/setup redis-server openssl curl git python3 tmux ssh:openssh-client sshd:openssh-server

test: setup ## all tests; those of the template engine also without Jinja
	$(CARGO) test
	$(CARGO) test --package ai-prompt-template --no-default-features

test-clients: ## OpenAI's own client libraries and the frameworks that people use, in Python and JavaScript, against the service
	@scripts/setup-libraries clients
	$(CARGO) test --test clients

test-tool-servers: ## MCP servers, a FastAPI service and a gRPC server of others, imported and called
	@scripts/setup-libraries tool_servers
	$(CARGO) test --test tool_servers

test-skills: ## the reference validator of agentskills.io, and its port for Node.js, beside `skill check`
	@scripts/setup-libraries skills
	$(CARGO) test --test skills

test-browser: ## web pages in headless Chromium, against the service
	@scripts/setup chromium
	$(CARGO) test --test browser

test-all: test test-clients test-tool-servers test-skills test-browser bench-check ## the tests, the client libraries, tool servers, validators of skills, a browser, the benches as tests, the long load tests, and some fuzzing
	$(MAKE) bench-live
	$(MAKE) bench-streams
	$(MAKE) fuzz FUZZ_SECONDS=120

check: ## check the shipped packages, and run their tests
	$(CARGO) run --quiet -- check extensions --test

fmt: ## format the code
	$(CARGO) fmt --all

lint: ## formatting and clippy, as strict as the CI
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	$(CARGO) clippy --test clients --test tool_servers --test skills --test browser -- -D warnings

doc: ## build the documentation of the code
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --lib --document-private-items

PAGE = docs/commands.md

FUZZ_SECONDS ?= 600
FUZZ_TARGETS ?= parse execute jinja_parse jinja_execute classify dialogue
FUZZ = target/fuzz
FUZZED = crates/corpus
SEEDS = $(CARGO) run --quiet --release --target-dir $(FUZZ) --package ai-prompt-corpus --example seeds --

fuzz: ## fuzz the parser and the executor of both dialects, the policy, and the dialogue, ten minutes each (FUZZ_SECONDS=600)
	@command -v cargo-fuzz > /dev/null || $(CARGO) install --locked cargo-fuzz
	@mkdir -p $(FUZZ)/artifacts
	for target in $(FUZZ_TARGETS); do \
		$(SEEDS) unpack $(FUZZED)/seeds/$$target.jsonl.gz $(FUZZ)/corpus/$$target && \
		$(CARGO) fuzz run --sanitizer none --fuzz-dir $(FUZZED) --features fuzz --target-dir $(FUZZ) $$target $(FUZZ)/corpus/$$target -- \
			-dict=$(FUZZED)/$$(case $$target in jinja_*) echo jinja.dict;; classify) echo commands.dict;; dialogue) echo dialogue.dict;; *) echo go.dict;; esac) -artifact_prefix=$(FUZZ)/artifacts/$$target- \
			-max_total_time=$(FUZZ_SECONDS) -max_len=8192 -timeout=10 || exit 1; \
	done

fuzz-seeds: ## keep what fuzzing has found: the fewest inputs that reach everything
	for target in $(FUZZ_TARGETS); do \
		rm -rf $(FUZZ)/least && mkdir -p $(FUZZ)/least && \
		$(CARGO) fuzz run --sanitizer none --fuzz-dir $(FUZZED) --features fuzz --target-dir $(FUZZ) $$target $(FUZZ)/least $(FUZZ)/corpus/$$target -- \
			-merge=1 && \
		$(SEEDS) pack $(FUZZ)/least $(FUZZED)/seeds/$$target.jsonl.gz || exit 1; \
	done

rules-page: ## write docs/commands.md anew, from the rules of the policy
	$(CARGO) run --quiet --package ai-prompt-policy --example page > $(PAGE).new && mv $(PAGE).new $(PAGE)

bench-check: ## that the benches work, without measuring
	$(CARGO) test --package ai-prompt-benches --bench render
	$(CARGO) run --quiet --package ai-prompt-benches --bin engines -- --rounds 1 > /dev/null
	$(CARGO) run --quiet --package ai-prompt-benches --bin allocations > /dev/null
	$(CARGO) run --quiet --package ai-prompt-benches --bin policy -- --rounds 1 > /dev/null
	$(CARGO) run --quiet --package ai-prompt-benches --bin masking -- --rounds 1 > /dev/null
	$(CARGO) build --quiet --bin ai-prompt-shell
	$(CARGO) run --quiet --package ai-prompt-benches --bin driver -- sessions --rounds 1 --seconds 1 > /dev/null
	$(CARGO) run --quiet --package ai-prompt-benches --bin dialogue -- --rounds 1 > /dev/null

-include benches/bench.mk
