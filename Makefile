# Everything a person or a machine does here. Needs Node 20.19 or later, npm and make; nothing else, and no root.
SHELL := /bin/bash
.DEFAULT_GOAL := help
installed := node_modules/.package-lock.json
vendor_clients := test/vendors/node_modules/.package-lock.json
asyncapi_generator := codegen/asyncapi/node_modules/.package-lock.json
# All that main.ts and the processes of the speech engines import.
sources := $(wildcard *.ts) $(shell find app audio cli domain generated handlers providers runtime simulator store -name '*.ts' 2>/dev/null)

.PHONY: help run demo demo-webhooks demo-call demo-messages test test-voices test-webhooks test-transfers test-usage carrier-openapi livekit test-debian13 test-deploy test-production test-metrics board spans helm s3 sip check generate generated-fresh asyncapi-generator vendor-clients types lint lock catalog bench bench-long clean

help:
	@echo 'make run       install, build, start: prints the address, a key and a curl'
	@echo 'make demo      the main job from end to end on real audio'
	@echo 'make demo-webhooks  the events of a call reach a receiver that is killed and comes back'
	@echo 'make demo-call  a simulated caller is understood, and is transferred to a person who accepts'
	@echo 'make demo-messages  a business registers for text messages, and an agent sends rich ones from its number'
	@echo 'make test      every test'
	@echo 'make test-voices    spoken conversations in real time, on a calm machine'
	@echo 'make test-webhooks  10,000 deliveries of webhooks with ten kills of the process, and five of Postgres'
	@echo 'make test-usage  10,000 random requests, whose usage must be the sum of what the answers said'
	@echo 'make test-transfers  100,000 random sequences of events drive transfers, with deaths of processes'
	@echo 'make carrier-openapi  the adapter of the carrier against a mock of its OpenAPI document (PARLEY_CARRIER_OPENAPI=FILE)'
	@echo 'make livekit        conversations in rooms of a real LiveKit server (needs Go the first time)'
	@echo 'make test-debian13  tests on Debian 13 with Node 24 (as root; otherwise a skip that says why)'
	@echo 'make test-deploy  the steps of the image on its own system, Debian 13 with Node 24 (as root; otherwise a skip)'
	@echo 'make test-production  the commands of docs/run-it.md in an empty Debian 13, with an upgrade under load (as root; otherwise a skip)'
	@echo 'make spans     a local sink that prints the spans of calls and requests as trees'
	@echo 'make board     docs/board.png: the board for Grafana with data of a real load, drawn by a program of ours'
	@echo 'make test-metrics  100,000 requests of 1,000 organizations leave the number of time series as it was'
	@echo 'make helm      the Helm chart as helm renders it, which it builds with Go (otherwise a skip that says why)'
	@echo 'make s3        recordings against a real server of S3, which it builds with Go (otherwise a skip that says why)'
	@echo 'make sip       calls over SIP trunks with SIPp and baresip, programs of Debian (otherwise a skip that says why)'
	@echo 'make check     generated code, types, lint, unused code, lock, catalog, tests'
	@echo 'make generate  specs/ to generated/, and the table of providers in README'
	@echo 'make bench     figures, each as a ratio beside a floor in the same run'
	@echo 'make bench-long  memory of 100 voice sessions over ten minutes'

run: dist/main.js
	@exec ./dist/main.js up

demo: dist/main.js
	@exec ./dist/main.js demo

# Without the clients of the vendors or without Python, the check of signatures by that library is a skip that says so.
demo-webhooks: dist/main.js vendor-clients
	@exec npx --no-install tsx test/webhooks/demo.ts

# Writes demo-call.wav here.
demo-call: dist/main.js
	@exec npx --no-install tsx test/phone/demo.ts

# The reviews are on the clock of the simulated carrier, which it moves forward.
demo-messages: dist/main.js
	@exec npx --no-install tsx test/sms/demo.ts

test: dist/main.js vendor-clients
	@exec node test/run.mjs

# Spoken conversations in real time. They need a calm machine, so `make test` leaves them out and says so.
test-voices: dist/main.js
	@PARLEY_TEST_SLOW=1 node test/run.mjs test/session/truth.test.ts test/session/barge-in.test.ts \
	test/session/agent-page-in-browser.test.ts test/session/conversation-in-browser.test.ts \
	test/process/spoken-calls.test.ts --jobs=1

# What `make test` runs in a smaller size.
test-webhooks: dist/main.js
	@PARLEY_TEST_SLOW=1 node test/run.mjs test/webhooks/kills.test.ts test/webhooks/postgres-killed.test.ts test/rmsg/kills.test.ts \
	test/webhooks/fairness.test.ts --jobs=1

# Five minutes on a calm machine. A sequence that fails is shortened, and its seed is printed: PARLEY_TEST_SEED=… PARLEY_TEST_SEQUENCES=1 runs it alone.
test-transfers: $(installed)
	@PARLEY_TEST_SEED=$${PARLEY_TEST_SEED:-$$RANDOM$$RANDOM} PARLEY_TEST_SEQUENCES=$${PARLEY_TEST_SEQUENCES:-100000} \
	TAP_TIMEOUT=3600 npx --no-install tsx test/transfers/sequences.test.ts

