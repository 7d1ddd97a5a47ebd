# What people type. `make help` lists it.

CARGO ?= cargo

.PHONY: help run build setup test test-all check fmt lint doc bench-check

help: ## list the targets
	@awk -F ':[^#]*## ' '/^[a-z-]+:.*## /{printf "  %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST) | sort

run: ## build and run the service on http://127.0.0.1:8080, with the embedded store and the shipped packages
	$(CARGO) run --release

build: ## build the release binary
	$(CARGO) build --release

setup: ## install what the tests need (Debian's packages, when missing)
	@scripts/setup redis-server openssl curl

test: setup ## all tests
	$(CARGO) test

test-all: test bench-check ## the tests, the benches as tests, and the long load test
	$(MAKE) bench-live

check: ## check the shipped packages, and run their tests
	$(CARGO) run --quiet -- check extensions --test

fmt: ## format the code
	$(CARGO) fmt

lint: ## formatting and clippy, as strict as the CI
	$(CARGO) fmt --check
	$(CARGO) clippy --all-targets -- -D warnings

doc: ## build the documentation of the code
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps --lib --document-private-items

bench-check: ## that the benches work, without measuring
	$(CARGO) bench --bench render -- --test

-include benches/bench.mk
