// Runs every test, in one process a folder (runner/suites.mjs). Behind them come the tests of killed and drained
// processes, which mostly wait, and then those that measure real time or real audio, one at a time. A few files that fail
// are run once more, each alone: a busy machine puts processes aside, and a defect fails twice. Closes with one line that
// a person or a machine can read: `N passed, N failed`. With files as arguments it runs those alone.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { noCounts } from './runner/file-record.mjs'
import { runSuites } from './runner/run-suites.mjs'
import { suitesOf } from './runner/suites.mjs'

const files = process.argv.slice(2).filter((argument) => !argument.startsWith('--jobs='))
const [, jobs = os.availableParallelism()] = /--jobs=(\d+)/.exec(process.argv.join(' ')) ?? []
const counts = noCounts()
/** Which tests did not run, and why. */
const skips = new Set()
/** More files than this fail because of a defect. */
const repeatsMax = 8
const ofVoices = [
  ...['agent-page-in-browser', 'barge-in', 'conversation-in-browser', 'truth'].map(
    (name) => `test/session/${name}.test.ts`,
  ),
  'test/process/spoken-calls.test.ts',
]
const ofSip = ['server', 'sipp'].map((name) => `test/sip/${name}.test.ts`)
const filesOfProcesses = [
  ...[
    ...['left-trunk-legs', 'lost-sessions', 'lost-transfers', 'relayed-sessions', 'sessions-drain'],
    ...['sessions-outage', 'web-join'],
  ].map((name) => `test/process/${name}.test.ts`),
  ...['kills', 'postgres-killed'].map((name) => `test/webhooks/${name}.test.ts`),
]
if (files.length > 0) count(await run(files, process.env))
else {
  const inRealTime = filesInRealTime()
  const later = [...filesOfProcesses, ...inRealTime, ...ofSip]
  const cluster = prepareCluster()
  const env = { ...process.env, ...cluster.env }
  await runTwice(
    allFiles().filter((file) => !later.includes(file)),
    env,
  )
  await runTwice(filesOfProcesses, env)
  for (const file of inRealTime) {
    if (!ofVoices.includes(file) || process.env.PARLEY_TEST_SLOW) await runTwice([file], env, 1)
    else {
      counts.skip++
      skips.add(
        `${file}: it holds spoken conversations in real time, for which a machine must be calm: make test-voices`,
      )
    }
  }
  await runSipLane(env)
  cluster.remove()
}
for (const skip of skips) console.log(`skipped: ${skip}`)
const failed = counts.fail
const skipped = counts.skip + counts.todo
console.log(`${counts.pass} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`)
process.exit(failed > 0 || counts.pass === 0 ? 1 : 0)

function count(results) {
  for (const { file, counts: ofFile, skips: ofSkips } of results) {
    for (const name of Object.keys(counts)) counts[name] += ofFile[name]
    for (const { name, reason } of ofSkips)
      skips.add(`${file}: ${name}: ${typeof reason === 'string' ? reason : 'no reason is given'}`)
  }
}

function run(files, env, sideBySide = Number(jobs)) {
  return runSuites(suitesOf(files), { env, sideBySide })
}

function runAlone(files, env) {
  return runSuites(
    files.map((file) => ({ name: file, files: [file] })),
    { env, sideBySide: 1 },
  )
}

/** See test/store/prepared-cluster.ts. */
function prepareCluster() {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-test-cluster-'))
  const env = { ...process.env, PARLEY_DATA_DIR: folder }
  const made = spawnSync(process.execPath, ['dist/main.js', 'migrate'], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const remove = () => rmSync(folder, { recursive: true, force: true })
  if (made.status === 0) return { env: { PARLEY_TEST_CLUSTER: path.join(folder, 'postgres') }, remove }
  console.log(`each test makes its own cluster of Postgres: ${made.stderr.toString().trim()}`)
  return { env: {}, remove }
}

function allFiles() {
  return readdirSync('test', { recursive: true })
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
    .map((file) => `test/${file}`)
    .sort()
}

/** Real browsers, real voices, and gaps of the event loop. */
function filesInRealTime() {
  const named = [
    'test/cli/calls.test.ts',
    'test/cli/dial.test.ts',
    'test/cli/phone-calls-page.test.ts',
    'test/phone/demo.test.ts',
    'test/process/backup-load.test.ts',
    'test/process/hostile.test.ts',
    'test/process/hostile-carrier.test.ts',
    'test/process/hostile-carrier-events.test.ts',
    'test/process/loop-gap.test.ts',
    'test/realtime/captions.test.ts',
    'test/webhooks/fairness.test.ts',
    ...ofVoices,
  ]
  return allFiles().filter((file) => file.endsWith('-in-browser.test.ts') || named.includes(file))
}

/** Counts the second run of a file in place of the first one. */
async function runTwice(files, env, sideBySide) {
  const results = await run(files, env, sideBySide)
  const failed = results.filter((result) => result.counts.fail > 0).map(({ file }) => file)
  if (failed.length === 0 || failed.length > repeatsMax) return count(results)
  count(results.filter(({ file }) => !failed.includes(file)))
  console.log(`run once more: ${failed.join(', ')}`)
  count(await runAlone(failed, env))
}

/** Against SIP programs of others. Where they cannot be had, the lane prints the reason. */
async function runSipLane(env) {
  const { stdout, stderr, error } = spawnSync('bash', ['test/sip/lane.sh', '--programs'], {
    encoding: 'utf8',
    timeout: 300_000,
  })
  const programs = [...(stdout ?? '').matchAll(/^(PARLEY_\w+)=(.*)$/gm)].map(([, name, value]) => [name, value])
  if (programs.length > 0) return runTwice(ofSip, { ...env, ...Object.fromEntries(programs) }, 1)
  const [, reason] = /skipped, because (.*)/.exec(stdout ?? '') ?? []
  counts.skip++
  skips.add(`test/sip: ${reason ?? `the programs were not found: ${error?.message ?? stderr.trim()}`}`)
}