# What `make test` runs with 1,000 requests.
test-usage: dist/main.js
	@PARLEY_TEST_SEED=$${PARLEY_TEST_SEED:-$$RANDOM$$RANDOM} PARLEY_TEST_REQUESTS=$${PARLEY_TEST_REQUESTS:-10000} \
	TAP_TIMEOUT=3600 npx --no-install tsx test/platform/usage.test.ts

# The document is the carrier's, and no part of this project: openapi/spec3.json of github.com/team-telnyx/openapi, or a part of it.
# PARLEY_CARRIER_OPENAPI names the file; without it, telnyx/spec3.json or telnyx/spec-pruned.json of a folder beside the checkout is taken. `make test` does the same; without
# the document both say so and skip these tests.
carrier-openapi: $(installed) vendor-clients
	@exec node test/run.mjs test/carrier/carrier-openapi.test.ts test/simulator/conformance.test.ts test/vendors/telnyx/sdk.test.ts

# A real LiveKit server, which is built the first time (five minutes); where it cannot be, a skip says why.
livekit: dist/main.js
	@exec test/livekit/lane.sh

# For the newer build of uWebSockets.js, which needs a newer system than most have.
test-debian13:
	@exec test/debian13.sh

# What `make test` runs on this system.
test-deploy:
	@exec test/debian13.sh test/deploy/*.test.ts

# A start in production by the document alone, two nodes behind TLS, and an upgrade while 200 streams and 100 sockets are open.
# Five minutes on a calm machine. PARLEY_TEST_TIMEOUT_S is the limit, 600.
test-production: $(installed)
	@exec test/deploy/production.sh

# A load of three minutes; it needs Debian's prometheus and chromium, and is a skip without them.
board: dist/main.js
	@TAP_TIMEOUT=3600 npx --no-install tsx test/deploy/board/main.ts

# Ctrl-C ends it. PORT is another port than 4318.
spans: $(installed)
	@exec npx --no-install tsx test/process/spans.ts

# What `make test` runs with 400 requests.
test-metrics: dist/main.js
	@PARLEY_TEST_REQUESTS=$${PARLEY_TEST_REQUESTS:-100000} TAP_TIMEOUT=3600 npx --no-install tsx test/deploy/board.test.ts

# Without it the tests of the chart are skips in `make test`.
helm: $(installed)
	@exec test/deploy/chart-lane.sh

# Recordings in a bucket. The server is built in a cache folder, the first time in about three minutes.
s3: dist/main.js
	@exec test/s3/lane.sh

# Calls over SIP trunks with a program that others have written. It is downloaded where it is not installed.
sip:
	@exec test/sip/lane.sh

# The vendors' own clients prove that the stubs in test/vendors are fair. Without them (no network) those tests are skips that say so.
vendor-clients:
	@test -f $(vendor_clients) || { echo "installing the vendors' clients for the tests (about 20 s, 260 MB, the first time)"; \
	npm ci --prefix test/vendors --ignore-scripts --loglevel=error --no-progress || echo 'not installed: their tests are skipped'; }

check: generated-fresh types lint lock catalog test

generate: $(installed) $(asyncapi_generator)
	@npx --no-install tsx codegen/main.ts
	@npx --no-install tsx test/rules/providers-table.ts

generated-fresh: $(installed) $(asyncapi_generator)
	@npx --no-install tsx codegen/main.ts --check
	@npx --no-install tsx test/rules/providers-table.ts --check

types: $(installed)
	npx --no-install tsc --noEmit

lint: $(installed)
	npx --no-install biome check .
	npx --no-install eslint .
	npx --no-install knip

# A lock file that `npm install` wrote can be one that `npm ci` refuses (platform packages that the registry lacks).
lock:
	@npm ci --dry-run --loglevel=error >/dev/null && echo 'lock file installs'

# A model that its vendor takes away soon is told, and fails nothing.
catalog: $(installed)
	@npx --no-install tsx test/rules/deprecations.ts

bench: dist/main.js
	@exec npx --no-install tsx bench/main.ts

# Memory of 100 conversations, over ten minutes.
bench-long: dist/main.js
	@exec npx --no-install tsx bench/main.ts long-sessions

# --loglevel=error: a development dependency names a newer Node in its engines and works on this one.
$(installed): package.json package-lock.json .npmrc
	@node -e 'const [a, b] = process.versions.node.split(".").map(Number); if (a < 20 || (a === 20 && b < 19)) { console.error("Parley needs Node 20.19 or later; this is " + process.version); process.exit(1) }'
	@echo 'installing packages (about 30 s the first time)'
	@npm ci --loglevel=error --no-progress
	@touch $@

# A few hundred packages that only generating needs; nothing of the product depends on them.
asyncapi-generator: $(asyncapi_generator)

$(asyncapi_generator): codegen/asyncapi/package-lock.json codegen/asyncapi/.npmrc
	@echo 'installing the AsyncAPI generator (about 30 s, 280 MB, the first time)'
	@npm ci --prefix codegen/asyncapi --ignore-scripts --loglevel=error --no-progress
	@touch $@

# The packages are no part of the build, and installing one more must not start it.
dist/main.js: deploy/build.mjs tsconfig.json package-lock.json $(sources) | $(installed)
	@node deploy/build.mjs

clean:
	rm -rf dist dist-* .tap
