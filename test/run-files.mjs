// Runs files of tests, each in a separate process, and counts the points of their TAP. The runner of tap loads its records
// for coverage into every process that a test starts: half a second of a core each time, and a second for the test itself.
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Parser } from 'tap-parser'

/** For those who look for the reason of a failure. */
const outputs = '.cache/test-outputs'
/**
 * A file may take as long, unless it asks tap for another time. The longest takes 60 s on a calm machine of two cores; a
 * busy one needs four times as long.
 */
const fileS = 300
/** tap ends a file that takes too long, and says what it waits for. One that is stuck is killed this much later. */
const graceMs = 15_000
/** A failure is shown with as many lines. */
const shownMax = 60

/**
 * `run` is what node is given for a file. Resolves with the counts of each file, and the reasons why tests were skipped.
 */
export async function runFiles(files, { env, sideBySide, run }) {
  const waiting = [...files]
  const results = []
  const worker = async () => {
    for (let file = waiting.shift(); file; file = waiting.shift()) {
      const result = await runFile(file, run(file), env)
      results.push(result)
      print(result, `${results.length} of ${files.length}`)
    }
  }
  await Promise.all(Array.from({ length: sideBySide }, worker))
  return results
}

function runFile(file, args, env) {
  const startedMs = Date.now()
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...env, TAP: '1', TAP_TIMEOUT: String(fileS), TAP_CHILD_ID: '0', TAP_CHILD_KEY: file },
  })
  const points = countPoints(child.stdout)
  const output = collect([child.stdout, child.stderr])
  const kill = () => child.kill('SIGKILL')
  let timer = setTimeout(kill, fileS * 1000 + graceMs)
  // t.setTimeout() of the file.
  child.on('message', ({ setTimeout: asked, key }) => {
    if (asked === undefined || key !== file) return
    clearTimeout(timer)
    timer = setTimeout(kill, asked + graceMs)
  })
  // A process that the test left behind keeps the pipes open.
  const closePipes = () => {
    for (const pipe of [child.stdout, child.stderr]) pipe.destroy()
  }
  child.on('exit', () => setTimeout(closePipes, graceMs).unref())
  return new Promise((resolve) => {
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      const seconds = (Date.now() - startedMs) / 1000
      resolve({ file, ...points(code === 0), seconds, end: signal ?? code, output: output() })
    })
  })
}

/** A file that ended badly without a failed point (a crash, a time-out) has failed all the same, and so has one without a point. */
function countPoints(stdout) {
  const counts = { pass: 0, fail: 0, skip: 0, todo: 0 }
  const skips = []
  const parser = new Parser()
  for (const name of Object.keys(counts)) parser.on(name, () => counts[name]++)
  parser.on('skip', ({ name, skip }) => skips.push({ name, reason: skip }))
  parser.on('todo', ({ name, todo }) => skips.push({ name, reason: todo }))
  stdout.pipe(parser)
  return (isEndGood) => {
    const { pass, skip, todo } = counts
    const isGood = isEndGood && parser.ok && pass + skip + todo > 0
    return { counts: { ...counts, fail: isGood ? 0 : Math.max(1, counts.fail) }, skips }
  }
}

function collect(streams) {
  const chunks = []
  for (const stream of streams) stream.on('data', (chunk) => chunks.push(chunk))
  return () => Buffer.concat(chunks).toString()
}

function print({ file, counts, seconds, end, output }, position) {
  const kept = path.join(outputs, `${file}.tap`)
  mkdirSync(path.dirname(kept), { recursive: true })
  writeFileSync(kept, output)
  const { pass, fail } = counts
  console.log(`${position}  ${file}  ${pass} passed${fail ? `, ${fail} FAILED` : ''}, ${seconds.toFixed(1)} s`)
  if (!fail) return
  const lines = failedPoints(output)
  console.log(lines.slice(0, shownMax).join('\n'))
  console.log(`  it ended with ${end}; all of its output: ${kept}`)
}

/** Each failed point with what is said of it, or the end of the output of a file that has none. */
function failedPoints(output) {
  const lines = output.split('\n')
  const shown = []
  let isShown = false
  for (const line of lines) {
    if (/^\s*not ok /.test(line)) isShown = true
    else if (/^\s*(ok \d|# Subtest|\d+\.\.\d)/.test(line)) isShown = false
    if (isShown) shown.push(line)
  }
  return shown.length > 0 ? shown : lines.slice(-shownMax)
}
