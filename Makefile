# Everything a person or a machine does here. Needs Node 20.19 or later, npm and make; nothing else, and no root.
SHELL := /bin/bash
.DEFAULT_GOAL := help
installed := node_modules/.package-lock.json
vendor_clients := test/vendors/node_modules/.package-lock.json
asyncapi_generator := codegen/asyncapi/node_modules/.package-lock.json
# All that main.ts and the processes of the speech engines import.
sources := $(wildcard *.ts) $(shell find app audio cli codegen conform domain generated handlers mock providers runtime simulator store -name '*.ts' 2>/dev/null)
# All that the pages of /docs are made from.
pages := deploy/docs-pages.mjs $(wildcard docs/*.md console/docs/* generated/snippets/*.json) $(shell find codegen/pages -name '*.ts' 2>/dev/null)
# All that the console's program is made from.
console := deploy/console-app.mjs console/tokens.css $(shell find console/app console/session generated/clients/typescript generated/console -type f 2>/dev/null)

.PHONY: help run demo demo-webhooks demo-call demo-messages drill test test-clients test-all board spans check generate generated-fresh asyncapi-generator vendor-clients lint lock catalog bench bench-long bench-memory isolation sbom clean

help:
	@echo 'make run        install, build, start: prints the address, a key and a curl'
	@echo 'make demo       the main job from end to end on real audio'
	@echo 'make demo-webhooks   the events of a call reach a receiver that is killed and comes back'
	@echo 'make demo-call       a simulated caller is understood, and is transferred to a person who accepts'
	@echo 'make demo-messages   a business registers for text messages, and an agent sends rich ones from its number'
	@echo 'make test       the tests of the product in their process, and those of the built program'
	@echo 'make test-all   every lane of tests; LANE=NAME runs one of those in CONTRIBUTING.md, such as LANE=voices'
	@echo 'make test-clients  the clients of vendors, and ours in each language, Java, Rust and C# included'
	@echo 'make check      generated code, types, mistakes, unused code, lock, catalog, tests'
	@echo 'make generate   specs/ to generated/, and the table of docs/providers.md'
	@echo 'make sbom       sbom.cdx.json: all packages of the product with versions and sums (CycloneDX)'
	@echo 'make bench      figures, each as a ratio beside a floor in the same run'
	@echo 'make isolation  one organization at its worst beside another, for each shared resource'
	@echo 'make bench-long memory of 100 voice sessions over ten minutes'
	@echo 'make bench-memory  memory after 100,000 requests of each surface'
	@echo 'make drill      the database is killed, frozen, cut off and filled under load; prints what was lost'
	@echo 'make spans      a local sink that prints the spans of calls and requests as trees'
	@echo 'make board      docs/board.png: the board for Grafana with data of a real load, drawn by a program of ours'

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
	@exec node test/run.mjs test

# CONTRIBUTING.md has the table of lanes.
test-clients: dist/main.js vendor-clients
	@exec node test/run.mjs clients java rust csharp

test-all: dist/main.js vendor-clients asyncapi-generator
	@exec node test/run.mjs $(or $(LANE),all)

# A load of three minutes; it needs Debian's prometheus and chromium, and is a skip without them.
board: dist/main.js
	@npx --no-install tsx test/deploy/board/main.ts

# About a minute. The case of a full disk needs root, for a small disk in memory. AWAY_S is the length of each outage.
drill: dist/main.js
	@exec npx --no-install tsx test/outages/drill.ts $(AWAY_S)

# Ctrl-C ends it. PORT is another port than 4318.
spans: $(installed)
	@exec npx --no-install tsx test/process/spans.ts

# The vendors' own clients prove that the stubs in test/vendors are fair. Without them (no network) those tests are skips that say so.
vendor-clients:
	@test -f $(vendor_clients) || { echo "installing the vendors' clients for the tests (about 20 s, 260 MB, the first time)"; \
	npm ci --prefix test/vendors --ignore-scripts --loglevel=error --no-progress || echo 'not installed: their tests are skipped'; }

check: generated-fresh lint lock catalog test

generate: $(installed) $(asyncapi_generator)
	@npx --no-install tsx codegen/main.ts
	@npx --no-install tsx test/rules/providers-table.ts

generated-fresh: $(installed) $(asyncapi_generator)
	@npx --no-install tsx codegen/main.ts --check
	@npx --no-install tsx test/rules/providers-table.ts --check

lint: $(installed)
	npx --no-install biome check .
	npx --no-install oxlint -c oxlint.config.js .
	npx --no-install knip

# A lock file that `npm install` wrote can be one that `npm ci` refuses (platform packages that the registry lacks).
lock:
	@npm ci --dry-run --loglevel=error >/dev/null && echo 'lock file installs'

# A model that its vendor takes away soon is told, and fails nothing.
catalog: $(installed)
	@npx --no-install tsx test/rules/deprecations.ts

bench: dist/main.js
	@exec npx --no-install tsx bench/main.ts

# 12 resources for 85 s each, on both engines. ISOLATION names some of them: ISOLATION="'voice sessions'". Further ones
# are measured only by their names: ISOLATION=half-open, and ISOLATION=SIP for the packets of trunks and strangers.
isolation: dist/main.js
	@exec npx --no-install tsx bench/isolation/main.ts $(ISOLATION)

# Memory of 100 conversations, over ten minutes.
bench-long: dist/main.js
	@exec npx --no-install tsx bench/main.ts long-sessions

# Memory before and after 100,000 requests of each surface, on both engines. REQUESTS is another number.
bench-memory: dist/main.js
	@exec npx --no-install tsx bench/main.ts memory $(REQUESTS)

# npm writes it from the lock file: no network is needed.
sbom: $(installed)
	@node deploy/bill-of-materials.mjs

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
dist/main.js: deploy/build.mjs tsconfig.json package-lock.json $(sources) $(pages) $(console) | $(installed)
	@node deploy/build.mjs

clean:
	rm -rf dist dist-* .tap
