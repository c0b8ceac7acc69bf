// Runs suites, each in one process, and prints each file's result. tap's runner would load its coverage code into every
// process that a test starts: this would take half a second on a core each time, and a second for the test itself.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { makeBundles } from './bundles.mjs'
import { runProcess } from './run-process.mjs'

/** The folder for the files' outputs, where a failure's reason can be found. */
const outputs = '.cache/test-outputs'
const allBundles = '.cache/test-bundles'
/** Each run has a separate folder, because several runs may share a checkout. */
const bundles = path.join(allBundles, String(process.pid))
/** At most this many lines are shown for a failure. */
const shownMax = 60

/** Runs the suites. Resolves with each file's result. */
export async function runSuites(suites, { env, fileMs, sideBySide = os.availableParallelism() }) {
  const waiting = [...suites]
  const filesCount = suites.flatMap(({ files }) => files).length
  const results = []
  const report = (result) => {
    results.push(result)
    print(result, `${results.length} of ${filesCount}`)
  }
  const worker = async (_, index) => {
    for (let suite = waiting.shift(); suite; suite = waiting.shift())
      await runSuite({ ...suite, folder: path.join(bundles, String(index)), fileMs, env }, report)
  }
  removeOldBundles()
  // One build for all suites: separate builds would take a minute of processor time.
  await makeBundles(
    suites.flatMap(({ files }) => files),
    bundles,
  )
  await Promise.all(Array.from({ length: sideBySide }, worker))
  rmSync(bundles, { recursive: true, force: true })
  return results
}

/** Runs a suite. If a file has ended the process, the remaining files run in another process. */
async function runSuite({ name, files, folder, fileMs, env }, report) {
  mkdirSync(folder)
  for (let left = files; left.length > 0; ) {
    const ended = []
    await runProcess({ name, files: left, folder, fileMs, env }, (result) => {
      ended.push(result.file)
      report(result)
    })
    left = left.filter((file) => !ended.includes(file))
  }
  rmSync(folder, { recursive: true, force: true })
}

/** Removes bundles that killed runs have left. */
function removeOldBundles() {
  mkdirSync(bundles, { recursive: true })
  for (const pid of readdirSync(allBundles))
    if (!isAlive(Number(pid))) rmSync(path.join(allBundles, pid), { recursive: true, force: true })
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch ({ code }) {
    return code === 'EPERM'
  }
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

/** Returns each failed point with its diagnostics. If a file has no failed point, returns the end of its output. */
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
