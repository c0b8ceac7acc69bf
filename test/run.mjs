// Runs every test, and the tests of the engines a second time over the other engine. Closes with one line that a person
// or a machine can read: `N passed, N failed`. With files as arguments it runs those alone, over the engine that serves
// here or the one that PARLEY_TEST_ENGINE names.
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const files = process.argv.slice(2)
const counts = { pass: 0, fail: 0, skip: 0, todo: 0 }
/** Which tests did not run, and why. */
const skips = new Set()
await run(files, process.env)
if (files.length === 0) await runOverOtherEngine()
for (const skip of skips) console.log(`skipped: ${skip}`)
const failed = counts.fail
const skipped = counts.skip + counts.todo
console.log(`${counts.pass} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`)
process.exit(failed > 0 || counts.pass === 0 ? 1 : 0)

/** Whole features over real sockets, besides test/http and test/ws. */
function filesOfEngines() {
  const inFolder = (folder) => readdirSync(folder).map((file) => `${folder}/${file}`)
  const own = [...inFolder('test/http'), ...inFolder('test/ws')].filter((file) => file.endsWith('.test.ts'))
  return [
    // This one runs over every engine that loads by itself.
    ...own.filter((file) => file !== 'test/http/raw.test.ts'),
    ...['bad-input', 'stream', 'upload'].map((name) => `test/router/${name}.test.ts`),
    ...['admission', 'bad-frames'].map((name) => `test/realtime/${name}.test.ts`),
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
  await run(filesOfEngines(), { ...process.env, PARLEY_TEST_ENGINE: other })
}

function run(files, env) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-tap-'))
  const output = path.join(folder, 'output.tap')
  const options = ['--reporter=terse', '--no-color', `--output-file=${output}`]
  const tap = spawn('npx', ['--no-install', 'tap', ...options, ...files], {
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
      const totals = [...tail.matchAll(/^# \{([^}]*)\}/gm)].at(-1)?.[1] ?? ''
      for (const name of Object.keys(counts)) {
        counts[name] += Number(new RegExp(`\\b${name}: (\\d+)`).exec(totals)?.[1] ?? 0)
      }
      // A run that ended badly without a failed assertion (a crash, a time-out) is a failure all the same.
      if (code !== 0 && !/\bfail: /.test(totals)) counts.fail++
      readSkips(output)
      rmSync(folder, { recursive: true, force: true })
      resolve()
    })
  })
}

/** `# Subtest: test/a.test.ts` opens the lines of a file, `ok 1 - title # SKIP reason` is a test that did not run. */
function readSkips(output) {
  let file = ''
  for (const line of readFileSync(output, 'utf8').split('\n')) {
    file = /^# Subtest: (\S+)/.exec(line)?.[1] ?? file
    const [, title, kind, reason] = /^\s+(?:not )?ok \d+ - (.*?) # (SKIP|TODO)\b ?(.*)$/.exec(line) ?? []
    if (kind) skips.add(`${file}: ${title}: ${reason || 'no reason is given'}`)
  }
}
