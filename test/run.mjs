// Runs every test, and the tests of the engines a second time over the other engine. Tests that measure real time or real
// audio run one at a time behind the others, and a file that fails is run once more: a busy machine puts processes aside,
// and a defect fails twice. Closes with one line that a person or a machine can read: `N passed, N failed`. With files as
// arguments it runs those alone, over the engine that serves here or the one that PARLEY_TEST_ENGINE names.
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'

const files = process.argv.slice(2)
const counts = { pass: 0, fail: 0, skip: 0, todo: 0 }
/** Which tests did not run, and why. */
const skips = new Set()
const ofVoices = ['agent-page-in-browser', 'barge-in', 'conversation-in-browser', 'truth'].map(
  (name) => `test/session/${name}.test.ts`,
)
if (files.length > 0) add(await run(files, process.env))
else {
  const inRealTime = filesInRealTime()
  add(
    await run(
      allFiles().filter((file) => !inRealTime.includes(file)),
      process.env,
    ),
  )
  await runOverOtherEngine()
  for (const file of inRealTime) {
    if (!ofVoices.includes(file) || process.env.PARLEY_TEST_SLOW) await runInRealTime(file)
    else {
      counts.skip++
      skips.add(
        `${file}: it holds spoken conversations in real time, for which a machine must be calm: make test-voices`,
      )
    }
  }
}
for (const skip of skips) console.log(`skipped: ${skip}`)
const failed = counts.fail
const skipped = counts.skip + counts.todo
console.log(`${counts.pass} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`)
process.exit(failed > 0 || counts.pass === 0 ? 1 : 0)

function add(totals) {
  for (const name of Object.keys(counts)) counts[name] += totals[name]
}

function allFiles() {
  return readdirSync('test', { recursive: true })
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
    .map((file) => `test/${file}`)
}

/** Real browsers, real voices, and gaps of the event loop. */
function filesInRealTime() {
  const named = [
    'test/cli/calls.test.ts',
    'test/process/hostile.test.ts',
    'test/process/loop-gap.test.ts',
    'test/process/lost-sessions.test.ts',
    'test/process/relayed-sessions.test.ts',
    'test/process/sessions-drain.test.ts',
    'test/process/sessions-outage.test.ts',
    'test/process/web-join.test.ts',
    'test/webhooks/fairness.test.ts',
    'test/webhooks/kills.test.ts',
    'test/webhooks/postgres-killed.test.ts',
    ...ofVoices,
  ]
  return allFiles().filter((file) => file.endsWith('-in-browser.test.ts') || named.includes(file))
}

async function runInRealTime(file) {
  const first = await run([file, '--jobs=1'], process.env)
  if (first.fail === 0) return add(first)
  console.log(`${file} failed, and is run once more`)
  add(await run([file, '--jobs=1'], process.env))
}

/** Whole features over real sockets, besides test/http and test/ws. */
function filesOfEngines() {
  const inFolder = (folder) => readdirSync(folder).map((file) => `${folder}/${file}`)
  const own = [...inFolder('test/http'), ...inFolder('test/ws')].filter((file) => file.endsWith('.test.ts'))
  return [
    // This one runs over every engine that loads by itself.
    ...own.filter((file) => file !== 'test/http/raw.test.ts'),
    ...['bad-input', 'stream', 'upload'].map((name) => `test/router/${name}.test.ts`),
    ...['admission', 'bad-frames'].map((name) => `test/realtime/${name}.test.ts`),
    ...['admission', 'frames', 'limits'].map((name) => `test/session/media-${name}.test.ts`),
  ]
}

async function runOverOtherEngine() {
  const { chooseEngine } = await import('../dist/runtime/engine/choose.js')
  const other = chooseEngine('auto').engine === 'uws' ? 'node' : 'uws'
  try {
    chooseEngine(other)
  } catch (error) {
    counts.skip++
    return console.log(`skipped: the tests of the engines over ${other}: ${error.message}`)
  }
  console.log(`the tests of the engines, over ${other}`)
  add(await run(filesOfEngines(), { ...process.env, PARLEY_TEST_ENGINE: other }))
}

function run(files, env) {
  const startedMs = Date.now()
  const tap = spawn('npx', ['--no-install', 'tap', '--reporter=terse', '--no-color', ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
  })
  let tail = ''
  tap.stdout.on('data', (chunk) => {
    process.stdout.write(chunk)
    tail = (tail + chunk).slice(-65536)
  })
  return new Promise((resolve) => {
    tap.on('close', (code) => {
      const printed = [...tail.matchAll(/^# \{([^}]*)\}/gm)].at(-1)?.[1] ?? ''
      const count = (name) => Number(new RegExp(`\\b${name}: (\\d+)`).exec(printed)?.[1] ?? 0)
      const totals = Object.fromEntries(Object.keys(counts).map((name) => [name, count(name)]))
      // A run that ended badly without a failed assertion (a crash, a time-out) is a failure all the same, and so is one
      // that counted nothing.
      if ((code !== 0 && totals.fail === 0) || printed === '') totals.fail++
      readSkips(startedMs)
      resolve(totals)
    })
  })
}

/** tap keeps the output of each file. `ok 1 - title # SKIP reason` is a test that did not run. */
function readSkips(sinceMs) {
  const folder = '.tap/test-results'
  for (const name of readdirSync(folder, { recursive: true })) {
    const results = path.join(folder, name)
    if (!name.endsWith('.tap') || statSync(results).mtimeMs < sinceMs) continue
    for (const line of readFileSync(results, 'utf8').split('\n')) {
      const [, title, kind, reason] = /^\s*(?:not )?ok \d+ - (.*?) # (SKIP|TODO)\b ?(.*)$/.exec(line) ?? []
      if (kind) skips.add(`${name.slice(0, -'.tap'.length)}: ${title}: ${reason || 'no reason is given'}`)
    }
  }
}
