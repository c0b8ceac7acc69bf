// One process that runs files of tests one after another (suite-process.mjs), and the limits of each.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { bundleOf } from './bundles.mjs'
import { FileRecord } from './file-record.mjs'
import { splitByFile } from './split-by-file.mjs'

/**
 * A file may take as long, unless it asks tap for another time. The longest takes 60 s on a calm machine of two cores; a
 * busy one needs four times as long.
 */
const usualMs = 300_000
/**
 * tap ends a file that takes too long, and says what it waits for. A process that does not even do that is killed this much
 * later.
 */
const graceMs = 60_000
/** A process that something keeps alive behind its last file says what it is after this long, and ends. */
const leftMs = Number(process.env.PARLEY_TEST_LEFT_MS ?? 7_500)

/**
 * Reports the result of each file that the process began, and resolves when it has ended. A process that ends within a
 * file, or before the first, has failed that file. One that fails between two files or behind the last one has failed `name`.
 */
export async function runProcess({ name, files, folder, env, fileMs = usualMs }, report) {
  const child = startProcess(files, folder, fileMs, env)
  const alarm = new Alarm(() => child.kill('SIGKILL'))
  let endedCount = 0
  let hasFailedFile = false
  // For output before the first file and behind the last.
  let between = new FileRecord(files[0])
  let current = null
  // A message can arrive before the output that says which file has begun.
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
      // On a busy machine it takes a while until the next file has begun, too.
      alarm.set(endedCount === files.length ? 0 : fileMs)
    },
  })
  child.stdout.on('data', take)
  child.stderr.on('data', (chunk) => (current ?? between).note(String(chunk)))
  child.on('message', ({ file, timeoutMs }) => {
    if (file === undefined) return
    limitsMs.set(file, timeoutMs)
    if (file === current?.file) alarm.set(timeoutMs)
  })
  alarm.set(fileMs)
  const { code, signal } = await endOf(child)
  alarm.stop()
  // tap ends with 1 if a file has failed.
  const isEndGood = endedCount > 0 && (code === 0 || (code === 1 && hasFailedFile)) && !between.hasFailures
  if (current || !isEndGood) report((current ?? between).result(false, signal ?? `code ${code}`))
}

function startProcess(files, folder, fileMs, env) {
  const program = path.join(import.meta.dirname, 'suite-process.mjs')
  const bundles = files.map((file) => [file, bundleOf(file)])
  writeFileSync(path.join(folder, 'suite.json'), JSON.stringify({ bundles, fileMs, leftMs }))
  return spawn(process.execPath, [program, folder], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // No limit for all files together.
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

/** A process that a test left behind keeps the pipes open. */
function endOf(child) {
  const closePipes = () => {
    for (const pipe of [child.stdout, child.stderr]) pipe.destroy()
  }
  child.on('exit', () => setTimeout(closePipes, graceMs).unref())
  return new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal })))
}
