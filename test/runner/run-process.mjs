// One process runs test files one after another (suite-process.mjs), each with a time limit.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { bundleOf } from './bundles.mjs'
import { FileRecord } from './file-record.mjs'
import { splitByFile } from './split-by-file.mjs'

/**
 * The usual time limit for a file. A file may set another limit in tap. The longest file takes 60 s on an idle machine
 * with two cores. A busy machine needs four times as long.
 */
const usualMs = 300_000
/**
 * If a file takes too long, tap ends it and prints the open handles. If tap cannot do this, the process is killed after
 * this additional time.
 */
const graceMs = 60_000
/** If something keeps the process alive for this long after its last file, the process reports the cause and ends. */
const leftMs = Number(process.env.PARLEY_TEST_LEFT_MS ?? 7_500)

/**
 * Reports the result of each file in the process, and resolves when the process has ended. If the process ends within a
 * file, or before the first, this file has failed. If it fails between two files or after the last one, `name` has
 * failed.
 */
export async function runProcess({ name, files, folder, env, fileMs = usualMs }, report) {
  const child = startProcess(files, folder, fileMs, env)
  const alarm = new Alarm(() => child.kill('SIGKILL'))
  let endedCount = 0
  let hasFailedFile = false
  // Takes output before the first file and after the last.
  let between = new FileRecord(files[0])
  let current = null
  // A message about a file may arrive before the output says that the file has started, so the limits are kept by file.
  const limitsMs = new Map()
  const take = splitByFile(files, {
    started(file) {
      current = new FileRecord(file)
      alarm.set(limitsMs.get(file) ?? fileMs)
    },
    line: (text) => (current ?? between).line(text),
    ended(isGood) {
      const result = current.result(isGood, 'a failed test')
      hasFailedFile ||= result.counts.fail > 0
      report(result)
      current = null
      endedCount++
      between = new FileRecord(`the end of ${name}`)
      // The limit also covers the time until the next file begins.
      alarm.set(endedCount === files.length ? 0 : fileMs)
    },
  })
  child.stdout.on('data', take)
  child.stderr.on('data', (chunk) => (current ?? between).note(String(chunk)))
  child.on('message', ({ file, timeoutMs }) => {
    if (file === undefined) return
    limitsMs.set(file, timeoutMs)
    // A file that first waits, such as for a compiler, has no output before its first test.
    if (current === null || file === current.file) alarm.set(timeoutMs)
  })
  alarm.set(fileMs)
  const { code, signal } = await endOf(child)
  alarm.stop()
  // tap exits with 1 if a file has failed.
  const isEndGood = endedCount > 0 && (code === 0 || (code === 1 && hasFailedFile)) && !between.hasFailures
  if (current || !isEndGood) report((current ?? between).result(false, signal ?? `code ${code}`))
}

function startProcess(files, folder, fileMs, env) {
  const program = path.join(import.meta.dirname, 'suite-process.mjs')
  const bundles = files.map((file) => [file, path.join('..', bundleOf(file))])
  writeFileSync(path.join(folder, 'suite.json'), JSON.stringify({ bundles, fileMs, leftMs }))
  return spawn(process.execPath, [program, folder], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // TAP_TIMEOUT=0 removes the limit for all files together.
    env: { ...env, TAP: '1', TAP_TIMEOUT: '0', TAP_CHILD_ID: '0' },
  })
}

class Alarm {
  #ring
  #timer = null

  constructor(ring) {
    this.#ring = ring
  }

  set(ms) {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#ring, ms + graceMs)
  }

  stop() {
    clearTimeout(this.#timer)
  }
}

/**
 * Resolves when the process has ended. A process that a test has left running would keep the pipes open, so they are
 * closed.
 */
function endOf(child) {
  const closePipes = () => {
    for (const pipe of [child.stdout, child.stderr]) pipe.destroy()
  }
  child.on('exit', () => setTimeout(closePipes, graceMs).unref())
  return new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal })))
}
