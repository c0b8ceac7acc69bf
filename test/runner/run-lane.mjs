// Runs test files and prints how they ended. The last line is for people and machines: `N passed, N failed`.
import { noCounts } from './file-record.mjs'
import { filesOfLane } from './files.mjs'
import { lanes } from './lanes.mjs'
import { prepareStore } from './prepared-store.mjs'
import { runSuites } from './run-suites.mjs'
import { suitesOf } from './suites.mjs'

/** Runs a lane. Resolves with the exit code. */
export async function runLane(name, options) {
  const { env = {}, sideBySide, bytesMax } = lanes[name]
  const store = await prepareStore()
  const how = { sideBySide, ...options, env: { ...process.env, ...store.env, ...env } }
  const results = await runSuites(suitesOf(filesOfLane(name), bytesMax), how)
  await store.remove()
  return conclude(results)
}

/** Runs single files. Resolves with the exit code. */
export async function runFiles(files, options) {
  return conclude(await runSuites(suitesOf(files), { ...options, env: process.env }))
}

function conclude(results) {
  const counts = noCounts()
  /** The skipped tests, each with its reason. */
  const skips = new Set()
  const failed = []
  for (const { file, counts: ofFile, skips: ofSkips, failures } of results) {
    for (const name of Object.keys(counts)) counts[name] += ofFile[name]
    for (const { name, reason } of ofSkips)
      skips.add(`${file}: ${name}: ${typeof reason === 'string' ? reason : 'no reason is given'}`)
    for (const failure of failures) failed.push(`${file}: ${failure}`)
  }
  for (const skip of skips) console.log(`skipped: ${skip}`)
  for (const failure of failed) console.log(`failed: ${failure}`)
  const tests = results.reduce((sum, { testsCount }) => sum + testsCount, 0)
  console.log(`${results.length} files, ${tests} tests`)
  const skipped = counts.skip + counts.todo
  console.log(`${counts.pass} passed, ${counts.fail} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  return counts.fail > 0 || counts.pass === 0 ? 1 : 0
}
