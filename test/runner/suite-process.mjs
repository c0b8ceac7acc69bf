// A suite's process: runs files one after another, each as one subtest with the file's name. Its argument is the
// suite's folder, where suite.json lists the files. There is no other argument, because tap makes folder names from all
// arguments.
import './without-async-hooks.mjs'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { t as root } from 'tap'
import { setCurrentFile } from './current-file.mjs'

const folder = path.resolve(process.argv[2])
const { bundles, fileMs, leftMs } = JSON.parse(readFileSync(path.join(folder, 'suite.json'), 'utf8'))
for (const kind of ['uncaughtException', 'unhandledRejection']) process.on(kind, failInnermostTest)
/**
 * These exit codes mean neither success nor a failed test: something keeps the process alive, or has failed after the
 * last test.
 */
const exitCodeOfLeft = 3
const exitCodeOfLate = 4
/** The number of open resources by kind, after each file. */
const open = new Map([['the start', openResources()]])

// The newest teardown runs first, so this one runs last, after the teardowns for shared parts.
root.teardown(() => void setTimeout(endWithWhatIsLeft, leftMs).unref())
for (const [file, bundle] of bundles) if (await run(file, bundle)) process.exit(1)
root.end()

/**
 * Runs a file. Resolves with true if the file took too long, because its unfinished work would disturb the next files.
 */
async function run(file, bundle) {
  let limitMs = fileMs
  const startedMs = performance.now()
  await root.test(file, { timeout: fileMs }, async (test) => {
    const setTimeoutOfTest = test.setTimeout.bind(test)
    test.setTimeout = (ms) => {
      setTimeoutOfTest(ms)
      // A limit of 0 is ignored: with it tap only stops an ended test's timer.
      if (ms === 0) return
      limitMs = ms
      process.send?.({ file, timeoutMs: ms })
    }
    setCurrentFile(test)
    await import(pathToFileURL(path.join(folder, bundle)).href)
  })
  open.set(file, openResources())
  return performance.now() - startedMs > limitMs
}

/** Files run one after another, so most likely the innermost running test has thrown the error. */
function failInnermostTest(error) {
  if (root.results) return failProcess(error)
  let test = root
  for (let running = [root]; running.length > 0; running = [...test.activeSubtests]) test = running.at(-1)
  test.threw(error instanceof Error ? error : new Error(String(error)))
}

/** After its last file a process has no test that could fail. */
function failProcess(error) {
  console.error(error)
  process.exitCode = exitCodeOfLate
}

function openResources() {
  const counts = {}
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

function endWithWhatIsLeft() {
  const left = openResources()
  console.error(`something keeps this process alive: ${JSON.stringify(left)}`)
  for (const waits of globalThis.movingWaits ?? [])
    console.error(`a test's clock still moves for: ${waits().join(', ')}`)
  let before = {}
  for (const [file, counts] of open) {
    const more = Object.keys(left).filter((name) => counts[name] > (before[name] ?? 0))
    if (more.length > 0) console.error(`${more.join(', ')}: more behind ${file}`)
    before = counts
  }
  process.exit(exitCodeOfLeft)
}
